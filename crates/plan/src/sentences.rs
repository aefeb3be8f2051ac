//! The recommendation in words, three to six sentences.

use crate::{
    choice::{best, usable},
    estimate::{Estimate, Fit, Fleet, LinkPlan},
    numbers::{SHELF_LIFE, bytes, money, per_day, years},
    sizes::Sizes,
    upkeep::Upkeep,
};
use dunnage_links::{Direction, Energy, Link, Money};

/// The data that the sentences describe.
pub struct Facts<'a> {
    pub links: &'a [LinkPlan],
    /// The links that some format fits.
    pub open: &'a [&'a LinkPlan],
    /// The format for all of them.
    pub common: Option<&'a str>,
    pub sizes: &'a Sizes,
    pub fleet: &'a Fleet,
}

pub fn write(facts: &Facts<'_>) -> Vec<String> {
    let mut sentences = Vec::new();
    match facts.common {
        Some(format) => {
            sentences.push(facts.choice(format));
            sentences.extend(facts.sizes.left_out.as_deref().map(|text| format!("{text}.")));
            sentences.extend(facts.costs(format));
            sentences.extend(facts.contrast(format));
            sentences.push(facts.upkeep(format));
            sentences.extend(facts.alone(format));
        }
        None if facts.open.is_empty() => sentences.push(
            "No lossless format fits any of these links at this rate, so there is nothing to choose."
                .to_owned(),
        ),
        None => {
            sentences.push("No format fits all of these links.".to_owned());
            sentences.extend(facts.each());
        }
    }
    sentences.extend(facts.closed());
    sentences
}

impl Facts<'_> {
    /// The recommended format, and how it fits.
    fn choice(&self, format: &str) -> String {
        let of = |fit: Fit| {
            let plans = self.open.iter().filter(move |plan| plan.of(format).is_some_and(|it| it.fit == fit));
            list(plans.map(|plan| limit(plan, Some(format))))
        };
        let (always, messages) = (of(Fit::Always), of(Fit::Messages));
        let sizes = self.sizes.of(format);
        let largest = sizes.map_or(0, |sizes| sizes.largest());
        let max = sizes.and_then(|sizes| sizes.schema_max);
        let always = always.map(|links| {
            format!(
                "every message that the schema allows, at most {} bytes, fits {links}",
                max.unwrap_or(largest)
            )
        });
        let messages = messages.map(|links| {
            let bound = match max {
                Some(max) => format!("the schema allows up to {max}, which would not fit"),
                None => "the largest that the schema allows is not known, so try extreme values".to_owned(),
            };
            format!("the messages given, at most {largest} bytes, fit {links}; {bound}")
        });
        let fits: Vec<_> = [always, messages].into_iter().flatten().collect();
        format!("Choose {format}: it is lossless, and {}.", fits.join(", and "))
    }

    /// The fleet's costs, and the life of the battery.
    fn costs(&self, format: &str) -> Option<String> {
        let cost = |plan: &&LinkPlan| Some((plan.of(format)?.month.cost?, &plan.link.name));
        let costs = self.open.iter().filter_map(cost);
        let costs = list(costs.map(|(cost, name)| format!("{} a month on {name}", money(cost))));
        let unknown = self.open.iter().filter(|plan| plan.link.price.is_none());
        let unknown = list(unknown.map(|plan| plan.link.name.clone()));
        let years_of = self.open.iter().filter_map(|plan| Some((plan.of(format)?.years?, plan.link)));
        let shortest = years_of.min_by(|(a, _), (b, _)| a.total_cmp(b));
        let mut parts = Vec::new();
        parts.extend(costs.map(|costs| match self.open.len() {
            1 => format!("the fleet pays {costs}"),
            _ => format!("if all messages took one link, the fleet would pay {costs}"),
        }));
        parts.extend(unknown.map(|links| format!("no price is published for {links}")));
        parts.extend(shortest.map(|(lasts, link)| {
            // Where the power between messages is not published, the years are too many.
            let what = match link.energy.as_ref().and_then(Energy::idle_watts) {
                Some(_) => "the radio alone",
                None => "sending alone",
            };
            match lasts {
                lasts if lasts > SHELF_LIFE => {
                    format!("{what} would not empty the battery in {SHELF_LIFE} years, even on {}", link.name)
                }
                lasts => format!("{what} would empty the battery in {} years on {}", years(lasts), link.name),
            }
        }));
        (!parts.is_empty()).then(|| sentence(&parts.join("; ")))
    }

    /// The fragments and the cost of JSON on the first link that it does not fit.
    fn contrast(&self, format: &str) -> Option<String> {
        let json = |plan: &&LinkPlan| {
            let estimate = plan.of("json").filter(|_| format != "json")?;
            let cost = estimate.month.cost.map(|cost| format!(", and would cost {} a month", money(cost)));
            let cost = cost.unwrap_or_default();
            let fragments = estimate.fragments.filter(|fragments| *fragments > 1)?;
            let joins = if plan.link.splits() { "" } else { " and a transport that joins them" };
            Some(format!("JSON would need {fragments} fragments on {}{joins}{cost}.", plan.link.name))
        };
        self.open.iter().find_map(json)
    }

    /// The upkeep of the recommended format, and the price of a format with less upkeep.
    fn upkeep(&self, format: &str) -> String {
        let upkeep = Upkeep::of(format);
        let mut text = format!("{format} {}", upkeep.clause());
        let lighter = |estimate: &&Estimate| Upkeep::of(&estimate.format) < upkeep;
        let everywhere = |estimate: &&Estimate| {
            self.open.iter().all(|plan| usable(plan).iter().any(|other| other.format == estimate.format))
        };
        let alternatives = self.open.first().map(|plan| usable(plan)).unwrap_or_default();
        if let Some(other) = alternatives.into_iter().filter(lighter).find(everywhere) {
            let more = self.open.iter().filter_map(|plan| {
                Some(format!("{} on {}", more(plan, format, &other.format)?, plan.link.name))
            });
            let more = list(more).map_or_else(
                || {
                    let size = |format| self.sizes.of(format).map_or(0.0, |sizes| sizes.mean());
                    format!("takes {} bytes instead of {}", bytes(size(&other.format)), bytes(size(format)))
                },
                |more| format!("costs {more}"),
            );
            text += &format!(
                "; {} {}, fits these messages too, and {more}",
                other.format,
                Upkeep::of(&other.format).clause()
            );
        }
        text + "."
    }

    /// The links on which a format with less upkeep would do.
    fn alone(&self, format: &str) -> Option<String> {
        let other = |plan: &&LinkPlan| {
            let other = best(&[*plan], self.fleet).filter(|other| Upkeep::of(other) < Upkeep::of(format))?;
            let more = more(plan, format, other).map(|more| format!("; it costs {more}")).unwrap_or_default();
            let text = format!(
                "Devices that only use {} can send {other}, which needs no schema{more}.",
                plan.link.name
            );
            (Upkeep::of(other) <= Upkeep::Schemaless).then_some(text)
        };
        (self.open.len() > 1).then(|| self.open.iter().find_map(other)).flatten()
    }

    /// The choice for each link, if none serves all.
    fn each(&self) -> Option<String> {
        let choice = |plan: &&LinkPlan| {
            let format = best(&[*plan], self.fleet)?;
            let cost = plan.of(format)?.month.cost.map(|cost| format!(", {} a month", money(cost)));
            Some(format!("{format} for {}{}", limit(plan, Some(format)), cost.unwrap_or_default()))
        };
        list(self.open.iter().filter_map(choice)).map(|choices| format!("Choose {choices}."))
    }

    /// The links that nothing fits, with the reason, and those to the device.
    fn closed(&self) -> Option<String> {
        let (open, closed): (Vec<_>, Vec<_>) = self.links.iter().partition(|plan| !usable(plan).is_empty());
        let mut reasons: Vec<_> = closed.into_iter().map(|plan| self.obstacle(plan)).collect();
        let down = open.into_iter().filter(|plan| plan.link.direction == Direction::Down);
        reasons.extend(down.map(|plan| {
            format!(
                "{} carries messages to the device, so it does not take part in the choice",
                plan.link.name
            )
        }));
        (!reasons.is_empty()).then(|| sentence(&reasons.join("; ")))
    }

    fn obstacle(&self, plan: &LinkPlan) -> String {
        let link = plan.link;
        if let Some(ended) = &link.ended {
            return format!("the service of {} ended in {ended}", link.name);
        }
        if !link.has_limit() {
            return format!("the limit of {} is not published", link.name);
        }
        let lossless = || plan.estimates.iter().filter(|estimate| estimate.lossless);
        let Some(smallest) = lossless().next() else {
            return format!("no format carries the messages without loss, so none suits {}", link.name);
        };
        let fitting = lossless().find(|estimate| matches!(estimate.fit, Fit::Always | Fit::Messages));
        if let Some(fitting) = fitting {
            let most = per_day(fitting.rate.max_per_day.unwrap_or(0.0));
            let name = &link.name;
            return format!(
                "{name} allows at most {most} messages a day as {}, not {}",
                fitting.format, self.fleet.per_day
            );
        }
        let sizes = self.sizes.of(&smallest.format);
        let largest = sizes.map_or(0, |sizes| sizes.schema_max.unwrap_or_else(|| sizes.largest()));
        let advice = "`dunnage schema size` names the largest fields";
        format!(
            "nothing fits {}: {} needs up to {largest} bytes; {advice}",
            limit(plan, None),
            smallest.format
        )
    }
}

/// How much more `other` costs than `format` on a link, if both have a price. It can be less for several messages where the link bills in
/// steps.
fn more(plan: &LinkPlan, format: &str, other: &str) -> Option<String> {
    let (cost, other) = (plan.of(format)?.month.cost?, plan.of(other)?.month.cost?);
    Some(match other.amount - cost.amount {
        difference if difference.abs() < 0.005 => "the same".to_owned(),
        less if less < 0.0 => format!("{} a month less", money(Money { amount: -less, ..cost })),
        amount => format!("{} a month more", money(Money { amount, ..cost })),
    })
}

/// The standard message of a link, if the messages fit the link but not that.
fn over_standard(plan: &LinkPlan, format: &str) -> Option<usize> {
    let fit = plan.of(format)?.standard_fit?;
    let exceeds = !matches!(fit, Fit::Always | Fit::Messages);
    plan.link.standard_payload_bytes.filter(|_| exceeds)
}

/// The name of a link with its limit and, for a format, the standard message that is exceeded and the
/// smallest to which messages are padded.
fn limit(plan: &LinkPlan, format: Option<&str>) -> String {
    let Link { name, min_payload_bytes, .. } = plan.link;
    let Some(max) = plan.link.max_payload_bytes else { return name.clone() };
    let exceeded = format.and_then(|format| over_standard(plan, format));
    let bytes = match exceeded {
        Some(standard) => format!("at most {max} bytes, {standard} in {}", plan.link.ordinary()),
        None => format!("{max} bytes"),
    };
    let is_padded = format.and_then(|format| plan.of(format)).is_some_and(|estimate| estimate.padded);
    let padded = if is_padded { format!(", padded to {min_payload_bytes}") } else { String::new() };
    format!("{name} ({bytes}{padded})")
}

/// `a`, `a and b`, or `a; b; and c`, as names contain commas; `None` if there is nothing.
fn list(items: impl Iterator<Item = String>) -> Option<String> {
    let mut items: Vec<_> = items.collect();
    let last = items.pop()?;
    Some(match &items[..] {
        [] => last,
        [first] => format!("{first} and {last}"),
        _ => format!("{}; and {last}", items.join("; ")),
    })
}

/// `text` with a capital letter and a full stop.
fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map(|c| c.to_uppercase().to_string()).unwrap_or_default() + letters.as_str() + "."
}

#[cfg(test)]
mod tests {
    use super::list;

    #[test]
    fn three_items_are_separated_by_semicolons() {
        let text = |items: &[&str]| list(items.iter().map(|item| (*item).to_owned()));
        assert_eq!(text(&[]), None);
        assert_eq!(text(&["a"]).as_deref(), Some("a"));
        assert_eq!(text(&["a", "b"]).as_deref(), Some("a and b"));
        assert_eq!(text(&["a", "b", "c"]).as_deref(), Some("a; b; and c"));
    }
}
