//! Prints a record per format and message of the corpus: the most memory on the heap while one message is encoded or decoded.
//!
//! It is a program of its own, because the allocator that counts would slow down the measurement of times.

#![allow(clippy::expect_used)]

use dunnage_bench_host::corpus::{MessageSet, message_sets};
use dunnage_bench_record::Record;
use dunnage_measure::candidates;
use peak_alloc::PeakAlloc;
use std::{error::Error, hint::black_box};

#[global_allocator]
static ALLOCATOR: PeakAlloc = PeakAlloc;

fn main() -> Result<(), Box<dyn Error>> {
    for set in message_sets()? {
        for candidate in candidates(Some(&set.model)) {
            let Ok(codec) = candidate.codec else { continue };
            let message = &set.messages[0];
            let mut bytes = Vec::new();
            if codec.encode(message, &mut bytes).is_err() {
                continue;
            }
            let encode = peak(|| {
                let mut out = Vec::new();
                codec.encode(message, &mut out).expect("it was encoded before");
                black_box(out);
            });
            let decode = peak(|| drop(black_box(codec.decode(&bytes))));
            print(&set, &candidate.name, "encode", encode)?;
            print(&set, &candidate.name, "decode", decode)?;
        }
    }
    Ok(())
}

/// Returns the most memory that `task` allocates at once, in bytes. The first call fills caches that stay allocated.
fn peak(task: impl Fn()) -> usize {
    task();
    let before = ALLOCATOR.current_usage();
    ALLOCATOR.reset_peak_usage();
    task();
    ALLOCATOR.peak_usage() - before
}

fn print(set: &MessageSet, format: &str, operation: &str, bytes: usize) -> Result<(), Box<dyn Error>> {
    let subject = [set.name.as_str(), format, "dunnage"];
    let record = Record::measured("host", "host", subject, operation, ("alloc", bytes as f64, "bytes"));
    let record = Record {
        options: Some(set.schema.words().to_owned()),
        repetitions: Some(1),
        ..record.version(env!("CARGO_PKG_VERSION"))
    };
    println!("{}", serde_json::to_string(&record)?);
    Ok(())
}
