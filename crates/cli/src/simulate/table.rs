//! The simulation as text.

use super::Report;
use super::run::Outcome;
use crate::link_id::limit_text;
use crate::output::bar;
use crate::schema::table::{Column, number, text, write as table};
use dunnage_links::{Link, Load, Money};
use dunnage_plan::numbers::money;
use std::io::{self, Write};

const COLUMNS: [Column; 10] = [
    text("form"),
    number("messages"),
    number("mean"),
    number("p50"),
    number("p90"),
    number("p99"),
    number("max"),
    number("delivered"),
    number("quarantined"),
    number("wrong"),
];
const LINKS: [Column; 6] = [
    text("link"),
    number("limit"),
    text("form"),
    number("fit"),
    number("airtime/day"),
    number("price/month"),
];
/// The columns of the bars.
const BAR: usize = 50;
/// A histogram has this many sizes for the price: as many as keep the mean exact to a percent.
const QUANTILES: usize = 1000;

pub fn write(output: &mut impl Write, report: &Report) -> io::Result<()> {
    let network = report.network;
    writeln!(
        output,
        "{} messages a day from each of {} devices (--cadence), {:.0} % lost; {:.0} % of acknowledgements lost, one for {} messages, {} late\n",
        report.per_day,
        report.devices,
        100.0 * network.loss,
        100.0 * network.ack_loss,
        network.ack_every,
        network.ack_delay
    )?;
    if report.simulated < report.devices {
        writeln!(output, "{} devices were simulated for all of them\n", report.simulated)?;
    }
    table(output, &COLUMNS, report.outcomes.iter().map(row))?;
    if !report.links.is_empty() {
        writeln!(output)?;
        let rows = report
            .links
            .iter()
            .flat_map(|link| report.outcomes.iter().map(|one| link_row(report, link, one)));
        table(output, &LINKS, rows)?;
    }
    for outcome in &report.outcomes {
        writeln!(output, "\nbytes of a message, {}", outcome.form.name())?;
        histogram(output, outcome)?;
    }
    Ok(())
}

fn row(outcome: &Outcome) -> Vec<String> {
    let sizes = &outcome.sizes;
    let percentile = |share: f64| sizes.percentile(share).to_string();
    vec![
        outcome.form.name().to_owned(),
        sizes.messages().to_string(),
        format!("{:.2}", sizes.mean()),
        percentile(0.5),
        percentile(0.9),
        percentile(0.99),
        percentile(1.0),
        outcome.delivered.to_string(),
        outcome.quarantined.to_string(),
        outcome.wrong.to_string(),
    ]
}

fn link_row(report: &Report, link: &Link, outcome: &Outcome) -> Vec<String> {
    let fit = link.max_payload_bytes.map(|limit| format!("{:.2} %", 100.0 * outcome.sizes.share(limit)));
    let any = if link.unlimited { "100.00 %" } else { "?" };
    let cost = month_cost(report, link, outcome).map_or_else(|| "not published".to_owned(), money);
    let airtime = airtime_s(report, link, outcome).map_or_else(|| "?".to_owned(), |s| format!("{s:.1} s"));
    vec![
        link.id.clone(),
        limit_text(link),
        outcome.form.name().to_owned(),
        fit.unwrap_or_else(|| any.to_owned()),
        airtime,
        cost,
    ]
}

/// Returns the mean seconds on the air of one device in a day.
pub fn airtime_s(report: &Report, link: &Link, outcome: &Outcome) -> Option<f64> {
    let mut sum = 0.0;
    for (bytes, count) in outcome.sizes.counts().iter().enumerate().filter(|(_, count)| **count > 0) {
        sum += link.airtime_s(bytes)? * *count as f64;
    }
    Some(sum / outcome.sizes.messages() as f64 * report.per_day)
}

/// Returns the price of a month of all devices.
pub fn month_cost(report: &Report, link: &Link, outcome: &Outcome) -> Option<Money> {
    let sizes: Vec<usize> =
        (0..QUANTILES).map(|i| outcome.sizes.percentile((i as f64 + 0.5) / QUANTILES as f64)).collect();
    let load = Load::new(&sizes, report.per_day, report.devices).ok()?;
    load.month(link).cost
}

fn histogram(output: &mut impl Write, outcome: &Outcome) -> io::Result<()> {
    let counts = outcome.sizes.counts();
    let most = counts.iter().copied().max().unwrap_or(0).max(1) as f64;
    for (bytes, count) in counts.iter().enumerate().filter(|(_, count)| **count > 0) {
        let share = 100.0 * *count as f64 / outcome.sizes.messages() as f64;
        let bar = bar(*count as f64 / most, BAR);
        writeln!(output, "{bytes:>4}  {}", format!("{bar} {share:6.2} %").trim_end())?;
    }
    Ok(())
}
