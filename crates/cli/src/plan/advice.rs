//! What to choose: first what fits, then what is lossless, then the price, then the upkeep.

use dunnage_links::Direction;

use super::{
    estimate::{Estimate, Fleet, LinkPlan},
    numbers::SHELF_LIFE,
    sentences,
    sizes::Sizes,
    upkeep::Upkeep,
};

/// Prices up to this factor above the lowest count as the same, and so do lifetimes of the battery.
const SAME_FACTOR: f64 = 1.1;
/// A difference in price up to this, per device and month, counts as none: 10 a month for 10,000 devices.
const SAME_AMOUNT: f64 = 0.001;

/// The recommended formats, and why.
pub struct Advice {
    /// The format for each link, by the link's ID. Links that nothing fits are missing.
    pub choices: Vec<(&'static str, String)>,
    pub sentences: Vec<String>,
}

impl Advice {
    pub fn new(links: &[LinkPlan], sizes: &Sizes, fleet: &Fleet) -> Advice {
        let open = open(links);
        let common = best(&open, fleet);
        let choices = match common {
            Some(format) => open.iter().map(|plan| (plan.link.id.as_str(), format.to_owned())).collect(),
            None => open
                .iter()
                .filter_map(|plan| Some((plan.link.id.as_str(), best(&[*plan], fleet)?.to_owned())))
                .collect(),
        };
        let sentences = sentences::write(&sentences::Facts { links, open: &open, common, sizes, fleet });
        Advice { choices, sentences }
    }
}

/// The links that some format can use. Links to the device are left out if there are others.
fn open(links: &[LinkPlan]) -> Vec<&LinkPlan> {
    let usable: Vec<&LinkPlan> = links.iter().filter(|plan| !usable(plan).is_empty()).collect();
    let up: Vec<&LinkPlan> =
        usable.iter().copied().filter(|plan| plan.link.direction == Direction::Up).collect();
    if up.is_empty() { usable } else { up }
}

/// The formats that fit `plan`, are lossless and within its rate. None if its service has ended.
pub fn usable(plan: &LinkPlan) -> Vec<&Estimate> {
    match plan.link.ended {
        Some(_) => Vec::new(),
        None => plan.estimates.iter().filter(|estimate| estimate.is_usable()).collect(),
    }
}

/// The best format that is usable on all of `plans`; `None` if there is none.
///
/// Formats whose price is about the lowest on every link, and with which the battery lasts about as long as with any, count as
/// equal, and the one with the least upkeep wins. If there is none, the smallest wins.
pub fn best<'a>(plans: &[&'a LinkPlan], fleet: &Fleet) -> Option<&'a str> {
    let (first, rest) = plans.split_first()?;
    let on = |plan: &LinkPlan, format: &str| usable(plan).iter().any(|estimate| estimate.format == format);
    let common: Vec<&Estimate> = usable(first)
        .into_iter()
        .filter(|estimate| rest.iter().all(|plan| on(plan, &estimate.format)))
        .collect();
    let is_cheap = |format: &str| {
        plans.iter().all(|plan| {
            let burdens = common.iter().filter_map(|other| burden(plan, &other.format));
            let lowest = burdens.fold(f64::INFINITY, f64::min);
            let slack = if has_price(plan) { SAME_AMOUNT * fleet.devices as f64 } else { 0.0 };
            let is_cheap =
                burden(plan, format).is_some_and(|it| it <= lowest * SAME_FACTOR || it <= lowest + slack);
            let longest = common.iter().map(|other| lifetime(plan, &other.format)).fold(0.0, f64::max);
            is_cheap && lifetime(plan, format) * SAME_FACTOR >= longest
        })
    };
    let cheap = common.iter().filter(|estimate| is_cheap(&estimate.format));
    // The estimates are sorted by size, and `min_by_key` returns the first of equals.
    let chosen = cheap.min_by_key(|estimate| Upkeep::of(&estimate.format)).or(common.first());
    chosen.map(|estimate| estimate.format.as_str())
}

/// The price of the month on `plan`, or its billed bytes if no price is published.
fn burden(plan: &LinkPlan, format: &str) -> Option<f64> {
    let month = plan.of(format)?.month;
    if has_price(plan) { month.cost.map(|cost| cost.amount) } else { Some(month.billed_bytes) }
}

/// The years that the battery lasts, up to its shelf life; the same for all formats if that is not known.
fn lifetime(plan: &LinkPlan, format: &str) -> f64 {
    plan.of(format).and_then(|estimate| estimate.years).map_or(SHELF_LIFE, |years| years.min(SHELF_LIFE))
}

fn has_price(plan: &LinkPlan) -> bool {
    plan.link.price.is_some()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::sizes::FormatSizes;
    use dunnage_links::link;

    fn sizes(formats: &[(&str, usize, bool)]) -> Sizes {
        let sizes = |&(format, bytes, lossless): &(&str, usize, bool)| FormatSizes {
            format: format.to_owned(),
            bytes: vec![bytes],
            lossless,
            schema_max: None,
        };
        Sizes { formats: formats.iter().map(sizes).collect(), refused: Vec::new() }
    }

    /// The choice for each of the links, in their order.
    fn choices(ids: &[&str], formats: &[(&str, usize, bool)], fleet: &Fleet) -> Vec<String> {
        let sizes = sizes(formats);
        let plan = |id: &&str| LinkPlan::new(link(id).unwrap(), &sizes, fleet).unwrap();
        let plans: Vec<_> = ids.iter().map(plan).collect();
        Advice::new(&plans, &sizes, fleet).choices.into_iter().map(|(_, format)| format).collect()
    }

    const FLEET: Fleet = Fleet { devices: 10_000, per_day: 4.0, battery_joules: None };

    #[test]
    fn what_is_lossy_or_too_large_is_not_chosen_however_small_or_cheap() {
        let formats = [("struct (float32)", 20, false), ("packed", 50, true), ("cbor", 200, true)];
        assert_eq!(choices(&["astrocast"], &formats, &FLEET), ["packed"]);
        assert!(choices(&["kineis"], &formats, &FLEET).is_empty());
        assert!(choices(&["swarm", "echostar-lora"], &formats, &FLEET).is_empty());
    }

    #[test]
    fn upkeep_decides_between_prices_that_are_about_the_same() {
        // The paper's choice: 127 bytes of Struct+Zlib and 138 of Protocol Buffers are 9 % apart.
        let formats = [("struct-zlib", 127, true), ("protobuf", 138, true), ("cbor", 298, true)];
        assert_eq!(choices(&["astrocast"], &formats, &FLEET), ["protobuf"]);
        // 20 % are not the same.
        let formats = [("struct-zlib", 127, true), ("protobuf", 153, true)];
        assert_eq!(choices(&["astrocast"], &formats, &FLEET), ["struct-zlib"]);
    }

    /// The paper recommends formats without a schema for terrestrial deployments, where bytes cost next to nothing.
    #[test]
    fn a_difference_of_a_thousandth_per_device_is_none() {
        let formats = [("struct-zlib", 127, true), ("protobuf", 138, true), ("cbor", 298, true)];
        assert_eq!(choices(&["lte-m"], &formats, &FLEET), ["cbor"]);
        assert_eq!(choices(&["lte-m", "astrocast"], &formats, &FLEET), ["protobuf", "protobuf"]);
    }

    #[test]
    fn a_battery_that_lasts_much_shorter_is_not_about_the_same() {
        // The plan's price is the same for both, the energy of a message is a fifth less.
        let formats = [("packed", 37, true), ("cbor", 320, true)];
        let fleet = |battery_joules| Fleet { devices: 500, per_day: 96.0, battery_joules };
        assert_eq!(choices(&["nb-iot-1nce"], &formats, &fleet(None)), ["cbor"]);
        assert_eq!(choices(&["nb-iot-1nce"], &formats, &fleet(Some(68_400.0))), ["packed"]);
        // Neither empties a battery of this size before it ages.
        assert_eq!(choices(&["nb-iot-1nce"], &formats, &fleet(Some(684_000.0))), ["cbor"]);
    }

    #[test]
    fn links_that_no_format_serves_together_get_one_each() {
        // A message of 3 bytes is below ORBCOMM's smallest, and one of 31 is above that of Kinéis.
        let formats = [("packed", 3, true), ("cbor", 31, true)];
        assert_eq!(choices(&["kineis", "orbcomm"], &formats, &FLEET), ["packed", "cbor"]);
    }

    #[test]
    fn links_to_the_device_do_not_decide_if_there_are_others() {
        let formats = [("packed", 20, true), ("json", 200, true)];
        assert_eq!(choices(&["iridium-sbd-mt", "lte-m"], &formats, &FLEET), ["json"]);
        assert_eq!(choices(&["iridium-sbd-mt"], &formats, &FLEET), ["packed"]);
    }
}
