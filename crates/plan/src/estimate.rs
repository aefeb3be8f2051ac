//! Estimates the needs of a fleet's messages over a link, format by format.

use crate::sizes::{FormatSizes, Sizes};
use dunnage_links::{Link, Load, LoadError, Month, Rate};

/// The fleet.
pub struct Fleet {
    /// Number of devices.
    pub devices: u64,
    /// Messages per day from one device.
    pub per_day: f64,
    /// The energy of a device's battery.
    pub battery_joules: Option<f64>,
    /// Hops of a message, on links that have hops.
    pub hops: u32,
}

/// Whether messages fit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fit {
    /// Every message that the schema allows.
    Always,
    /// All messages given. The schema's largest is not known, or does not fit.
    Messages,
    /// Some of the messages given.
    Some(usize),
    /// None of them.
    No,
    /// The limit of the link is not published.
    Unknown,
}

/// A link with the estimates of all formats.
pub struct LinkPlan {
    /// The link.
    pub link: &'static Link,
    /// Hops of a message: 1 on a link without hops.
    pub hops: u32,
    /// In the order of [`Sizes::formats`].
    pub estimates: Vec<Estimate>,
}

/// The needs of the messages in one format over one link.
pub struct Estimate {
    /// For example `protobuf (float32)`.
    pub format: String,
    /// Whether every message decodes to the same value.
    pub lossless: bool,
    /// Whether the link is in service.
    pub in_service: bool,
    /// Whether the messages fit.
    pub fit: Fit,
    /// Whether some message is below the link's smallest, so that it is sent with padding.
    pub padded: bool,
    /// Whether they fit the link's ordinary message; `None` if the link has no ordinary message.
    pub standard_fit: Option<Fit>,
    /// Fragments that the largest message needs, in each hop.
    pub fragments: Option<u64>,
    /// The fleet's month.
    pub month: Month,
    /// Seconds on the air of the largest message, in all hops.
    pub airtime_s: Option<f64>,
    /// Share of the time that a device is on the air, from 0, if devices pass on as many messages as others do for them.
    pub share_on_air: Option<f64>,
    /// How often messages may be sent, if devices pass on as many as others do for them.
    pub rate: Rate,
    /// Whether the link allows the fleet's rate.
    pub allowed: bool,
    /// Joules of sending a message, on average; with hops, of sending and receiving it in each of them.
    pub joules: Option<f64>,
    /// Years that the battery lasts.
    pub years: Option<f64>,
}

impl LinkPlan {
    /// Computes the estimates. Returns an error if the fleet's figures are out of range.
    pub fn new(link: &'static Link, sizes: &Sizes, fleet: &Fleet) -> Result<LinkPlan, LoadError> {
        let hops = link.hops(fleet.hops)?;
        let estimates = sizes.formats.iter().map(|sizes| Estimate::new(link, hops, sizes, fleet));
        Ok(LinkPlan { link, hops, estimates: estimates.collect::<Result<_, _>>()? })
    }

    /// The estimate for the format of this name.
    pub fn of(&self, format: &str) -> Option<&Estimate> {
        self.estimates.iter().find(|estimate| estimate.format == format)
    }
}

impl Estimate {
    fn new(link: &Link, hops: u32, sizes: &FormatSizes, fleet: &Fleet) -> Result<Estimate, LoadError> {
        let load = Load::new(&sizes.bytes, fleet.per_day, fleet.devices)?;
        let largest = sizes.largest();
        let rate = link.rate(&sizes.bytes).over(hops);
        let hops = f64::from(hops);
        let mean = |f: &dyn Fn(usize) -> Option<f64>| {
            f(largest).map(|_| load.mean(|size| f(size).unwrap_or_default()))
        };
        let joules = mean(&|size| Some(link.joules(size)? * hops));
        let years = joules.zip(fleet.battery_joules);
        Ok(Estimate {
            format: sizes.format.clone(),
            lossless: sizes.lossless,
            in_service: link.ended.is_none(),
            fit: fit(sizes, link.has_limit(), |bytes| link.fits(bytes.max(link.min_payload_bytes))),
            padded: sizes.bytes.iter().any(|bytes| *bytes < link.min_payload_bytes),
            standard_fit: link
                .standard_payload_bytes
                .map(|standard| fit(sizes, true, |bytes| bytes <= standard)),
            fragments: link.fragments(largest),
            month: load.month(link),
            airtime_s: link.airtime_s(largest).map(|airtime| airtime * hops),
            share_on_air: mean(&|size| Some(link.share_on_air(size, fleet.per_day)? * hops)),
            allowed: rate.allows(fleet.per_day),
            rate,
            joules,
            years: years.and_then(|(joules, battery)| link.battery_years(joules, fleet.per_day, battery)),
        })
    }

    /// Whether the format can be recommended for the link.
    pub fn is_usable(&self) -> bool {
        let is_open = self.in_service && self.allowed;
        is_open && self.lossless && matches!(self.fit, Fit::Always | Fit::Messages)
    }
}

fn fit(sizes: &FormatSizes, is_known: bool, fits: impl Fn(usize) -> bool) -> Fit {
    let fitting = sizes.bytes.iter().filter(|bytes| fits(**bytes)).count();
    match (is_known, fitting) {
        (false, _) => Fit::Unknown,
        (true, 0) => Fit::No,
        (true, fitting) if fitting < sizes.bytes.len() => Fit::Some(fitting),
        _ if sizes.schema_max.is_some_and(fits) => Fit::Always,
        _ => Fit::Messages,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dunnage_links::link;

    fn sizes(bytes: &[usize], schema_max: Option<usize>) -> FormatSizes {
        FormatSizes { format: "packed".into(), bytes: bytes.to_vec(), lossless: true, schema_max }
    }

    fn estimate(id: &str, bytes: &[usize], schema_max: Option<usize>, per_day: f64) -> Estimate {
        over(1, id, bytes, schema_max, per_day)
    }

    fn over(hops: u32, id: &str, bytes: &[usize], schema_max: Option<usize>, per_day: f64) -> Estimate {
        let fleet = Fleet { devices: 10, per_day, battery_joules: Some(68_400.0), hops };
        let sizes = Sizes { formats: vec![sizes(bytes, schema_max)], refused: Vec::new(), left_out: None };
        LinkPlan::new(link(id).unwrap(), &sizes, &fleet).unwrap().estimates.remove(0)
    }

    #[test]
    fn a_fit_is_always_only_if_the_schemas_largest_message_fits() {
        let fit = |bytes, max| estimate("astrocast", bytes, max, 4.0).fit;
        assert_eq!(fit(&[100, 160], Some(160)), Fit::Always);
        assert_eq!(fit(&[100, 160], Some(161)), Fit::Messages);
        assert_eq!(fit(&[100, 160], None), Fit::Messages);
        assert_eq!(fit(&[100, 161], Some(161)), Fit::Some(1));
        assert_eq!(fit(&[161], None), Fit::No);
        assert_eq!(estimate("echostar-lora", &[1], Some(1), 4.0).fit, Fit::Unknown);
    }

    #[test]
    fn a_message_below_the_smallest_is_padded_and_billed_as_the_smallest() {
        let small = estimate("orbcomm", &[4, 9], Some(20), 1.0);
        assert_eq!((small.fit, small.padded), (Fit::Always, true));
        assert_eq!(small.month.billed_bytes, 10.0 * 30.0 * (6.0 + 9.0) / 2.0);
        assert_eq!(estimate("orbcomm", &[4], Some(5), 1.0).fit, Fit::Always);
        assert!(!estimate("orbcomm", &[6], None, 1.0).padded);
        assert!(!estimate("astrocast", &[0], None, 1.0).padded);
    }

    #[test]
    fn the_ordinary_message_of_a_link_is_checked_too() {
        let kineis = estimate("kineis", &[15, 25], Some(30), 4.0);
        assert_eq!((kineis.fit, kineis.standard_fit), (Fit::Always, Some(Fit::Some(1))));
    }

    #[test]
    fn a_rate_above_the_duty_cycle_is_not_usable() {
        let estimate = |per_day| estimate("lorawan-eu868-dr0", &[51], Some(51), per_day);
        assert!(estimate(309.0).is_usable() && !estimate(310.0).is_usable());
        assert!(estimate(309.0).share_on_air.unwrap() <= 0.01);
    }

    #[test]
    fn hops_multiply_air_time_and_energy_of_links_that_have_them() {
        let [one, four] = [1, 4].map(|hops| over(hops, "meshtastic-longfast-eu868", &[40], None, 24.0));
        assert_eq!(four.fragments, one.fragments);
        assert_eq!(four.month, one.month);
        let ratios = [
            four.airtime_s.zip(one.airtime_s),
            four.share_on_air.zip(one.share_on_air),
            four.joules.zip(one.joules),
            one.years.zip(four.years),
            one.rate.max_per_day.zip(four.rate.max_per_day),
        ];
        for (more, less) in ratios.into_iter().flatten() {
            assert!((more / less - 4.0).abs() < 1e-9, "{more} {less}");
        }
        assert_eq!(
            over(4, "astrocast", &[40], None, 4.0).joules,
            estimate("astrocast", &[40], None, 4.0).joules
        );
    }

    #[test]
    fn a_link_that_splits_messages_fits_what_several_frames_carry() {
        let thread = estimate("thread", &[60, 200], Some(300), 4.0);
        assert_eq!((thread.fit, thread.standard_fit), (Fit::Always, Some(Fit::Some(1))));
        assert_eq!(thread.fragments, Some(3));
    }

    #[test]
    fn means_are_over_all_messages_and_maxima_over_the_largest() {
        let estimate = estimate("iridium-sbd-mo", &[10, 341], None, 1.0);
        assert_eq!(estimate.fragments, Some(2));
        // One session and two, of 8.6 J.
        assert!((estimate.joules.unwrap() - 12.9).abs() < 1e-9);
        assert!((estimate.years.unwrap() - 68_400.0 / 12.9 / 365.25).abs() < 1e-9);
    }
}
