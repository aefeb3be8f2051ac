//! The quoted figures of other libraries: `reference/*.jsonl`, see its README, and Table 4 of the PSON paper.

use crate::{Failure, results, shape::Floats};
use dunnage_bench_record::Record;
use std::path::Path;

/// The prefix of the notes in `newest.jsonl`.
pub const ONE_RUN: &str = "one run";

/// The payload of rows with the average over the tests of the paper, where only the average is known.
pub const AVERAGE: &str = "average";

/// The prefix of the note of a decoder that fills a document or a struct, which is comparable with `bind`.
pub const FILLS: &str = "fills a ";

/// The library of the paper's Table 4.
pub const PAPER_LIBRARY: &str = "paper";

/// The cycles of an Arduino UNO, which runs at 16 MHz, in one microsecond of Table 4, which counts 1000 operations.
pub const CYCLES_PER_MICROSECOND: f64 = 16.0 / 1000.0;

/// All results of the libraries so far, and the quoted figures that they are compared with.
pub fn beside_results() -> Result<Vec<Record>, Failure> {
    let mut figures = results::measured()?;
    figures.extend(records()?);
    Ok(figures)
}

/// All quoted figures. Fails if a file cannot be read.
pub fn records() -> Result<Vec<Record>, Failure> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("reference");
    let mut records = dunnage_bench_record::read(&folder.join("peers.jsonl"))?;
    records.extend(dunnage_bench_record::read(&folder.join("newest.jsonl"))?);
    records.extend(table_4()?);
    Ok(records)
}

/// Table 4 of the paper, in cycles of one operation.
fn table_4() -> Result<Vec<Record>, Failure> {
    let mut records = results::quoted("pson-paper")?;
    records.retain(|r| r.target == "arduino-uno" && r.metric == "time" && r.payload != AVERAGE);
    for record in &mut records {
        record.suite = "mcu".into();
        record.target = "atmega328p".into();
        record.library = PAPER_LIBRARY.into();
        record.version = Some("2021".into());
        record.metric = "cycles".into();
        record.unit = "cycles".into();
        record.value *= CYCLES_PER_MICROSECOND;
        record.floats = Some(Floats::Single.name().into());
    }
    Ok(records)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{results::Source, summary::AVERAGED};

    fn average(rows: &[Record], library: &str, version: &str, format: &str, operation: &str) -> f64 {
        let of = |payload: &&str| {
            let same = |row: &&Record| {
                (&*row.target, &*row.payload, &*row.metric) == ("atmega328p", *payload, "cycles")
                    && (&*row.library, row.version.as_deref(), &*row.format)
                        == (library, Some(version), format)
                    && row.operation == operation
            };
            let found: Vec<_> = rows.iter().filter(same).collect();
            assert_eq!(found.len(), 1, "{library} {version} {operation} {payload}");
            found[0].value
        };
        AVERAGED.iter().map(of).sum::<f64>() / AVERAGED.len() as f64
    }

    /// The averages were published beside the figures; they show that no figure was lost or mistyped.
    #[test]
    fn the_averages_match_those_published_with_the_figures() {
        let rows = records().expect("the files can be read");
        for (library, version, format, encode, decode) in [
            ("arduinojson", "6.18", "json", 17125.0, 7126.0),
            ("arduinojson", "6.18", "msgpack", 2068.0, 3641.0),
            ("protoson", "6053725", "pson-v1", 10300.0, 4396.0),
            ("thinger-pson", "2026-11", "pson", 2427.0, 2871.0),
            ("nanocbor", "2026-11", "cbor", 3999.0, 5641.0),
            ("tinycbor", "7.0", "cbor", 2753.0, 7423.0),
            ("cmp", "20", "msgpack", 1996.0, 3298.0),
            ("mpack", "1.1.1", "msgpack", 943.0, 2829.0),
            ("nanopb", "0.4.7", "protobuf", 4950.0, 6565.0),
        ] {
            assert!((average(&rows, library, version, format, "encode") - encode).abs() <= 0.5, "{library}");
            assert!((average(&rows, library, version, format, "decode") - decode).abs() <= 0.5, "{library}");
        }
        let zero_copy = average(&rows, "arduinojson (zero-copy)", "6.18", "msgpack", "decode");
        assert!((zero_copy - 2801.0).abs() <= 0.5);
        assert!((average(&rows, "arduinojson", "7.2", "msgpack", "encode") - 3652.0).abs() <= 0.5);
    }

    /// Table 4's own averages, in cycles.
    #[test]
    fn the_papers_averages_are_reproduced() {
        let rows = records().expect("the files can be read");
        for (format, serialize, deserialize) in
            [("json", 18474.712, 6769.528), ("msgpack", 3337.44, 3508.232), ("pson", 2010.736, 5190.496)]
        {
            let average = |operation| average(&rows, PAPER_LIBRARY, "2021", format, operation);
            assert!((average("serialize") - serialize).abs() < 0.01, "{format}");
            assert!((average("deserialize") - deserialize).abs() < 0.01, "{format}");
        }
    }

    #[test]
    fn every_figure_is_marked_and_positive() {
        let rows = records().expect("the files can be read");
        assert!(
            rows.iter()
                .all(|row| row.source == Source::Quoted && row.value > 0.0 && row.library != "dunnage")
        );
        assert_eq!(rows.len(), 210 + 131 + 48);
    }
}
