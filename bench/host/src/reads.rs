//! Reads of a single value of a message.

use crate::{
    formats::{SUITE, spread},
    table,
    versions::version,
};
use dunnage_bench_host::{
    access::{Access, Leaf, MESSAGES, Step, accesses, expected, paths},
    corpus::MessageSet,
};
use dunnage_bench_record::Record;
use dunnage_measure::{Task, measure as time};
use std::{error::Error, hint::black_box, time::Duration};

/// Measures the reads of each value for `budget`, and prints them. Fails if a read finds another value than the message has.
pub fn measure(sets: &[MessageSet], budget: Duration) -> Result<Vec<Record>, Box<dyn Error>> {
    let mut records = Vec::new();
    for set in sets.iter().filter(|set| MESSAGES.contains(&set.name.as_str())) {
        for (operation, path) in paths(&set.messages[0]) {
            let accesses = accesses(set, &path)?;
            for access in &accesses {
                check(set, access, &path)?;
            }
            let mut tasks: Vec<Task<'_>> = accesses.iter().map(task).collect();
            let times = time(&mut tasks, budget, |_| ());
            for (access, times) in accesses.iter().zip(&times) {
                let record = record(set, access, operation, &path);
                records.push(spread(record, times, 1));
            }
        }
    }
    table::print_reads(&records);
    Ok(records)
}

fn check(set: &MessageSet, access: &Access, path: &[Step]) -> Result<(), Box<dyn Error>> {
    let expected = expected(set, access.format, path);
    let mut is_right = false;
    (access.read)(&access.bytes, &mut |leaf| is_right = expected.as_ref().and_then(Leaf::of) == Some(leaf));
    match is_right {
        true => Ok(()),
        false => Err(format!("{} {}: {} reads another value", set.name, pointer(path), access.format).into()),
    }
}

fn task(access: &Access) -> Task<'_> {
    Box::new(|| {
        (access.read)(black_box(access.bytes.as_slice()), &mut |leaf| {
            black_box(leaf);
        });
    })
}

fn record(set: &MessageSet, access: &Access, operation: &str, path: &[Step]) -> Record {
    let subject = [set.name.as_str(), access.format, access.library];
    let record = Record::measured(SUITE, "host", subject, operation, ("ns", 0.0, "ns"));
    let version = match access.library {
        "dunnage" => env!("CARGO_PKG_VERSION"),
        library => version(library),
    };
    Record { options: Some(pointer(path)), note: Some(access.note.to_owned()), ..record.version(version) }
}

/// Returns the JSON pointer of a path.
fn pointer(path: &[Step]) -> String {
    let step = |step: &Step| match step {
        Step::Key(key) => format!("/{key}"),
        Step::Index(at) => format!("/{at}"),
    };
    path.iter().map(step).collect()
}
