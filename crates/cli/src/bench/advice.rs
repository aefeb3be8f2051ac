//! Recommendations that follow from the figures.

use super::{Outcome, needs_schema, numbers::time};
use crate::output::bytes;
use dunnage_measure::{Measured, Row};

/// A format that is at most this much larger than the smallest counts as equally small.
const CLOSE: f64 = 1.05;

/// Returns the recommendation, one sentence per entry.
pub fn sentences(outcome: &Outcome) -> Vec<String> {
    let lossless = lossless(outcome, |_| true);
    let Some(&smallest) = lossless.first() else { return Vec::new() };
    let close: Vec<_> = lossless.iter().filter(|(_, m)| m.bytes <= CLOSE * smallest.1.bytes).collect();
    let choice = close.iter().min_by(|a, b| total(a.1).total_cmp(&total(b.1))).map_or(smallest, |&&row| row);
    let mut sentences = vec![format!(
        "Smallest: {} with {} B, {:.0} % of compact JSON.{}",
        smallest.0,
        bytes(smallest.1.bytes),
        100.0 * smallest.1.bytes / outcome.json_bytes,
        match choice.0 == smallest.0 {
            true => String::new(),
            false => format!(" {} is within 5 % of it, and faster: use {0}.", choice.0),
        }
    )];
    if let Some(fastest) = lossless.iter().min_by(|a, b| total(a.1).total_cmp(&total(b.1))) {
        sentences.push(format!(
            "Fastest: {}, which encodes in {} and decodes in {}.",
            fastest.0,
            time(fastest.1.encode),
            time(fastest.1.decode)
        ));
    }
    let without_schema = self::lossless(outcome, |row| !needs_schema(&row.format));
    sentences.push(match (outcome.has_schema, without_schema.first()) {
        (true, Some((name, measured))) => {
            format!("Without a schema, {name} is the smallest: {} B.", bytes(measured.bytes))
        }
        (true, None) => "No format without a schema carries the messages without loss.".to_owned(),
        (false, _) => {
            "Formats that need a schema are not measured: `dunnage schema infer` writes one, --schema uses it."
                .to_owned()
        }
    });
    sentences.extend(compression(&lossless));
    sentences
}

/// The formats that `keep` selects and that carry all messages without loss, smallest first.
fn lossless(outcome: &Outcome, keep: impl Fn(&Row) -> bool) -> Vec<(&str, &Measured)> {
    let rows = outcome.rows.iter().filter(|row| keep(row));
    let measured = rows.filter_map(|row| Some((row.format.as_str(), row.outcome.as_ref().ok()?)));
    measured.filter(|(_, measured)| measured.lossless).collect()
}

fn total(measured: &Measured) -> f64 {
    measured.encode.median_ns + measured.decode.median_ns
}

/// The smallest compressed format, if compression makes anything smaller than the smallest format.
fn compression(lossless: &[(&str, &Measured)]) -> Option<String> {
    let smallest = lossless.first()?.1.bytes;
    let compressed = lossless.iter().flat_map(|(name, measured)| {
        let with_dictionary = measured.dictionary_bytes.map(|bytes| (bytes, *name, "zstd and a dictionary"));
        [(measured.gzip_bytes, *name, "gzip"), (measured.zstd_bytes, *name, "zstd")]
            .into_iter()
            .chain(with_dictionary)
    });
    let best = compressed.min_by(|a, b| a.0.total_cmp(&b.0))?;
    Some(match best.0 < smallest {
        true => format!("Compression helps: {} with {} takes {} B.", best.1, best.2, bytes(best.0)),
        false => {
            format!("Compression does not help: every compressed format is larger than {}.", lossless[0].0)
        }
    })
}
