//! Files with several messages: one per line, or the rows of CSV.

use crate::{
    failure::Failure,
    input::{self, Source},
};
use dunnage_formats::Csv;

/// Whether `bytes`, a file, are CSV with a header.
pub fn are_csv(bytes: &[u8]) -> bool {
    str::from_utf8(bytes).is_ok_and(Csv::has_header)
}

/// Returns the JSON pointers of the columns of CSV that no row has a value in; none if `bytes` are not CSV.
pub fn empty_columns(bytes: &[u8]) -> Vec<String> {
    let text = str::from_utf8(bytes).ok().filter(|text| Csv::has_header(text));
    let csv = text.and_then(|text| Csv::new(text).ok());
    csv.map_or_else(Vec::new, |csv| csv.empty_columns().into_iter().map(str::to_owned).collect())
}

/// Calls `take` with each message of `bytes`, which `source` holds, as JSON text, and with its place: the file and the line.
/// Stops at the first failure.
pub fn each(
    source: &Source,
    bytes: &[u8],
    mut take: impl FnMut(String, &[u8]) -> Result<(), Failure>,
) -> Result<(), Failure> {
    match str::from_utf8(bytes) {
        Ok(text) if Csv::has_header(text) => {
            let failed = |error| Failure::Failed(source.csv_reason(text, &error));
            Csv::new(text).map_err(failed)?.rows().try_for_each(|row| {
                take(format!("{source}: line {}", row.line), row.message.map_err(failed)?.as_bytes())
            })
        }
        _ => each_line(source, bytes, take),
    }
}

fn each_line(
    source: &Source,
    mut reader: &[u8],
    mut take: impl FnMut(String, &[u8]) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let (mut line, mut number) = (Vec::new(), 0u64);
    while let read @ 1.. = input::line(&mut reader, false, &mut line).map_err(|e| source.blame(e))? {
        number += read;
        take(format!("{source}: line {number}"), &line)?;
    }
    Ok(())
}
