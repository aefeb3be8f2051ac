//! How often a device may send.

use crate::{Airtime, DAY_S, Link};

/// How often a device may send messages over a link.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rate {
    /// The most messages in a day, on average over their sizes, as duty cycle, airtime, provider and interval allow; `None` if nothing limits
    /// them. It is not rounded: 0.5 is a message every second day.
    pub max_per_day: Option<f64>,
    /// Whether no frame takes longer than the dwell time of the region; `None` without such a limit.
    pub within_dwell_time: Option<bool>,
}

/// The seconds after a frame at which a LoRaWAN device of class A opens its second receive window: RECEIVE_DELAY2 of the LoRaWAN
/// specification. It cannot send before.
const SECOND_WINDOW_S: f64 = 2.0;

impl Link {
    /// Returns how often a device may send messages of these sizes in bytes, which are equally frequent. Every fragment counts. There is no limit
    /// for no sizes.
    pub fn rate(&self, sizes: &[usize]) -> Rate {
        let mean = |of: &dyn Fn(usize) -> f64| {
            sizes.iter().map(|&bytes| of(bytes)).sum::<f64>() / sizes.len().max(1) as f64
        };
        let fragments = mean(&|bytes| self.fragments(bytes).unwrap_or(1) as f64);
        let airtime = self.airtime.as_ref().map(|_| mean(&|bytes| self.airtime_s(bytes).unwrap_or(0.0)));
        // A mesh over LoRa has no receive windows.
        let has_windows = self.mesh.is_none() && matches!(self.airtime, Some(Airtime::Lora(_)));
        let wait = if has_windows { SECOND_WINDOW_S } else { 0.0 };
        let limits = [
            self.duty_cycle.zip(airtime).map(|(duty, airtime)| duty * DAY_S / airtime),
            // A device cannot send for longer than a day.
            airtime.map(|airtime| DAY_S / (airtime + wait * fragments)),
            self.messages_per_day.map(|most| most / fragments),
            self.min_interval_s.map(|interval| DAY_S / interval / fragments),
        ];
        let largest = sizes.iter().max();
        let frame = self.dwell_time_s.zip(largest.and_then(|&bytes| self.longest_frame_s(bytes)));
        Rate {
            max_per_day: limits.into_iter().flatten().filter(|most| most.is_finite()).reduce(f64::min),
            within_dwell_time: frame.map(|(dwell, frame)| frame <= dwell),
        }
    }

    /// Returns the share of the time, from 0, that a device is on the air with `per_day` messages of `bytes`
    /// bytes. Above 1, the messages do not fit into a day. `None` if the airtime is not published.
    pub fn share_on_air(&self, bytes: usize, per_day: f64) -> Option<f64> {
        Some(self.airtime_s(bytes)? * per_day / DAY_S)
    }
}

impl Rate {
    /// Returns the rate of devices whose messages take `hops` hops and that share the work evenly: for each of
    /// its own messages, a device passes on `hops` - 1 of others.
    #[must_use]
    pub fn over(self, hops: u32) -> Rate {
        Rate { max_per_day: self.max_per_day.map(|most| most / f64::from(hops.max(1))), ..self }
    }

    /// Whether `per_day` messages a day are allowed.
    pub fn allows(&self, per_day: f64) -> bool {
        self.max_per_day.is_none_or(|most| per_day <= most) && self.within_dwell_time != Some(false)
    }
}

#[cfg(test)]
mod tests {
    use crate::link;

    #[test]
    fn one_percent_of_a_day_is_309_of_the_longest_european_frames() {
        let rate = link("lorawan-eu868-dr0").unwrap().rate(&[51]);
        // 864 s at 2.793472 s each.
        assert_eq!(rate.max_per_day.map(f64::floor), Some(309.0));
        assert!(rate.allows(309.0) && !rate.allows(310.0));
    }

    #[test]
    fn fragments_share_what_the_provider_accepts() {
        let sigfox = link("sigfox").unwrap();
        assert_eq!(sigfox.rate(&[12]).max_per_day, Some(140.0));
        assert_eq!(sigfox.rate(&[13]).max_per_day, Some(70.0));
        assert_eq!(link("iridium-sbd-mo").unwrap().rate(&[340]).max_per_day, Some(2160.0));
        assert_eq!(link("astrocast").unwrap().rate(&[160]).max_per_day, None);
    }

    #[test]
    fn a_message_of_many_fragments_may_be_sent_less_than_daily() {
        // 200 fragments, and 140 are accepted in a day.
        let rate = link("sigfox").unwrap().rate(&[2400]);
        assert_eq!(rate.max_per_day, Some(0.7));
        assert!(rate.allows(0.5) && !rate.allows(0.8));
    }

    #[test]
    fn the_duty_cycle_is_that_of_all_messages_together() {
        let link = link("lorawan-eu868-dr0").unwrap();
        let [small, large] = [&[3][..], &[51]].map(|sizes| link.rate(sizes).max_per_day.unwrap());
        let mixed = link.rate(&[3, 3, 3, 3, 3, 3, 3, 3, 3, 51]).max_per_day.unwrap();
        assert!(large < mixed && mixed < small);
        // The mean of the airtimes is the mean of the reciprocal rates.
        assert!((mixed - 10.0 / (9.0 / small + 1.0 / large)).abs() < 1e-9);
    }

    #[test]
    fn no_device_sends_for_longer_than_a_day() {
        let link = link("lorawan-as923-dr0").unwrap();
        let airtime = link.airtime_s(40).unwrap();
        let most = link.rate(&[40]).max_per_day.unwrap();
        assert!((most - 86_400.0 / (airtime + 2.0)).abs() < 1e-6, "{most}");
        assert!(link.rate(&[]).max_per_day.is_none());
    }

    /// Regional Parameters choose the payloads so that every frame stays within the dwell time.
    #[test]
    fn the_largest_payload_of_every_link_is_within_its_dwell_time() {
        let mut checked = 0;
        for link in crate::catalogue() {
            if let (Some(max), Some(_)) = (link.max_payload_bytes, link.dwell_time_s) {
                assert_eq!(link.rate(&[max]).within_dwell_time, Some(true), "{}", link.id);
                checked += 1;
            }
        }
        assert_eq!(checked, 9);
        let mut slow = link("lorawan-us915-dr0").unwrap().clone();
        slow.max_payload_bytes = Some(51);
        assert!(!slow.rate(&[51]).allows(1.0));
    }

    #[test]
    fn devices_of_a_mesh_pass_on_each_others_messages() {
        let link = link("meshtastic-longfast-eu868").unwrap();
        let one = link.rate(&[40]).max_per_day.unwrap();
        // No receive windows: 10 % of a day.
        assert!((one - 8640.0 / link.airtime_s(40).unwrap()).abs() < 1e-6, "{one}");
        assert_eq!(link.rate(&[40]).over(4).max_per_day, Some(one / 4.0));
    }

    #[test]
    fn the_share_on_air_is_that_of_all_messages() {
        let share = link("sigfox").unwrap().share_on_air(12, 144.0).unwrap();
        assert!((share - 0.01).abs() < 1e-12);
    }
}
