//! The size of each field of a message, as the statistics of the schema predict it.

use super::table;
use crate::{failure::Failure, output::printable};
use dunnage_packed::{Expected, ExpectedBits, ExpectedPart, Layout};
use serde::Serialize;
use std::io::Write;

/// The member `expected` of `--json`. Bits and bytes are rounded to tenths.
#[derive(Serialize)]
pub struct Report {
    prior_bytes: f64,
    delta_bytes: f64,
    parts: Vec<Part>,
}

#[derive(Serialize)]
struct Part {
    path: String,
    prior_bits: f64,
    max_prior_bits: f64,
    delta_bits: f64,
    max_delta_bits: f64,
}

impl Report {
    /// Returns the report, if the schema has statistics.
    pub fn of(layout: &Layout) -> Option<Report> {
        let Expected { parts, prior_bytes, delta_bytes, .. } = layout.expected()?;
        let part = |ExpectedPart { path, prior, delta, .. }: ExpectedPart| Part {
            path,
            prior_bits: tenths(prior.mean),
            max_prior_bits: tenths(prior.max),
            delta_bits: tenths(delta.mean),
            max_delta_bits: tenths(delta.max),
        };
        Some(Report {
            prior_bytes: tenths(prior_bytes),
            delta_bytes: tenths(delta_bytes),
            parts: parts.into_iter().map(part).collect(),
        })
    }
}

const COLUMNS: [table::Column; 5] = [
    table::text("with statistics"),
    table::number("prior"),
    table::number("at most"),
    table::number("delta"),
    table::number("at most"),
];

/// Writes the bits of each field and the bytes of a message, after an empty line, if the schema has statistics.
pub fn write(output: &mut impl Write, layout: &Layout) -> Result<(), Failure> {
    let Some(expected) = layout.expected() else { return Ok(()) };
    let bits = |bits: ExpectedBits| [format!("{:.1}", bits.mean), format!("{:.1}", bits.max)];
    let rows = expected.parts.iter().map(|part| {
        let ([prior, max_prior], [delta, max_delta]) = (bits(part.prior), bits(part.delta));
        [printable(&part.path).to_string(), prior, max_prior, delta, max_delta]
    });
    writeln!(output)?;
    table::write(output, &COLUMNS, rows)?;
    writeln!(
        output,
        "\nexpected: {:.1} bytes in the prior form, {:.1} as a delta, if messages are like those of the training",
        expected.prior_bytes, expected.delta_bytes
    )?;
    Ok(())
}

fn tenths(number: f64) -> f64 {
    (10.0 * number).round() / 10.0
}
