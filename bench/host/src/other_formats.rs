//! The formats that the project does not have, on every message of the corpus and on small messages that show what they can carry.

use crate::{
    formats::{SUITE, spread},
    versions::version,
};
use dunnage_bench_host::{
    access::{ARCHIVED_NOTE, archived},
    corpus::MessageSet,
    others::{Other, others, probed, round_trip},
};
use dunnage_bench_record::Record;
use dunnage_formats::Value;
use dunnage_measure::{Task, measure as time};
use std::{error::Error, hint::black_box, time::Duration};

/// The most messages of a set that are timed.
const TIMED: usize = 64;

/// A format with the bytes of a set's messages.
struct Encoded {
    other: Other,
    messages: Vec<Vec<u8>>,
}

/// Probes the formats, and measures all messages, each for `budget`. A format that does not return a message as it was has no figures of it.
pub fn measure(sets: &[MessageSet], budget: Duration) -> Result<Vec<Record>, Box<dyn Error>> {
    let mut records = Vec::new();
    for probed in probed()? {
        let subject = [probed.probe, probed.format, probed.library];
        let fits = f64::from(u8::from(probed.outcome.is_ok()));
        let record = Record::measured(SUITE, "host", subject, "encode", ("fits", fits, "1"));
        let note = probed.outcome.unwrap_or_else(|error| error.message().to_owned());
        records.push(Record { note: Some(note), ..record.version(version(probed.library)) });
    }
    for set in sets {
        let encoded = encode(set, &mut records);
        figures(set, &encoded, budget, &mut records);
        records.extend(archived(set).map(|bytes| archived_size(set, bytes.len())));
    }
    Ok(records)
}

/// Sends the messages through every format. One that cannot carry them gets a record that says why.
fn encode(set: &MessageSet, records: &mut Vec<Record>) -> Vec<Encoded> {
    let mut encoded = Vec::new();
    for other in others(&set.model) {
        let messages = set.messages.iter().map(|message| round_trip(&*other.codec, message));
        match messages.collect() {
            Ok(messages) => encoded.push(Encoded { other, messages }),
            Err(error) => {
                let note = Some(error.message().to_owned());
                records.push(Record { note, ..record(set, &other, "encode", ("failed", 1.0, "1")) });
            }
        }
    }
    encoded
}

fn figures(set: &MessageSet, encoded: &[Encoded], budget: Duration, records: &mut Vec<Record>) {
    let step = set.messages.len().div_ceil(TIMED);
    let timed: Vec<usize> = (0..set.messages.len()).step_by(step).collect();
    let mut tasks: Vec<Task<'_>> = Vec::new();
    for Encoded { other, messages } in encoded {
        tasks.push(encode_task(other, &set.messages, &timed));
        tasks.push(decode_task(other, messages, &timed));
    }
    let times = time(&mut tasks, budget, |_| ());
    for (Encoded { other, messages }, times) in encoded.iter().zip(times.chunks_exact(2)) {
        let bytes = messages.iter().map(Vec::len).sum::<usize>() as f64 / messages.len() as f64;
        let size = record(set, other, "encode", ("bytes", bytes, "bytes"));
        let repetitions = Some(messages.len() as u64);
        records.push(Record { repetitions, note: Some(other.note.clone()), ..size });
        for (operation, times) in ["encode", "decode"].into_iter().zip(times) {
            let record = record(set, other, operation, ("ns", 0.0, "ns"));
            records.push(spread(record, times, timed.len()));
        }
    }
}

fn encode_task<'a>(other: &'a Other, messages: &'a [Value], timed: &'a [usize]) -> Task<'a> {
    let mut out = Vec::new();
    Box::new(move || {
        for &index in timed {
            out.clear();
            // It was encoded before, so there is no error.
            let _ = other.codec.encode(black_box(&messages[index]), &mut out);
            black_box(out.as_slice());
        }
    })
}

fn decode_task<'a>(other: &'a Other, messages: &'a [Vec<u8>], timed: &'a [usize]) -> Task<'a> {
    Box::new(move || {
        for &index in timed {
            let _ = black_box(other.codec.decode(black_box(&messages[index])));
        }
    })
}

/// The size in rkyv. Its times would be those of a struct, and the times here are those of a message in memory.
fn archived_size(set: &MessageSet, bytes: usize) -> Record {
    let subject = [set.name.as_str(), "rkyv", "rkyv"];
    let record = Record::measured(SUITE, "host", subject, "encode", ("bytes", bytes as f64, "bytes"));
    let options = Some(set.schema.words().to_owned());
    Record {
        options,
        repetitions: Some(1),
        note: Some(ARCHIVED_NOTE.to_owned()),
        ..record.version(version("rkyv"))
    }
}

fn record(set: &MessageSet, other: &Other, operation: &str, figure: (&str, f64, &str)) -> Record {
    let subject = [set.name.as_str(), other.format, other.library];
    let record = Record::measured(SUITE, "host", subject, operation, figure);
    Record { options: Some(set.schema.words().to_owned()), ..record.version(version(other.library)) }
}
