//! `dunnage schema layout`: shows the bits of a packed message.

use super::{expected, packed::Packed, table};
use crate::{
    failure::{Failure, complain},
    input,
    output::{self, printable},
};
use clap::Args;
use comfy_table::{Attribute, Cell};
use dunnage_packed::{Bits, Row};
use serde::Serialize;
use serde_json::value::RawValue;
use std::io::Write;

/// Show the bits of a packed message
///
/// One row per part, in the order of the message: its first bit, if that is the same in every message, its minimum and
/// maximum bits, the range and step, and the reason. A layout with an unbounded part, or with a largest message above 1024
/// bytes (4096 with x-dunnage-series), is not plain: an adaptive coder writes its parts in fewer bits than shown.
///
/// If the schema has statistics, a second table shows what each field takes in the prior form and in a delta: the bits that
/// the statistics expect, and the most.
#[derive(Args)]
pub struct Show {
    /// A JSON Schema file, the name of a bundled schema, or - for standard input
    #[arg(value_name = "SCHEMA")]
    schema: String,
    #[command(flatten)]
    schemas: input::Schemas,
    /// Print JSON, with the layout as libraries read it
    #[arg(long)]
    json: bool,
}

const COLUMNS: [table::Column; 7] = [
    table::number("at bit"),
    table::text("part"),
    table::text("kind"),
    table::number("bits"),
    table::text("range"),
    table::text("step"),
    table::text("why"),
];

/// The report of `--json`.
#[derive(Serialize)]
struct Report<'a> {
    name: &'a str,
    packed: Packed,
    /// The canonical text of the layout.
    layout: Box<RawValue>,
    /// The numbers of the nodes that a writer rounds.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    rounded: Vec<u32>,
    /// The numbers of the nodes that a writer may leave out, and their ranks.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    dropped: Vec<(u32, u8)>,
    parts: Vec<Part<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    expected: Option<expected::Report>,
}

#[derive(Serialize)]
struct Part<'a> {
    path: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    offset: Option<u64>,
    kind: &'a str,
    min_bits: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_bits: Option<u64>,
    range: &'a str,
    step: &'a str,
    why: &'a str,
}

impl Show {
    pub fn run(self) -> Result<(), Failure> {
        let layout = self.schemas.layout(&self.schema)?;
        let packed = Packed::of(&layout);
        let rows = layout.explain();
        let mut output = output::stdout();
        if self.json {
            let report = Report {
                name: layout.name(),
                packed,
                layout: RawValue::from_string(layout.canonical()).map_err(std::io::Error::from)?,
                rounded: layout.rounded(),
                dropped: layout.dropped(),
                parts: rows.iter().map(part).collect(),
                expected: expected::Report::of(&layout),
            };
            serde_json::to_writer(&mut output, &report).map_err(std::io::Error::from)?;
            writeln!(output)?;
            for part in layout.open_parts() {
                complain(format_args!(
                    "warning: the layout is not plain, and C and TS013 have no code for it: {part}"
                ));
            }
        } else {
            table::write(&mut output, &COLUMNS, rows.iter().map(cells))?;
            writeln!(output, "\n{}", packed.line())?;
            let open = layout.open_parts();
            if !open.is_empty() {
                writeln!(output)?;
            }
            for part in open {
                writeln!(output, "{part}")?;
            }
            expected::write(&mut output, &layout)?;
        }
        Ok(output.flush()?)
    }
}

fn part(row: &Row) -> Part<'_> {
    Part {
        path: &row.path,
        offset: row.offset,
        kind: row.kind,
        min_bits: row.bits.min,
        max_bits: row.bits.max,
        range: &row.range,
        step: &row.step,
        why: &row.why,
    }
}

fn cells(row: &Row) -> [Cell; 7] {
    [
        Cell::new(row.offset.map_or(String::new(), |offset| offset.to_string())),
        Cell::new(printable(&row.path)).add_attribute(Attribute::Bold),
        Cell::new(row.kind),
        Cell::new(bits(row.bits)),
        Cell::new(printable(&row.range)),
        Cell::new(printable(&row.step)),
        Cell::new(printable(&row.why)),
    ]
}

/// For example `14`, `1-15`, or `6-` if there is no maximum.
pub fn bits(bits: Bits) -> String {
    match bits.max {
        Some(max) if max == bits.min => max.to_string(),
        Some(max) => format!("{}-{max}", bits.min),
        None => format!("{}-", bits.min),
    }
}
