//! The quoted figures of other libraries: `reference/*.csv`, see its README.

use crate::{Failure, results::Row, shape::Floats};
use serde::Deserialize;

const PEERS: &str = include_str!("../reference/peers.csv");
const NEWEST: &str = include_str!("../reference/newest.csv");
const PAPER: &str = include_str!("../reference/paper.csv");

/// The prefix of the notes in `newest.csv`.
pub const ONE_RUN: &str = "one run";

/// The payload of rows with the average over the tests of the paper, where only the average is known.
pub const AVERAGE: &str = "average";

/// The prefix of the note of a decoder that fills a document or a struct, which is comparable with `bind`.
pub const FILLS: &str = "fills a ";

/// The library of the paper's Table 4.
pub const PAPER_LIBRARY: &str = "paper";

#[derive(Deserialize)]
struct Line {
    target: String,
    payload: String,
    format: String,
    library: String,
    version: String,
    operation: String,
    metric: String,
    value: f64,
    unit: String,
    options: String,
    note: Option<String>,
}

/// All quoted figures. Fails if a file cannot be parsed.
pub fn rows() -> Result<Vec<Row>, Failure> {
    let mut rows = parse(PEERS)?;
    rows.extend(parse(NEWEST)?);
    rows.extend(parse(PAPER)?);
    Ok(rows)
}

fn parse(text: &str) -> Result<Vec<Row>, Failure> {
    csv::Reader::from_reader(text.as_bytes()).deserialize().map(|line| Ok(row(line?))).collect()
}

fn row(line: Line) -> Row {
    Row {
        suite: "mcu".into(),
        target: line.target,
        payload: line.payload,
        format: line.format,
        library: line.library,
        version: line.version,
        operation: line.operation,
        metric: line.metric,
        value: line.value,
        unit: line.unit,
        source: "reference".into(),
        options: line.options,
        floats: Floats::Single,
        note: line.note,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::summary::AVERAGED;

    fn average(rows: &[Row], library: &str, version: &str, format: &str, operation: &str) -> f64 {
        let of = |payload: &&str| {
            let same = |row: &&Row| {
                (&*row.target, &*row.payload, &*row.metric) == ("atmega328p", *payload, "cycles")
                    && (&*row.library, &*row.version, &*row.format) == (library, version, format)
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
        let rows = rows().expect("the files can be read");
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
        let rows = rows().expect("the files can be read");
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
        let rows = rows().expect("the files can be read");
        assert!(
            rows.iter().all(|row| row.source == "reference" && row.value > 0.0 && row.library != "dunnage")
        );
        assert!(parse("target,payload\natmega328p,Test01\n").is_err());
    }
}
