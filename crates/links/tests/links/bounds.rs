//! Properties that hold for every link, every size and every fleet.

use dunnage_links::{Link, Load, catalogue};
use proptest::prelude::*;

fn any_link() -> impl Strategy<Value = &'static Link> {
    (0..catalogue().len()).prop_map(|index| &catalogue()[index])
}

/// Sizes of messages: small, around the limits, huge.
fn any_size() -> impl Strategy<Value = usize> {
    prop_oneof![0..600usize, 0..200_000usize, Just(usize::MAX), Just(usize::MAX - 1)]
}

fn any_rate() -> impl Strategy<Value = f64> {
    prop_oneof![Just(0.0), Just(Load::MAX_PER_DAY), 0.0..200.0f64]
}

fn any_devices() -> impl Strategy<Value = u64> {
    prop_oneof![Just(0), Just(1_000_000), Just(Load::MAX_DEVICES), 0..20_000u64]
}

fn is_amount(number: f64) -> bool {
    number.is_finite() && number >= 0.0
}

proptest! {
    #[test]
    fn all_results_are_finite_and_not_negative(
        link in any_link(), size in any_size(), rate in any_rate(), devices in any_devices(),
    ) {
        let month = Load::new(&[size], rate, devices).unwrap().month(link);
        prop_assert!(is_amount(month.payload_bytes) && is_amount(month.billed_bytes));
        prop_assert!(month.cost.is_none_or(|cost| is_amount(cost.amount)));
        prop_assert!(link.airtime_s(size).is_none_or(is_amount));
        prop_assert!(link.joules(size).is_none_or(is_amount));
        prop_assert!(link.share_on_air(size, rate).is_none_or(is_amount));
        prop_assert!(link.rate(&[size]).max_per_day.is_none_or(is_amount));
        let years = link.joules(size).and_then(|joules| link.battery_years(joules, rate, 68_400.0));
        prop_assert!(years.is_none_or(is_amount));
    }

    #[test]
    fn a_larger_message_is_never_cheaper_faster_or_more_frequent(
        link in any_link(), size in any_size(), more in 0..1000usize, rate in any_rate(),
    ) {
        let larger = size.saturating_add(more);
        let cost = |size| Load::new(&[size], rate, 3).unwrap().month(link).cost.map(|cost| cost.amount);
        // A price that ends at an included volume may become unknown.
        prop_assert!(cost(larger).is_none_or(|larger| cost(size).is_some_and(|cost| cost <= larger)));
        prop_assert!(link.billed_bytes(size) <= link.billed_bytes(larger));
        prop_assert!(link.fragments(size) <= link.fragments(larger));
        prop_assert!(link.airtime_s(size) <= link.airtime_s(larger));
        prop_assert!(link.joules(size) <= link.joules(larger));
        let most = |size| link.rate(&[size]).max_per_day;
        prop_assert!(most(size) >= most(larger));
    }

    #[test]
    fn fits_agrees_with_fragments(link in any_link(), size in any_size()) {
        // A link that splits messages carries its ordinary one in a frame.
        let piece = if link.splits() { link.standard_payload_bytes } else { link.max_payload_bytes };
        if link.fits(size) && !link.splits() {
            prop_assert_eq!(link.fragments(size), Some(1));
        }
        if let Some(max) = piece {
            prop_assert_eq!(link.fragments(size) > Some(1), size > max);
        }
    }

    #[test]
    fn more_devices_and_more_messages_never_cost_less(
        link in any_link(), size in 0..2000usize, rate in 0.0..100.0f64, devices in 0..10_000u64,
    ) {
        let cost = |rate, devices| Load::new(&[size], rate, devices).unwrap().month(link).cost.map(|c| c.amount);
        prop_assert!(cost(rate, devices) <= cost(rate, devices + 1));
        prop_assert!(cost(rate + 1.0, devices).is_none_or(|more| cost(rate, devices).is_some_and(|cost| cost <= more)));
    }

    #[test]
    fn the_highest_allowed_rate_keeps_the_duty_cycle(link in any_link(), size in 0..2000usize) {
        let rate = link.rate(&[size]);
        if let (Some(duty), Some(most)) = (link.duty_cycle, rate.max_per_day) {
            prop_assert!(link.share_on_air(size, most).unwrap() <= duty + 1e-12);
        }
        prop_assert!(rate.max_per_day.is_none_or(|most| !rate.allows(most + 1.0)));
    }

    #[test]
    fn a_battery_lasts_longer_with_fewer_messages(link in any_link(), size in 0..2000usize, rate in 0.1..100.0f64) {
        let years = |rate| link.joules(size).and_then(|joules| link.battery_years(joules, rate, 1000.0));
        prop_assert!(years(rate) >= years(rate + 1.0));
    }
}
