//! The tables of the paper about containers that bytes and prices decide: 1 (limits of links), 2 (sizes) and 7 (costs). `fleet` measures tables 3
//! to 6.

use crate::{Failure, payload, report::Report};
use dunnage_bench_record::{self as record, Record, Spread};
use dunnage_formats::{Format, Id, Mapping, Value};
use dunnage_links::{Link, table_7};
use dunnage_measure::separators;
use dunnage_schema::{Model, bundled_named};
use std::collections::BTreeMap;

/// The name of the suite.
const SUITE: &str = "container";
/// A message with the paper's 20 fields, which takes the paper's 418 bytes as JSON with spaces after commas and colons. The paper does not
/// print its own.
const MESSAGE: &str = include_str!("../../corpus/container.json");
/// The fleet of table 7.
const DEVICES: u64 = 10_000;
const PER_DAY: f64 = 4.0;
/// The links of table 1.
const LINKS: [&str; 5] = ["astrocast", "iridium-sbd-mo", "iridium-sbd-mt", "orbcomm", "kineis"];
/// The formats of table 2, and those that this project adds.
pub const FORMATS: [(&str, Id, Mapping); 10] = [
    ("json", Id::Json, Mapping::Exact),
    ("msgpack", Id::Msgpack, Mapping::Exact),
    ("cbor", Id::Cbor, Mapping::Exact),
    ("struct-zlib (float32)", Id::StructZlib, Mapping::Float32),
    ("struct (float32)", Id::Struct, Mapping::Float32),
    ("protobuf (float32)", Id::Protobuf, Mapping::Float32),
    ("protobuf", Id::Protobuf, Mapping::Exact),
    ("avro", Id::Avro, Mapping::Exact),
    ("pson", Id::Pson, Mapping::Exact),
    ("packed", Id::Packed, Mapping::Exact),
];

/// Computes tables 1, 2 and 7 and prints them. Writes them and the sizes of `nested` messages to `bench/results/container.jsonl`.
pub fn measure(nested: Vec<Record>, report: &mut Report) -> Result<(), Failure> {
    let mut records = limits()?;
    records.extend(nested);
    let sizes = sizes(&mut records)?;
    report.line("| format | bytes | reduction, % | bytes in a fleet, most frequent (least to most) | fits 160 | MB | EUR, terrestrial | KB | EUR, satellite |");
    report.line("|---|--:|--:|--:|:-:|--:|--:|--:|--:|");
    for size in &sizes {
        let row = table_7(size.bytes, PER_DAY, DEVICES);
        report.line(&format!(
            "| {} | {} | {:.1} | {} ({} to {}) | {} | {} | {} | {} | {} |",
            size.format,
            size.bytes,
            size.reduction,
            size.usual,
            size.least,
            size.most,
            if size.bytes <= 160 { "yes" } else { "no" },
            row.megabytes,
            row.terrestrial_eur,
            row.kilobytes,
            row.satellite_eur
        ));
        costs(size, &mut records)?;
    }
    record::write(&record::results().join("container.jsonl"), &records)?;
    report.line(&format!("\n{} results in bench/results/container.jsonl", records.len()));
    Ok(())
}

/// The sizes of a format.
struct Size {
    format: &'static str,
    /// The size of the message; of JSON with spaces, as the paper counts it.
    bytes: usize,
    /// The share of the JSON that is saved, in percent.
    reduction: f64,
    /// The most frequent size in a simulated fleet, the smallest and the largest.
    usual: usize,
    least: usize,
    most: usize,
}

/// Table 1: the limits of the catalogue.
fn limits() -> Result<Vec<Record>, Failure> {
    let mut records = Vec::new();
    for id in LINKS {
        let link = find(id)?;
        let mut add = |metric: &str, bytes: Option<usize>| {
            let figure = bytes.map(|bytes| (metric, bytes as f64, "bytes"));
            records.extend(figure.map(|figure| new(id, "any", "fit", figure)));
        };
        add("min_bytes", Some(link.min_payload_bytes).filter(|bytes| *bytes > 1));
        add("max_bytes", link.max_payload_bytes);
        add("standard_bytes", link.standard_payload_bytes);
    }
    Ok(records)
}

/// Table 2: the sizes of the message, and of those of a simulated fleet.
fn sizes(records: &mut Vec<Record>) -> Result<Vec<Size>, Failure> {
    let model = Model::compile(bundled_named("container").ok_or("there is no schema for containers")?)?;
    let message = Id::Json.open(None, Mapping::Exact)?.decode(MESSAGE.as_bytes())?;
    let compact = bytes(Id::Json.open(None, Mapping::Exact)?.as_ref(), &message)?;
    let without_spaces = new("host", "json", "encode", ("bytes", compact as f64, "bytes"));
    records.push(Record { options: Some("without spaces".into()), ..without_spaces });
    let json = compact + separators(&message);
    let fleet = payload::messages(1000);
    let mut sizes = Vec::new();
    for (format, id, mapping) in FORMATS {
        let codec = id.open(Some(&model), mapping)?;
        let size = |message: &Value| -> Result<usize, Failure> {
            let spaces = if id == Id::Json { separators(message) } else { 0 };
            Ok(bytes(codec.as_ref(), message)? + spaces)
        };
        let mut counts = BTreeMap::new();
        for (_, message) in &fleet {
            *counts.entry(size(message)?).or_insert(0usize) += 1;
        }
        let usual = counts.iter().max_by_key(|(_, count)| **count).map_or(0, |(bytes, _)| *bytes);
        let (least, most) = (counts.keys().next().copied(), counts.keys().next_back().copied());
        let bytes = size(&message)?;
        let size = Size {
            format,
            bytes,
            reduction: 100.0 * (1.0 - bytes as f64 / json as f64),
            usual,
            least: least.unwrap_or(0),
            most: most.unwrap_or(0),
        };
        record_sizes(&size, fleet.len(), records);
        sizes.push(size);
    }
    Ok(sizes)
}

fn record_sizes(size: &Size, messages: usize, records: &mut Vec<Record>) {
    let bytes = size.bytes as f64;
    records.push(new("host", size.format, "encode", ("bytes", bytes, "bytes")));
    let reduction = (10.0 * size.reduction).round() / 10.0;
    records.push(new("host", size.format, "encode", ("reduction", reduction, "%")));
    let fits = f64::from(u8::from(size.bytes <= 160));
    records.push(new("astrocast", size.format, "fit", ("fits", fits, "1")));
    records.push(Record {
        payload: "container-fleet".into(),
        repetitions: Some(messages as u64),
        spread: Some(Spread { low: size.least as f64, high: size.most as f64, of: "range".into() }),
        note: Some("the most frequent size".into()),
        ..new("host", size.format, "encode", ("bytes", size.usual as f64, "bytes"))
    });
}

/// Table 7: the costs of a month by the paper's own rounding.
fn costs(size: &Size, records: &mut Vec<Record>) -> Result<(), Failure> {
    let row = table_7(size.bytes, PER_DAY, DEVICES);
    for (link, metric, printed, unit) in [
        ("lte-m", "mb", &row.megabytes, "MB"),
        ("lte-m", "eur", &row.terrestrial_eur, "EUR"),
        ("astrocast", "kb", &row.kilobytes, "KB"),
        ("astrocast", "eur", &row.satellite_eur, "EUR"),
    ] {
        let value = printed.replace(',', "").parse()?;
        records.push(new(link, size.format, "month", (metric, value, unit)));
    }
    Ok(())
}

fn find(id: &str) -> Result<&'static Link, Failure> {
    dunnage_links::link(id).ok_or_else(|| format!("the catalogue has no link {id}").into())
}

/// The size of a message in a format.
pub fn bytes(codec: &dyn Format, message: &Value) -> Result<usize, Failure> {
    let mut out = Vec::new();
    codec.encode(message, &mut out)?;
    Ok(out.len())
}

/// A record of the container's message.
pub fn new(target: &str, format: &str, operation: &str, figure: (&str, f64, &str)) -> Record {
    let record = Record::measured(SUITE, target, ["container", format, "dunnage"], operation, figure);
    Record { repetitions: Some(1), ..record.version(env!("CARGO_PKG_VERSION")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Table 2 of the paper prints 418, 301, 298, 127 and 138 bytes. Its CBOR and its struct-zlib are of another message.
    #[test]
    fn the_sizes_are_those_of_table_2_or_occur_in_the_fleet() {
        let sizes = sizes(&mut Vec::new()).expect("sizes");
        for (format, paper, here) in [
            ("json", 418, 418),
            ("msgpack", 301, 301),
            ("cbor", 298, 300),
            ("struct-zlib (float32)", 127, 124),
            ("protobuf (float32)", 138, 138),
        ] {
            let size = sizes.iter().find(|size| size.format == format).expect("a format of table 2");
            assert_eq!(size.bytes, here, "{format}");
            assert!((size.least..=size.most).contains(&paper), "{format}: {} to {}", size.least, size.most);
        }
    }
}
