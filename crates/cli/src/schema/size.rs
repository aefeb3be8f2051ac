//! `dunnage schema size`: the size of packed messages, the share of each part, and the links that carry them, with their prices.

use super::{expected, layout::bits, packed::Packed, table};
use crate::{
    failure::Failure,
    input,
    link_id::{LinkId, default_links, limit_text},
    output::{self, printable},
};
use clap::Args;
use comfy_table::{Attribute, Cell, Color};
use dunnage_links::{Link, Traffic};
use dunnage_packed::{Layout, Row};
use serde::Serialize;
use std::{collections::HashSet, io::Write};

/// Show the size of packed messages, and which links carry them
///
/// Lists the parts of the largest message, largest first, with their bits and their share. Then shows for each link
/// whether it carries the smallest and the largest message, and, if the link has a price in euros, the cost of a device's
/// messages in a month of 30 days, with the bytes that the link's protocols add. `dunnage plan` shows other currencies.
///
/// If the schema has statistics, a table shows what each field takes in the prior form and in a delta. The other figures are
/// those of plain messages.
#[derive(Args)]
pub struct Size {
    /// A JSON Schema file, the name of a bundled schema, or - for standard input
    #[arg(value_name = "SCHEMA")]
    schema: String,
    #[command(flatten)]
    schemas: input::Schemas,
    /// Link to show; repeatable [default: the six that `dunnage plan --help` names]
    #[arg(long, value_name = "ID", value_parser = LinkId, hide_possible_values = true)]
    link: Vec<&'static Link>,
    /// Messages per day from one device
    #[arg(long, value_name = "N", default_value_t = 24)]
    messages_per_day: u32,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

const PARTS: [table::Column; 4] =
    [table::text("part"), table::number("bits"), table::number("% of largest"), table::text("range")];
const LINKS: [table::Column; 5] = [
    table::text("link"),
    table::number("limit"),
    table::text("carries"),
    table::number("euros per month"),
    table::text("price"),
];

/// Maximum number of unbounded parts that are listed.
const NAMED: usize = 8;

/// The report of `--json`.
#[derive(Serialize)]
struct Report<'a> {
    name: &'a str,
    packed: Packed,
    parts: Vec<Part<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    expected: Option<expected::Report>,
    messages_per_day: u32,
    links: Vec<Carriage>,
}

#[derive(Serialize)]
struct Part<'a> {
    path: &'a str,
    min_bits: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_bits: Option<u64>,
    /// Share of the largest message, from 0 to 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    share: Option<f64>,
}

/// How a link carries the messages, and what that costs.
#[derive(Serialize)]
struct Carriage {
    id: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_payload_bytes: Option<usize>,
    fits_smallest: bool,
    fits_largest: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    min_eur_per_month: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_eur_per_month: Option<f64>,
}

impl Size {
    pub fn run(self) -> Result<(), Failure> {
        let layout = self.schemas.layout(&self.schema)?;
        let packed = Packed::of(&layout);
        let mut rows = layout.explain();
        rows.retain(|row| row.bits.max != Some(0));
        rows.sort_by_key(|row| std::cmp::Reverse(row.bits.max.unwrap_or(u64::MAX)));
        let mut links = if self.link.is_empty() { default_links().collect() } else { self.link.clone() };
        let mut seen = HashSet::new();
        links.retain(|link| seen.insert(&link.id));
        let mut output = output::stdout();
        if self.json {
            let report = Report {
                name: layout.name(),
                parts: rows.iter().map(|row| part(row, &packed)).collect(),
                expected: expected::Report::of(&layout),
                messages_per_day: self.messages_per_day,
                links: links.iter().map(|link| self.carriage(link, &packed)).collect(),
                packed,
            };
            serde_json::to_writer(&mut output, &report).map_err(std::io::Error::from)?;
            writeln!(output)?;
            return Ok(output.flush()?);
        }
        writeln!(output, "{}\n", packed.line())?;
        table::write(&mut output, &PARTS, rows.iter().map(|row| part_cells(row, &packed)))?;
        write_open(&mut output, &layout)?;
        expected::write(&mut output, &layout)?;
        writeln!(output, "\n{} messages per day, from one device:\n", self.messages_per_day)?;
        let rows = links.iter().map(|link| link_cells(link, &self.carriage(link, &packed)));
        table::write(&mut output, &LINKS, rows)?;
        Ok(output.flush()?)
    }

    fn carriage(&self, link: &'static Link, packed: &Packed) -> Carriage {
        let bytes = |bytes: Option<u64>| bytes.and_then(|bytes| usize::try_from(bytes).ok());
        let fits = |size: Option<u64>| match bytes(size) {
            Some(bytes) => link.fits(bytes),
            // A message without a maximum size fits only a link without a limit.
            None => link.unlimited,
        };
        let eur = |size: Option<u64>| {
            let messages_per_day = f64::from(self.messages_per_day);
            Traffic { message_bytes: bytes(size)?, messages_per_day, devices: 1 }.monthly().eur(link)
        };
        Carriage {
            id: &link.id,
            max_payload_bytes: link.max_payload_bytes,
            fits_smallest: fits(packed.min_bytes),
            fits_largest: fits(packed.max_bytes),
            min_eur_per_month: eur(packed.min_bytes),
            max_eur_per_month: eur(packed.max_bytes),
        }
    }
}

/// Lists the parts that leave the message without a maximum size.
fn write_open(output: &mut impl Write, layout: &Layout) -> Result<(), Failure> {
    let open = layout.open_parts();
    if !open.is_empty() {
        writeln!(output)?;
    }
    for part in open.iter().take(NAMED) {
        writeln!(output, "{part}")?;
    }
    if open.len() > NAMED {
        writeln!(output, "and {} more", open.len() - NAMED)?;
    }
    Ok(())
}

fn part<'a>(row: &'a Row, packed: &Packed) -> Part<'a> {
    let share = share(row, packed);
    Part { path: &row.path, min_bits: row.bits.min, max_bits: row.bits.max, share }
}

/// This part's share of the largest message's bits, from 0 to 1.
fn share(row: &Row, packed: &Packed) -> Option<f64> {
    Some(row.bits.max? as f64 / (8 * packed.max_bytes?) as f64)
}

fn part_cells(row: &Row, packed: &Packed) -> [Cell; 4] {
    let share = share(row, packed).map_or(String::new(), |share| format!("{:.1}", 100.0 * share));
    [
        Cell::new(printable(&row.path)).add_attribute(Attribute::Bold),
        Cell::new(bits(row.bits)),
        Cell::new(share),
        Cell::new(printable(&row.range)),
    ]
}

fn link_cells(link: &Link, carriage: &Carriage) -> [Cell; 5] {
    let limit = limit_text(link);
    let carries = match (carriage.fits_smallest, carriage.fits_largest) {
        _ if !link.has_limit() => Cell::new("?"),
        (true, true) => Cell::new("all").fg(Color::DarkGreen),
        (false, false) => Cell::new("not all").fg(Color::DarkRed),
        (true, false) => Cell::new("not the largest").fg(Color::DarkYellow),
        (false, true) => Cell::new("not the smallest").fg(Color::DarkYellow),
    };
    let eur = match (carriage.min_eur_per_month, carriage.max_eur_per_month) {
        (Some(min), Some(max)) if min == max => format!("{max:.4}"),
        (Some(min), Some(max)) => format!("{min:.4} to {max:.4}"),
        _ => String::new(),
    };
    [
        Cell::new(match &link.ended {
            Some(date) => format!("{} (ended {date})", link.id),
            None => link.id.clone(),
        })
        .add_attribute(Attribute::Bold),
        Cell::new(limit),
        carries,
        Cell::new(eur),
        Cell::new(link.price_text().unwrap_or_default()),
    ]
}
