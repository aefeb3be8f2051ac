//! The recommendation in words, three to six sentences.

use super::{
    advice::{best, usable},
    estimate::{Estimate, Fit, Fleet, LinkPlan},
    numbers::{bytes, money, years},
    sizes::Sizes,
    upkeep::Upkeep,
};
use dunnage_links::Link;

/// What the sentences are about.
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
            sentences.extend(facts.costs(format));
            sentences.extend(facts.contrast(format));
            sentences.push(facts.upkeep(format));
            sentences.extend(facts.alone(format));
        }
        None if facts.open.is_empty() => sentences.push(
            "No lossless format fits one of these links at this rate, so there is nothing to choose."
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
    /// What to choose, and how it fits.
    fn choice(&self, format: &str) -> String {
        let of = |fit: Fit| {
            let plans = self.open.iter().filter(move |plan| plan.of(format).is_some_and(|it| it.fit == fit));
            list(plans.map(|plan| limit(plan.link)))
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
                Some(max) => format!("the schema allows up to {max}"),
                None => "the largest that the schema allows is not known, so try extreme values".to_owned(),
            };
            format!("the messages given, at most {largest} bytes, fit {links}; {bound}")
        });
        let fits: Vec<_> = [always, messages].into_iter().flatten().collect();
        format!("Choose {format}: it is lossless, and {}.", fits.join(", and "))
    }

    /// What the fleet pays, and how long the battery lasts.
    fn costs(&self, format: &str) -> Option<String> {
        let cost = |plan: &&LinkPlan| Some((plan.of(format)?.month.cost?, &plan.link.name));
        let costs = self.open.iter().filter_map(cost);
        let costs = list(costs.map(|(cost, name)| format!("{} on {name}", money(cost))));
        let unknown = self.open.iter().filter(|plan| plan.link.price.is_none());
        let unknown = list(unknown.map(|plan| plan.link.name.clone()));
        let shortest = self.open.iter().filter_map(|plan| Some((plan.of(format)?.years?, plan.link)));
        let shortest = shortest.min_by(|(a, _), (b, _)| a.total_cmp(b));
        let mut parts = Vec::new();
        parts.extend(costs.map(|costs| format!("the fleet pays {costs} a month")));
        parts.extend(unknown.map(|links| format!("no price is published for {links}")));
        parts.extend(shortest.map(|(lasts, link)| {
            format!("sending alone empties the battery in {} years on {}", years(lasts), link.name)
        }));
        (!parts.is_empty()).then(|| sentence(&parts.join("; ")))
    }

    /// What JSON would need on the first link that it does not fit, or where it costs more.
    fn contrast(&self, format: &str) -> Option<String> {
        let json = |plan: &&LinkPlan| {
            let estimate = plan.of("json").filter(|_| format != "json")?;
            let cost = estimate.month.cost.map(|cost| format!(" and {} a month", money(cost)));
            let cost = cost.unwrap_or_default();
            let fragments = estimate.fragments.filter(|fragments| *fragments > 1)?;
            Some(format!(
                "JSON would need {fragments} messages of {} for one report{cost}, and a transport that joins them.",
                plan.link.name
            ))
        };
        self.open.iter().find_map(json)
    }

    /// What the choice asks of people, and the price of less.
    fn upkeep(&self, format: &str) -> String {
        let upkeep = Upkeep::of(format);
        let mut text = format!("{format} {}", upkeep.clause());
        let lighter = |estimate: &&Estimate| Upkeep::of(&estimate.format) < upkeep;
        let everywhere = |estimate: &&Estimate| {
            self.open.iter().all(|plan| usable(plan).iter().any(|other| other.format == estimate.format))
        };
        let alternatives = self.open.first().map(|plan| usable(plan)).unwrap_or_default();
        if let Some(other) = alternatives.into_iter().filter(lighter).find(everywhere) {
            let more = self.open.iter().filter_map(|plan| more(plan, format, &other.format));
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
            let more = more(plan, format, other).map(|more| format!(" at {more}")).unwrap_or_default();
            Some(format!(
                "Devices that use only {} can send {other} without a schema's upkeep{more}.",
                plan.link.name
            ))
            .filter(|_| Upkeep::of(other) <= Upkeep::Schemaless)
        };
        (self.open.len() > 1).then(|| self.open.iter().find_map(other)).flatten()
    }

    /// The choice for each link, if none serves all.
    fn each(&self) -> Option<String> {
        let choice = |plan: &&LinkPlan| {
            let format = best(&[*plan], self.fleet)?;
            let cost = plan.of(format)?.month.cost.map(|cost| format!(", {} a month", money(cost)));
            Some(format!("{format} for {}{}", limit(plan.link), cost.unwrap_or_default()))
        };
        list(self.open.iter().filter_map(choice)).map(|choices| format!("Choose {choices}."))
    }

    /// The links that nothing fits, with the reason.
    fn closed(&self) -> Option<String> {
        let closed = self.links.iter().filter(|plan| usable(plan).is_empty());
        let reasons: Vec<_> = closed.map(|plan| self.obstacle(plan)).collect();
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
            return format!("no format is lossless, so none is for {}", link.name);
        };
        let fitting = lossless().find(|estimate| matches!(estimate.fit, Fit::Always | Fit::Messages));
        if let Some(fitting) = fitting {
            let most = fitting.rate.max_per_day.unwrap_or(0.0);
            let name = &link.name;
            return format!(
                "{name} allows {most} messages of {} a day, not {}",
                fitting.format, self.fleet.per_day
            );
        }
        let largest = self.sizes.of(&smallest.format).map_or(0, |sizes| sizes.largest());
        let advice = "`dunnage schema size` names the largest fields";
        format!("nothing fits {}: {} needs {largest} bytes; {advice}", limit(link), smallest.format)
    }
}

/// How much more `other` costs than `format` on a link, if both have a price.
fn more(plan: &LinkPlan, format: &str, other: &str) -> Option<String> {
    let (cost, other) = (plan.of(format)?.month.cost?, plan.of(other)?.month.cost?);
    let difference = dunnage_links::Money { amount: other.amount - cost.amount, ..cost };
    Some(match difference.amount {
        amount if amount.abs() < 0.005 => format!("the same on {}", plan.link.name),
        amount if amount < 0.0 => {
            let less = dunnage_links::Money { amount: -amount, ..cost };
            format!("{} a month less on {}", money(less), plan.link.name)
        }
        _ => format!("{} a month more on {}", money(difference), plan.link.name),
    })
}

/// The name of a link with its limit.
fn limit(link: &Link) -> String {
    match link.max_payload_bytes {
        Some(max) => format!("{} ({max} bytes)", link.name),
        None => link.name.clone(),
    }
}

/// `a`, `a and b`, or `a; b and c`, as names contain commas; `None` if there is nothing.
fn list(items: impl Iterator<Item = String>) -> Option<String> {
    let mut items: Vec<_> = items.collect();
    let last = items.pop()?;
    Some(if items.is_empty() { last } else { format!("{} and {last}", items.join("; ")) })
}

/// `text` with a capital letter and a full stop.
fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map(|c| c.to_uppercase().to_string()).unwrap_or_default() + letters.as_str() + "."
}
