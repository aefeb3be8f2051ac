//! Chooses a format: by fit first, then by losslessness, then by price, then by upkeep.

use crate::{
    choice::{best, open},
    estimate::{Fleet, LinkPlan},
    sentences,
    sizes::Sizes,
};

/// The recommended formats, and why.
pub struct Advice {
    /// The format for each link, by the link's ID. Links that nothing fits are missing.
    pub choices: Vec<(&'static str, String)>,
    /// The recommendation in words.
    pub sentences: Vec<String>,
}

impl Advice {
    /// Compares the links' estimates.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sizes::FormatSizes;
    use dunnage_links::link;

    fn sizes(formats: &[(&str, usize, bool)]) -> Sizes {
        let sizes = |&(format, bytes, lossless): &(&str, usize, bool)| FormatSizes {
            format: format.to_owned(),
            bytes: vec![bytes],
            lossless,
            schema_max: None,
        };
        Sizes { formats: formats.iter().map(sizes).collect(), refused: Vec::new(), left_out: None }
    }

    /// The choice for each of the links, in their order.
    fn choices(ids: &[&str], formats: &[(&str, usize, bool)], fleet: &Fleet) -> Vec<String> {
        let sizes = sizes(formats);
        let plan = |id: &&str| LinkPlan::new(link(id).unwrap(), &sizes, fleet).unwrap();
        let plans: Vec<_> = ids.iter().map(plan).collect();
        Advice::new(&plans, &sizes, fleet).choices.into_iter().map(|(_, format)| format).collect()
    }

    const FLEET: Fleet = Fleet { devices: 10_000, per_day: 4.0, battery_joules: None, hops: 1 };

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

    /// The paper recommends formats without a schema for terrestrial deployments, where bytes cost next to
    /// nothing.
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
        let fleet = |battery_joules| Fleet { devices: 500, per_day: 96.0, battery_joules, hops: 1 };
        assert_eq!(choices(&["nb-iot-1nce"], &formats, &fleet(None)), ["cbor"]);
        assert_eq!(choices(&["nb-iot-1nce"], &formats, &fleet(Some(68_400.0))), ["packed"]);
        // Neither empties a battery of this size before it ages.
        assert_eq!(choices(&["nb-iot-1nce"], &formats, &fleet(Some(684_000.0))), ["cbor"]);
    }

    #[test]
    fn links_that_no_format_serves_together_get_one_each() {
        let format = |name: &str, bytes: &[usize]| FormatSizes {
            format: name.to_owned(),
            bytes: bytes.to_vec(),
            lossless: true,
            schema_max: None,
        };
        // One message of `cbor` is above the limit of Kinéis. Those of `packed` are longer on average, so LoRaWAN's duty cycle allows fewer.
        let sizes = Sizes {
            formats: vec![format("packed", &[30, 30]), format("cbor", &[5, 31])],
            refused: Vec::new(),
            left_out: None,
        };
        let lorawan = link("lorawan-eu868-dr0").unwrap();
        let [fewer, more] = [[30, 30], [5, 31]].map(|bytes| lorawan.rate(&bytes).max_per_day.unwrap());
        let fleet = Fleet { per_day: (fewer + more) / 2.0, ..FLEET };
        let plans =
            [link("kineis").unwrap(), lorawan].map(|link| LinkPlan::new(link, &sizes, &fleet).unwrap());
        let advice = Advice::new(&plans, &sizes, &fleet);
        let choices: Vec<_> = advice.choices.iter().map(|(_, format)| format.as_str()).collect();
        assert_eq!(choices, ["packed", "cbor"]);
    }

    #[test]
    fn a_message_below_the_smallest_of_a_link_is_no_reason_against_a_format() {
        let formats = [("packed", 4, true), ("protobuf", 7, true)];
        let ids = ["astrocast", "orbcomm", "kineis"];
        assert_eq!(choices(&ids, &formats, &FLEET), ["packed", "packed", "packed"]);
    }

    #[test]
    fn links_to_the_device_do_not_decide_if_there_are_others() {
        let formats = [("packed", 20, true), ("json", 200, true)];
        assert_eq!(choices(&["iridium-sbd-mt", "lte-m"], &formats, &FLEET), ["json"]);
        assert_eq!(choices(&["iridium-sbd-mt"], &formats, &FLEET), ["packed"]);
    }
}
