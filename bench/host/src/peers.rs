//! The codecs and their peers: the serde codecs, and with `cargo bench -p dunnage-bench-host` the codecs that use a schema at run time.

use crate::{
    formats::SUITE,
    measurements::{Measurements, Time, Times},
    table::{Row, print},
    versions::version,
};
use dunnage_bench_host::schema_driven::{PEER, SCHEMAS, codecs};
use dunnage_bench_host::{for_each_library, for_each_payload, libraries::*, payloads::*};
use dunnage_bench_record::{Record, Spread};
use std::error::Error;

/// Prints the ratios of the `times` of the serde codecs, and those of the codecs that criterion has measured.
pub fn measured(times: &Times) -> Result<Vec<Record>, Box<dyn Error>> {
    let measurements = Measurements::find()?;
    let mut records = Vec::new();
    for operation in ["encode", "decode"] {
        let mut rows = Vec::new();
        macro_rules! with {
            ($payload:ident) => {
                rows.push(payload_row::<$payload>(times, operation, &mut records)?);
            };
        }
        for_each_payload!(with);
        print(operation, &rows);
    }
    sizes(&mut records);
    schema_driven(&measurements, &mut records)?;
    Ok(records)
}

/// Returns the times of every library for one payload, and appends them to `records`.
fn payload_row<P: Payload>(
    times: &Times,
    operation: &str,
    records: &mut Vec<Record>,
) -> Result<Row, Box<dyn Error>> {
    let mut row = Row { payload: P::NAME, times: Vec::new() };
    macro_rules! with {
        ($library:ident) => {
            let time = times.time(operation, P::NAME, $library::NAME)?;
            row.times.push(($library::NAME, time.fastest_ns));
            records.push(timed(typed::<$library>(P::NAME), operation, time));
        };
    }
    for_each_library!(with);
    Ok(row)
}

fn sizes(records: &mut Vec<Record>) {
    fn add<P: Payload>(records: &mut Vec<Record>) {
        let message = P::load();
        macro_rules! with {
            ($library:ident) => {
                let mut out = Vec::new();
                $library::encode(&message, &mut out);
                records.push(record(
                    typed::<$library>(P::NAME),
                    "encode",
                    ("bytes", out.len() as f64, "bytes"),
                ));
            };
        }
        for_each_library!(with);
    }
    macro_rules! with {
        ($payload:ident) => {
            add::<$payload>(records);
        };
    }
    for_each_payload!(with);
}

/// Prints the times of the schema-driven codecs, and appends the times and sizes of packed and prost-reflect to `records`.
fn schema_driven(measurements: &Measurements, records: &mut Vec<Record>) -> Result<(), Box<dyn Error>> {
    for operation in ["encode", "decode"] {
        let mut rows = Vec::new();
        for payload in SCHEMAS {
            let mut times = Vec::new();
            for codec in codecs(payload).1 {
                let time = measurements.time(&format!("schema-{operation}"), payload, codec.name)?;
                times.push((codec.name, time.fastest_ns));
                // The other formats are measured on the whole corpus.
                let format = match codec.name {
                    PEER => "protobuf",
                    "dunnage-packed" => "packed",
                    _ => continue,
                };
                let subject = Subject { payload, format, library: codec.name, options: "schema at run time" };
                records.push(timed(subject, operation, time));
                if operation == "encode" {
                    let bytes = codec.bytes.len() as f64;
                    records.push(record(subject, operation, ("bytes", bytes, "bytes")));
                }
            }
            rows.push(Row { payload, times });
        }
        print(operation, &rows);
        for row in &rows {
            let (ours, theirs) = (row.times[0].1, row.times[1].1);
            println!(
                "{operation} {}: {PEER} takes {:.2} times as long as packed",
                row.payload,
                theirs / ours
            );
        }
        println!();
    }
    Ok(())
}

/// The subject of a record.
#[derive(Clone, Copy)]
struct Subject<'a> {
    payload: &'a str,
    format: &'a str,
    library: &'a str,
    options: &'a str,
}

/// A library that encodes and decodes structs.
fn typed<L: Library>(payload: &str) -> Subject<'_> {
    Subject { payload, format: L::FORMAT, library: L::NAME, options: "typed structs" }
}

fn record(subject: Subject<'_>, operation: &str, figure: (&str, f64, &str)) -> Record {
    let Subject { payload, format, library, options } = subject;
    let record = Record::measured(SUITE, "host", [payload, format, library], operation, figure);
    Record { options: Some(options.to_owned()), ..record.version(version(library)) }
}

fn timed(subject: Subject<'_>, operation: &str, time: Time) -> Record {
    let tenth = |ns: f64| (ns * 10.0).round() / 10.0;
    let (low, high) = (tenth(time.fastest_ns), tenth(time.slowest_ns));
    Record {
        repetitions: Some(time.samples as u64),
        spread: Some(Spread { low, high, of: "range, and the value is the fastest sample".into() }),
        ..record(subject, operation, ("ns", low, "ns"))
    }
}
