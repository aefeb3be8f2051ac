//! Chooses a format for some links.

use crate::{
    estimate::{Estimate, Fleet, LinkPlan},
    numbers::SHELF_LIFE,
    upkeep::Upkeep,
};
use dunnage_links::Direction;

/// Prices up to this factor above the lowest count as the same, and so do lifetimes of the battery.
const SAME_FACTOR: f64 = 1.1;
/// A difference in price up to this, per device and month, counts as none: 10 a month for 10,000 devices.
const SAME_AMOUNT: f64 = 0.001;

/// The links that some format can use. Links to the device are left out if there are others.
pub fn open(links: &[LinkPlan]) -> Vec<&LinkPlan> {
    let usable: Vec<&LinkPlan> = links.iter().filter(|plan| !usable(plan).is_empty()).collect();
    let up: Vec<&LinkPlan> =
        usable.iter().copied().filter(|plan| plan.link.direction == Direction::Up).collect();
    if up.is_empty() { usable } else { up }
}

/// The formats that can be recommended for `plan`.
pub fn usable(plan: &LinkPlan) -> Vec<&Estimate> {
    plan.estimates.iter().filter(|estimate| estimate.is_usable()).collect()
}

/// The best format that is usable on all of `plans`; `None` if no format is.
///
/// Formats whose price is about the lowest on every link, and with which the battery lasts about as long as
/// with any, count as equal, and the one with the least upkeep wins. If no format is, the smallest wins.
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
