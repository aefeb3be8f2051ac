//! The suites that repeat two published studies: `pson-paper` and `mcu-json`.
//!
//! They measure each format with the libraries that this project can build, on boards that hold the same values: with exact floats on 32 bits,
//! because JSON has no others there, and with binary32 on AVR, which has no others either.

pub mod json;
mod json_table;
pub mod paper;
mod paper_tables;
mod sizes;
mod table_2;

use crate::{
    Failure, arm, avr,
    board::Board,
    library::Library,
    lx106,
    measure::{self, Measured},
    payloads::Group,
    results::Record,
    riscv,
    shape::Floats,
};
use rayon::prelude::*;

/// The boards with the floats that the suites compare.
fn boards() -> Result<Vec<Box<dyn Board>>, Failure> {
    let mut boards: Vec<Box<dyn Board>> = vec![Box::new(avr::Avr::new()?)];
    boards.extend(arm::boards().map(|board| Box::new(board) as Box<dyn Board>));
    boards.extend(riscv::boards().map(|board| Box::new(board) as Box<dyn Board>));
    boards.extend(lx106::boards()?.map(|board| Box::new(board) as Box<dyn Board>));
    boards.retain(|board| board.target() == avr::TARGET || board.floats() == Floats::Lossless);
    Ok(boards)
}

/// Our library and the peers of these formats, with the operations that the suites compare.
fn libraries(formats: &[&str]) -> Result<Vec<Library>, Failure> {
    let mut libraries = vec![Library::ours()?];
    libraries.extend(Library::peers()?);
    libraries.retain(|library| formats.contains(&library.format.as_str()));
    for library in &mut libraries {
        library.operations.retain(|operation| ["encode", "decode", "bind"].contains(&operation.as_str()));
    }
    Ok(libraries)
}

/// Measures every library on every board that can build it.
fn measure(
    suite: &str,
    boards: &[Box<dyn Board>],
    libraries: &[Library],
    groups: &[Group],
    options: &[&str],
) -> Result<Measured, Failure> {
    let mut jobs = Vec::new();
    for board in boards {
        let builds = |library: &&Library| {
            let own = |name: &String| name == board.c_library();
            library.c_libraries.is_empty() || library.c_libraries.iter().any(own)
        };
        for library in libraries.iter().filter(builds) {
            jobs.extend(options.iter().map(|options| (board, library, options)));
        }
    }
    println!("{suite}: measuring {} libraries on {} boards", libraries.len(), boards.len());
    let parts: Vec<_> = jobs
        .par_iter()
        .map(|(board, library, options)| measure::measure(&***board, library, groups, options))
        .collect();
    let mut all = Measured::default();
    for part in parts {
        let part = part?;
        all.rows.extend(part.rows.into_iter().map(|row| renamed(suite, row)));
        all.failures.extend(part.failures);
    }
    Ok(all)
}

/// The record of `suite`, with the names of the studies: they serialize and deserialize.
fn renamed(suite: &str, mut record: Record) -> Record {
    record.suite = suite.into();
    record.operation = record.operation.replace("encode", "serialize").replace("decode", "deserialize");
    if record.operation == "deserialize" && record.note.is_none() {
        record.note = Some("walks every value".into());
    }
    record
}

/// Looks up a figure among records with the same options.
fn figure(
    records: &[Record],
    target: &str,
    library: &str,
    payload: &str,
    operation: &str,
    metric: &str,
) -> Option<f64> {
    let same = |r: &&Record| {
        (r.target.as_str(), r.library.as_str(), r.payload.as_str()) == (target, library, payload)
            && (r.operation.as_str(), r.metric.as_str()) == (operation, metric)
    };
    records.iter().find(same).map(|record| record.value)
}
