//! Reads the measurements of `cargo bench -p dunnage-bench-host`, prints ratios and writes `bench/results/host.jsonl`.

mod measurements;
mod table;

use dunnage_bench_host::schema_driven::{PEER, SCHEMAS, codecs};
use dunnage_bench_host::{for_each_library, for_each_payload, libraries::*, payloads::*};
use measurements::Measurements;
use serde_json::json;
use std::{error::Error, fs, io::Write, path::Path};
use table::{Row, print};

const RESULTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../results");
const LOCK: &str = include_str!("../../../Cargo.lock");

fn main() -> Result<(), Box<dyn Error>> {
    let measurements = Measurements::find()?;
    let mut lines = Vec::new();
    for operation in ["encode", "decode"] {
        let mut rows = Vec::new();
        macro_rules! with {
            ($payload:ident) => {
                rows.push(payload_row::<$payload>(&measurements, operation, &mut lines)?);
            };
        }
        for_each_payload!(with);
        print(operation, &rows);
    }
    sizes(&mut lines);
    schema_driven(&measurements, &mut lines)?;
    fs::create_dir_all(RESULTS)?;
    let path = Path::new(RESULTS).join("host.jsonl");
    let mut file = fs::File::create(&path)?;
    for line in &lines {
        writeln!(file, "{line}")?;
    }
    println!("{} results in bench/results/host.jsonl", lines.len());
    Ok(())
}

/// Returns the times of every library for one payload, and appends them to `lines`.
fn payload_row<P: Payload>(
    measurements: &Measurements,
    operation: &str,
    lines: &mut Vec<serde_json::Value>,
) -> Result<Row, Box<dyn Error>> {
    let mut row = Row { payload: P::NAME, times: Vec::new() };
    macro_rules! with {
        ($library:ident) => {
            let time = measurements.fastest(operation, P::NAME, $library::NAME)?;
            row.times.push(($library::NAME, time));
            lines.push(line::<$library>(P::NAME, operation, "ns", (time * 10.0).round() / 10.0));
        };
    }
    for_each_library!(with);
    Ok(row)
}

fn sizes(lines: &mut Vec<serde_json::Value>) {
    fn add<P: Payload>(lines: &mut Vec<serde_json::Value>) {
        let message = P::load();
        macro_rules! with {
            ($library:ident) => {
                let mut out = Vec::new();
                $library::encode(&message, &mut out);
                lines.push(line::<$library>(P::NAME, "encode", "bytes", out.len()));
            };
        }
        for_each_library!(with);
    }
    macro_rules! with {
        ($payload:ident) => {
            add::<$payload>(lines);
        };
    }
    for_each_payload!(with);
}

/// Prints the times of the schema-driven codecs, and appends their times and sizes to `lines`.
fn schema_driven(
    measurements: &Measurements,
    lines: &mut Vec<serde_json::Value>,
) -> Result<(), Box<dyn Error>> {
    for operation in ["encode", "decode"] {
        let mut rows = Vec::new();
        for payload in SCHEMAS {
            let mut times = Vec::new();
            for codec in codecs(payload).1 {
                let time = measurements.fastest(&format!("schema-{operation}"), payload, codec.name)?;
                times.push((codec.name, time));
                let name = if codec.name == PEER { "protobuf" } else { codec.name };
                let format = name.strip_prefix("dunnage-").unwrap_or(name);
                let library = if [PEER, "dunnage-packed"].contains(&codec.name) {
                    codec.name
                } else {
                    "dunnage-formats"
                };
                lines.push(result((payload, format, library), operation, "ns", (time * 10.0).round() / 10.0));
                if operation == "encode" {
                    lines.push(result((payload, format, library), operation, "bytes", codec.bytes.len()));
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

/// A line of the results; `metric` is also its unit.
fn line<L: Library>(
    payload: &str,
    operation: &str,
    metric: &str,
    value: impl Into<serde_json::Value>,
) -> serde_json::Value {
    result((payload, L::FORMAT, L::NAME), operation, metric, value)
}

/// Like [`line`], for a library given by name.
fn result(
    (payload, format, library): (&str, &str, &str),
    operation: &str,
    metric: &str,
    value: impl Into<serde_json::Value>,
) -> serde_json::Value {
    json!({
        "suite": "host",
        "target": format!("{}-{}", std::env::consts::ARCH, std::env::consts::OS),
        "payload": payload,
        "format": format,
        "library": library,
        "version": version(library),
        "operation": operation,
        "metric": metric,
        "value": value.into(),
        "unit": metric,
        "source": "measured",
    })
}

/// The version of the crate `name` in this build's lock file; `unknown` if the lock file does not list it.
fn version(name: &str) -> &'static str {
    let package = format!("name = \"{name}\"\nversion = \"");
    let version = LOCK.split_once(&package).and_then(|(_, rest)| rest.split('"').next());
    version.unwrap_or("unknown")
}
