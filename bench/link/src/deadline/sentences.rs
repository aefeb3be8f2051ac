//! What follows from the tables for an engineer. Every number is computed from them.

use super::{DEADLINES, Figure, LOSSES, percent, seconds, short};
use crate::{container::Failed, text::list};
use dunnage_links::Link;

/// The loss and the share of the first two sentences, in percent: the place of 10 % in `LOSSES`, and what counts as in time.
const LOSS: usize = 1;
const RELIABLE: f64 = 0.9;

/// The three sentences.
pub fn write(figures: &[Figure]) -> Result<[String; 3], Failed> {
    Ok([container(figures)?, counts(figures), patience(figures)])
}

/// The links in the order of the tables.
fn links(figures: &[Figure]) -> Vec<&'static Link> {
    let mut links: Vec<&'static Link> = figures.iter().map(|figure| figure.link).collect();
    links.dedup_by_key(|link| &link.id);
    links
}

/// The container's message within a second: packed beside JSON.
fn container(figures: &[Figure]) -> Result<String, Failed> {
    let second = DEADLINES.iter().position(|deadline| *deadline == 1000).ok_or("no deadline of a second")?;
    let of = |link: &Link, format: &str| -> Result<String, Failed> {
        let is_it = |it: &&Figure| it.link.id == link.id && it.payload == "container" && it.format == format;
        let shares = figures.iter().find(is_it).and_then(|figure| figure.in_time);
        Ok(percent(
            shares.ok_or_else(|| format!("{} refuses the container's {format}", link.id))?[LOSS][second],
        ))
    };
    let mut shares = Vec::new();
    for link in links(figures) {
        shares.push(format!(
            "{} % of the time as packed and {} % as JSON on {}",
            of(link, "packed")?,
            of(link, "json")?,
            short(link)
        ));
    }
    Ok(format!(
        "With {} % of blocks or frames lost, a container's message arrives within {} {}.",
        LOSSES[LOSS],
        seconds(DEADLINES[second]),
        list(shares.into_iter())
    ))
}

/// How many messages meet each deadline in nine of ten cases.
fn counts(figures: &[Figure]) -> String {
    let of = |link: &Link, format: &str, deadline: usize| {
        let members: Vec<_> =
            figures.iter().filter(|it| it.link.id == link.id && it.format == format).collect();
        let is_reliable = |it: &&&Figure| it.in_time.is_some_and(|shares| shares[LOSS][deadline] >= RELIABLE);
        (members.iter().filter(is_reliable).count(), members.len())
    };
    let cases = links(figures).into_iter().flat_map(|link| {
        DEADLINES[..2].iter().enumerate().map(move |(index, deadline)| {
            let ((packed, all), (json, _)) = (of(link, "packed", index), of(link, "json", index));
            format!(
                "{packed} of {all} messages as packed and {json} as JSON within {} on {}",
                seconds(*deadline),
                short(link)
            )
        })
    });
    format!(
        "Choose the format by the deadline: at the same loss, {} arrive at least {} % of the time.",
        list(cases),
        100.0 * RELIABLE
    )
}

/// The longest deadline at the highest loss: the least share of any message in any format.
fn patience(figures: &[Figure]) -> String {
    let least = links(figures).into_iter().map(|link| {
        let shares = figures.iter().filter(|it| it.link.id == link.id).filter_map(|it| it.in_time);
        let least = shares.filter_map(|shares| shares.last()?.last().copied()).fold(1.0, f64::min);
        format!("{} % of the time on {}", percent(least), short(link))
    });
    format!(
        "Where {} are enough, as for shifting load over hours, the format hardly affects delivery: even with {} % lost, the worst message in the worst format arrives {}.",
        seconds(DEADLINES[DEADLINES.len() - 1]),
        LOSSES[LOSSES.len() - 1],
        list(least)
    )
}
