//! What follows from the tables for an engineer. Every number is computed from them.

use super::{Figure, HOPS, print::digits};
use crate::{
    container::Failed,
    text::{list, short},
};
use dunnage_links::{Energy, Link};

/// The three sentences.
pub fn write(figures: &[Figure]) -> Result<[String; 3], Failed> {
    Ok([frames(figures), hops(figures)?, listening(figures)?])
}

/// The links in the order of the tables.
fn links(figures: &[Figure]) -> Vec<&'static Link> {
    let mut links: Vec<&'static Link> = figures.iter().map(|figure| figure.link).collect();
    links.dedup_by_key(|link| &link.id);
    links
}

/// The frames of the messages that a link carries in both formats, on links that split messages.
fn frames(figures: &[Figure]) -> String {
    let of = |link: &Link, format: &str| -> Vec<Option<u64>> {
        let members = figures.iter().filter(|it| it.link.id == link.id && it.format == format);
        members.map(|it| it.sent.as_ref().map(|sent| sent.frames)).collect()
    };
    let totals = links(figures).into_iter().filter(|link| link.splits()).map(|link| {
        let (packed, json) = (of(link, "packed"), of(link, "json"));
        let all = packed.len();
        let both: Vec<(u64, u64)> = packed.into_iter().zip(json).filter_map(|(a, b)| a.zip(b)).collect();
        let total = |format: fn(&(u64, u64)) -> u64| both.iter().map(format).sum::<u64>();
        let (packed, json) = (total(|frames| frames.0), total(|frames| frames.1));
        let messages = match both.len() {
            fitting if fitting < all => format!("the {fitting} of {all} messages that fit in both"),
            _ => format!("{all} messages"),
        };
        format!("{messages} take {packed} frames as packed and {json} as JSON on {}", short(link))
    });
    format!("Count frames before bytes: {}.", list(totals))
}

/// The container's message over the longest route: the air time of packed beside that of JSON, and what refuses it.
fn hops(figures: &[Figure]) -> Result<String, Failed> {
    let (mut carried, mut refused) = (Vec::new(), Vec::new());
    for link in links(figures) {
        let packed =
            longest(figures, link, "packed")?.ok_or("a link refuses the container's message as packed")?;
        match longest(figures, link, "json")? {
            Some(json) => carried.push(format!(
                "{} ms on {} ({} as JSON)",
                digits(1e3 * packed.0),
                short(link),
                digits(1e3 * json.0)
            )),
            None => refused.push(short(link).to_owned()),
        }
    }
    Ok(format!(
        "Each hop costs the same again, so the format matters most on long routes: over {} hops, the container's message as packed is on the air for {}, and its JSON is too large for {}.",
        HOPS.end(),
        list(carried.into_iter()),
        list(refused.into_iter())
    ))
}

/// How long a router may listen with the energy of the container's message over the longest route.
fn listening(figures: &[Figure]) -> Result<String, Failed> {
    let mut times = Vec::new();
    for link in links(figures) {
        let Some(Energy::Hop { receive_watts, .. }) = link.energy else { continue };
        let packed =
            longest(figures, link, "packed")?.ok_or("a link refuses the container's message as packed")?;
        times.push(format!("{} s on {}", digits(packed.1 / receive_watts), short(link)));
    }
    Ok(format!(
        "Choose the format for air time and for what fits, not for the battery of a router: one that always listens spends the energy of all {} hops of that message in {}.",
        HOPS.end(),
        list(times.into_iter())
    ))
}

/// The seconds and the joules of the container's message over the longest route; `None` if the link refuses it.
fn longest(figures: &[Figure], link: &Link, format: &str) -> Result<Option<(f64, f64)>, Failed> {
    let is_it = |it: &&Figure| it.link.id == link.id && it.payload == "container" && it.format == format;
    let figure = figures.iter().find(is_it).ok_or_else(|| format!("no figure of {format} on {}", link.id))?;
    let cost = figure.sent.as_ref().and_then(|sent| sent.costs.last());
    Ok(cost.map(|cost| (cost.airtime_s, cost.joules)))
}
