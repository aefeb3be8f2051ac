//! Every format on every message of the corpus: sizes, compressed sizes, times.

use dunnage_bench_host::corpus::MessageSet;
use dunnage_bench_record::{Record, Spread};
use dunnage_measure::{Measured, Times, prepare};
use indicatif::{ProgressBar, ProgressStyle};
use std::{error::Error, time::Duration};

/// The name of the suite.
pub const SUITE: &str = "host";

/// Measures all messages, each for `budget`.
pub fn measure(sets: &[MessageSet], budget: Duration) -> Result<Vec<Record>, Box<dyn Error>> {
    let bar = ProgressBar::new(sets.len() as u64)
        .with_style(ProgressStyle::with_template("{pos}/{len} {bar:30} {eta} left, {msg}")?);
    let mut records = Vec::new();
    for set in sets {
        bar.set_message(set.name.clone());
        for row in prepare(&set.messages, Some(&set.model)).measure(budget, |_| ()) {
            match &row.outcome {
                Ok(measured) => figures(set, &row.format, measured, &mut records),
                Err(impossible) => {
                    let reason = impossible.error.to_string();
                    records.push(Record {
                        note: Some(reason),
                        ..record(set, &row.format, "encode", "failed", 1.0, "1")
                    });
                }
            }
        }
        bar.inc(1);
    }
    bar.finish_and_clear();
    Ok(records)
}

/// A record of one of our formats.
pub fn record(
    set: &MessageSet,
    format: &str,
    operation: &str,
    metric: &str,
    value: f64,
    unit: &str,
) -> Record {
    let subject = [set.name.as_str(), format, "dunnage"];
    let record = Record::measured(SUITE, "host", subject, operation, (metric, value, unit));
    Record { options: Some(set.schema.words().to_owned()), ..record.version(env!("CARGO_PKG_VERSION")) }
}

fn figures(set: &MessageSet, format: &str, measured: &Measured, records: &mut Vec<Record>) {
    let mut size = |format: &str, bytes: f64| {
        let record = record(set, format, "encode", "bytes", bytes, "bytes");
        records.push(Record { repetitions: Some(set.messages.len() as u64), ..record });
    };
    size(format, measured.bytes);
    size(&format!("{format}+gzip"), measured.gzip_bytes);
    size(&format!("{format}+zstd"), measured.zstd_bytes);
    if let Some(bytes) = measured.dictionary_bytes {
        size(&format!("{format}+zstd-dictionary"), bytes);
    }
    records.push(record(set, format, "decode", "lossless", f64::from(u8::from(measured.lossless)), "1"));
    records.push(times(set, format, "encode", measured.encode));
    records.push(times(set, format, "decode", measured.decode));
}

fn times(set: &MessageSet, format: &str, operation: &str, times: Times) -> Record {
    spread(record(set, format, operation, "ns", 0.0, "ns"), &times, 1)
}

/// Returns the record with the times of one of `parts` equal parts of a task.
pub fn spread(record: Record, times: &Times, parts: usize) -> Record {
    let tenth = |ns: f64| (ns / parts as f64 * 10.0).round() / 10.0;
    Record {
        value: tenth(times.median_ns),
        repetitions: Some(times.rounds as u64),
        spread: Some(Spread {
            low: tenth(times.low_ns),
            high: tenth(times.high_ns),
            of: "interquartile range".into(),
        }),
        ..record
    }
}
