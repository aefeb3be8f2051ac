//! `bench/results/load.jsonl`: one record per line, with the results of the last run of every command.

use crate::Failure;
use dunnage_bench_record::{self as record, Record, Spread};

/// Removes the records of all earlier runs, so that the file has those of one run only.
pub fn clear() -> Result<(), Failure> {
    Ok(record::write(&record::results().join("load.jsonl"), &[])?)
}

/// The records of a run.
pub struct Results {
    operation: &'static str,
    records: Vec<Record>,
}

/// The subject of a figure.
pub struct About<'a> {
    /// The number of connections or devices, and of replicas.
    pub target: &'a str,
    pub format: &'a str,
    /// The server, such as `dunnage`, `probe` or `node`.
    pub library: &'a str,
}

impl Results {
    /// Empty results of `operation`. When they are saved, they replace its records in the file.
    pub fn of(operation: &'static str) -> Results {
        Results { operation, records: Vec::new() }
    }

    /// Adds the figure of one run.
    pub fn add(&mut self, about: &About<'_>, metric: &str, value: f64, unit: &str) {
        self.add_runs(about, metric, value, &[value], unit);
    }

    /// Adds the figure that represents several runs, with their range.
    pub fn add_runs(&mut self, about: &About<'_>, metric: &str, value: f64, runs: &[f64], unit: &str) {
        let subject = ["container", about.format, about.library];
        let mut record =
            Record::measured("load", about.target, subject, self.operation, (metric, value, unit));
        if ["dunnage", "probe"].contains(&about.library) {
            record.version = Some(env!("CARGO_PKG_VERSION").into());
        }
        record.repetitions = Some(runs.len() as u64);
        if runs.len() > 1 {
            let low = runs.iter().copied().fold(f64::INFINITY, f64::min);
            let high = runs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            record.spread = Some(Spread { low, high, of: "range".into() });
        }
        self.records.push(record);
    }

    /// Writes the records in place of those of an earlier run.
    pub fn save(self) -> Result<(), Failure> {
        let path = record::results().join("load.jsonl");
        record::update(&path, |old| old.operation == self.operation, self.records)?;
        Ok(())
    }
}
