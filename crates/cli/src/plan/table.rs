//! The plan as tables for a terminal.

use crate::{
    link_id::limit_text,
    output::{bytes, fill, printable},
};
use anstyle::Style;
use comfy_table::{Attribute, Cell, CellAlignment, Color, Table, presets};
use dunnage_links::{Direction, Energy, Link};
use dunnage_plan::{
    Estimate, Fit, LinkPlan, Report,
    numbers::{amount, duration, joules, megabytes, per_day, years},
};
use std::io::{self, Write};

const WIDTH: usize = 100;
const DIM: Style = Style::new().dimmed();
const BOLD: Style = Style::new().bold();

/// Writes a table per link, then the advice.
pub fn write(output: &mut impl Write, report: &Report) -> io::Result<()> {
    writeln!(output, "{}\n", printable(&summary(report)))?;
    for plan in &report.links {
        writeln!(output, "{BOLD}{}{BOLD:#} ({})", plan.link.name, plan.link.id)?;
        wrapped(output, &facts(plan), DIM)?;
        let choice = report.advice.choices.iter().find(|(id, _)| *id == plan.link.id);
        for (index, line) in
            table(report, plan, choice.map(|(_, format)| format.as_str())).lines().enumerate()
        {
            let style = if index == 0 { DIM } else { Style::new() };
            writeln!(output, "{style}{}{style:#}", line.trim_end())?;
        }
        for note in notes(plan.link) {
            wrapped(output, &note, DIM)?;
        }
        writeln!(output)?;
    }
    for (format, reason) in &report.sizes.refused {
        wrapped(output, &printable(&format!("{format} cannot carry {reason}")), DIM)?;
    }
    for sentence in &report.advice.sentences {
        wrapped(output, &printable(sentence), Style::new())?;
    }
    Ok(())
}

/// The fleet and its messages, in one line.
pub fn summary(report: &Report) -> String {
    let fleet = &report.fleet;
    let mean =
        report.messages.iter().map(|(_, size)| size).sum::<usize>() as f64 / report.messages.len() as f64;
    let count = report.messages.len();
    let of = |count: f64, what: &str| format!("{count} {what}{}", if count == 1.0 { "" } else { "s" });
    format!(
        "{}, each {} a day; {} of schema {}, {} B as JSON",
        of(fleet.devices as f64, "device"),
        of(fleet.per_day, "message"),
        of(count as f64, "message"),
        report.schema,
        bytes(mean)
    )
}

/// The limit, hops, acknowledgement, latency and price of a link.
pub fn facts(plan: &LinkPlan) -> String {
    let link = plan.link;
    let mut facts = vec![match link.direction {
        Direction::Up => "from the device".to_owned(),
        Direction::Down => "to the device".to_owned(),
    }];
    facts.push(match (link.has_limit(), link.max_payload_bytes) {
        (false, _) => "limit not published".to_owned(),
        (true, None) => "no limit".to_owned(),
        (true, Some(_)) if link.min_payload_bytes > 1 => {
            format!("{} to {} B", link.min_payload_bytes, limit_text(link))
        }
        (true, Some(_)) => format!("at most {} B", limit_text(link)),
    });
    facts.extend(link.standard_payload_bytes.map(|standard| format!("{standard} B in {}", link.ordinary())));
    facts.extend(link.mesh.as_ref().map(|mesh| format!("{} of at most {} hops", plan.hops, mesh.max_hops)));
    facts.extend(link.acknowledged.map(|is| if is { "acknowledged" } else { "not acknowledged" }.to_owned()));
    facts.extend(link.latency.map(|latency| format!("arrives after {}", duration(latency.typical_s))));
    facts.extend(link.duty_cycle.map(|duty| format!("at most {} % of the time on the air", 100.0 * duty)));
    facts.extend(link.dwell_time_s.map(|dwell| format!("at most {} a frame", duration(dwell))));
    facts.push(link.price_text().unwrap_or_else(|| "price not published".to_owned()));
    facts.join(", ")
}

/// Caveats about the figures of a link.
pub fn notes(link: &Link) -> Vec<String> {
    let mut notes = Vec::new();
    notes.extend(link.ended.as_ref().map(|ended| format!("the service ended in {ended}")));
    if link.min_payload_bytes > 1 {
        let min = link.min_payload_bytes;
        notes.push(format!("a message below {min} B is padded; the receiver must know its length"));
    }
    if !link.overhead.is_empty() {
        let parts: Vec<_> =
            link.overhead.iter().map(|part| format!("{} {}", part.what, part.bytes)).collect();
        notes.push(format!("{} B more in each message: {}", link.overhead_bytes(), parts.join(", ")));
    }
    if link.mesh.is_some() {
        let share = "a device passes on as many messages as others do for it";
        notes.push(format!("air time and energy are those of all hops, of which MB counts one; {share}"));
    }
    notes.extend(link.price_note.as_ref().map(|note| format!("price: {note}")));
    let fees = [("SIM", link.fees.sim), ("activation", link.fees.activation)];
    let currency = link.currency.map(|currency| currency.to_string()).unwrap_or_default();
    for (what, fee) in fees {
        notes.extend(fee.map(|fee| format!("once per device, not in the price: {what} {currency} {fee}")));
    }
    notes.extend(link.energy.as_ref().map(energy_note));
    notes.extend(link.note.clone());
    notes
}

fn energy_note(energy: &Energy) -> String {
    let idle = if energy.idle_watts().is_some() { "with sleep" } else { "without sleep" };
    format!("energy, {idle}: {}", energy.note())
}

/// A column: its heading, and its cell for an estimate.
type Column<'a> = (String, Box<dyn Fn(&Estimate) -> String + 'a>);

/// The columns of a link. Those without a figure are left out.
pub fn columns<'a>(report: &'a Report, link: &'a Link) -> Vec<Column<'a>> {
    let optional = |number: Option<String>| number.unwrap_or_default();
    let sizes = move |estimate: &Estimate| report.sizes.of(&estimate.format);
    let mut columns: Vec<Column<'a>> = vec![
        ("format".into(), Box::new(|it: &Estimate| it.format.clone())),
        ("bytes".into(), Box::new(move |it| sizes(it).map_or(String::new(), |sizes| bytes(sizes.mean())))),
    ];
    if report.messages.len() > 1 {
        let largest =
            move |it: &Estimate| sizes(it).map_or(String::new(), |sizes| sizes.largest().to_string());
        columns.push(("largest".into(), Box::new(largest)));
    }
    columns.push((
        "max".into(),
        Box::new(move |it| optional(sizes(it).and_then(|s| Some(s.schema_max?.to_string())))),
    ));
    columns.push(("fits".into(), Box::new(move |it| fits(report, link, it))));
    columns.push(("parts".into(), Box::new(move |it| optional(it.fragments.map(|parts| parts.to_string())))));
    columns.push(("MB/month".into(), Box::new(|it| amount(megabytes(it.month.billed_bytes)))));
    if let Some(currency) = link.currency.filter(|_| link.price.is_some()) {
        let cost = move |it: &Estimate| optional(it.month.cost.map(|cost| amount(cost.amount)));
        columns.push((format!("{currency}/month"), Box::new(cost)));
    }
    if link.airtime.is_some() {
        columns
            .push(("on air s".into(), Box::new(move |it| optional(it.airtime_s.map(|s| format!("{s:.3}"))))));
        let share =
            move |it: &Estimate| optional(it.share_on_air.map(|share| format!("{:.4}", 100.0 * share)));
        columns.push(("% of time".into(), Box::new(share)));
    }
    if link.airtime.is_some() || link.min_interval_s.or(link.messages_per_day).is_some() {
        let most = move |it: &Estimate| optional(it.rate.max_per_day.map(per_day));
        columns.push(("most/day".into(), Box::new(most)));
    }
    if link.energy.is_some() {
        columns.push(("energy".into(), Box::new(move |it| optional(it.joules.map(joules)))));
        if report.fleet.battery_joules.is_some() {
            let counts_idle = link.energy.as_ref().and_then(Energy::idle_watts).is_some();
            let heading = if counts_idle { "years" } else { "years of sending" };
            columns.push((heading.into(), Box::new(move |it| optional(it.years.map(years)))));
        }
    }
    columns
}

/// Whether an estimate's messages fit, in words.
fn fits(report: &Report, link: &Link, estimate: &Estimate) -> String {
    let count = report.messages.len();
    let fit = match estimate.fit {
        Fit::Always => "always".to_owned(),
        Fit::Messages => if count == 1 { "this one" } else { "these" }.to_owned(),
        Fit::Some(fitting) => format!("{fitting} of {count}"),
        Fit::No => "no".to_owned(),
        Fit::Unknown => "?".to_owned(),
    };
    let is_fit = |fit| matches!(fit, Fit::Always | Fit::Messages);
    let over = link
        .standard_payload_bytes
        .filter(|_| is_fit(estimate.fit) && estimate.standard_fit.is_some_and(|fit| !is_fit(fit)));
    let over = over.map(|standard| format!(", >{standard}")).unwrap_or_default();
    let padded = if estimate.padded { ", padded" } else { "" };
    let often = if estimate.allowed { "" } else { ", too often" };
    let lossy = if estimate.lossless { "" } else { ", lossy" };
    format!("{fit}{over}{padded}{often}{lossy}")
}

fn table(report: &Report, plan: &LinkPlan, choice: Option<&str>) -> Table {
    let columns = columns(report, plan.link);
    let mut table = Table::new();
    table.load_style(presets::NOTHING).enforce_styling();
    table.set_header(columns.iter().map(|(heading, _)| heading));
    for estimate in &plan.estimates {
        table.add_row(columns.iter().map(|(heading, cell)| {
            let cell = Cell::new(cell(estimate));
            match (Some(estimate.format.as_str()) == choice, estimate.is_usable()) {
                (true, _) => cell.add_attribute(Attribute::Bold),
                (false, true) if heading == "fits" => cell.fg(Color::DarkGreen),
                (false, true) => cell,
                (false, false) => cell.add_attribute(Attribute::Dim),
            }
        }));
    }
    for ((index, column), (heading, _)) in table.column_iter_mut().enumerate().zip(&columns) {
        column.set_padding((2, 0));
        if index > 0 && heading != "fits" {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    table
}

/// Writes `text` in lines of at most [`WIDTH`] columns, all of them indented by two.
fn wrapped(output: &mut impl Write, text: &str, style: Style) -> io::Result<()> {
    let mut words = text.split(' ').map(str::to_owned);
    let first = format!("  {}", words.next().unwrap_or_default());
    for line in fill(&first, " ", words, WIDTH) {
        writeln!(output, "{style}{line}{style:#}")?;
    }
    Ok(())
}
