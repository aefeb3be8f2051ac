//! The files of the results: `bench/results/*.jsonl`, and the figures quoted from papers: `bench/papers/*.jsonl`.

use crate::{Failure, board::Board, toolchain::run};
pub use dunnage_bench_record::{Record, Source};
use std::{
    collections::HashSet,
    path::{Path, PathBuf},
};

/// The fields that the records of a board's figures share.
#[derive(Debug, Clone)]
pub struct Origin {
    target: &'static str,
    environment: String,
    options: String,
    floats: &'static str,
}

impl Origin {
    /// Figures of firmware for `board`, compiled with `options`. Fails if the compiler or the simulator does not tell its version.
    pub fn new(board: &dyn Board, options: &str) -> Result<Origin, Failure> {
        let mut compiler = board.compiler();
        let name = Path::new(compiler.get_program()).file_name().unwrap_or_default();
        let name = name.to_string_lossy().into_owned();
        let version = run(compiler.arg("-dumpfullversion"))?;
        let simulator = board.simulator().map(|simulator| simulator.name()).transpose()?;
        let tools = simulator.into_iter().chain([format!("{name} {}", version.trim())]);
        Ok(Origin {
            target: board.target(),
            environment: tools.collect::<Vec<_>>().join(", "),
            options: options.into(),
            floats: board.floats().name(),
        })
    }

    /// A figure of `suite`: of a payload, a format and a library. The figure is a metric, a value and a unit.
    pub fn record(
        &self,
        suite: &str,
        subject: [&str; 3],
        operation: &str,
        figure: (&str, f64, &str),
    ) -> Record {
        let mut record = Record::measured(suite, self.target, subject, operation, figure);
        // Simulated firmware gives the same figure each time.
        record.repetitions = Some(1);
        record.environment = Some(self.environment.clone());
        record.options = Some(self.options.clone());
        record.floats = Some(self.floats.into());
        record
    }
}

/// The file of the results of `suite`.
pub fn path(suite: &str) -> PathBuf {
    bench().join("results").join(suite).with_extension("jsonl")
}

/// The folder `bench`.
pub fn bench() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
}

/// All results of the libraries so far.
pub fn measured() -> Result<Vec<Record>, Failure> {
    Ok(dunnage_bench_record::read(&path("mcu"))?)
}

/// Replaces the results of the same target, library, options and floats with `records`.
pub fn replace(records: Vec<Record>) -> Result<(), Failure> {
    let key = |r: &Record| (r.target.clone(), r.library.clone(), r.options.clone(), r.floats.clone());
    let new: HashSet<_> = records.iter().map(key).collect();
    dunnage_bench_record::update(&path("mcu"), |old| new.contains(&key(old)), records)?;
    Ok(())
}

/// Writes `records` as the results of `suite`.
pub fn write(suite: &str, records: &[Record]) -> Result<(), Failure> {
    Ok(dunnage_bench_record::write(&path(suite), records)?)
}

/// The figures that `bench/papers` quotes for `suite`. Fails if there are none.
pub fn quoted(suite: &str) -> Result<Vec<Record>, Failure> {
    let path = bench().join("papers").join(suite).with_extension("jsonl");
    let records = dunnage_bench_record::read(&path)?;
    if records.is_empty() { Err(format!("{}: no figures", path.display()).into()) } else { Ok(records) }
}
