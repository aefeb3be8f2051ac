//! Batches: their vectors, what is written is read, and damage.

#![allow(clippy::unwrap_used)]

use dunnage_relay::{Content, Entry, FaultKind, MAX_READINGS, SEQUENCES, Sender, Writer, read};
use proptest::prelude::*;
use serde_json::Value;
use std::path::Path;

fn bytes_of(hex: &str) -> Vec<u8> {
    (0..hex.len()).step_by(2).map(|at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap()).collect()
}

fn vectors(file: &str) -> Vec<Value> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../spec/vectors/relay").join(file);
    let vectors: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    vectors["vectors"].as_array().unwrap().clone()
}

/// Writes an entry as the vectors do.
fn shown(entry: &Entry<'_>) -> Value {
    let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    let mut shown = serde_json::json!({ "sequence": entry.sequence });
    if let Some(at) = entry.received_at {
        shown["received_at"] = at.into();
    }
    match entry.sender {
        Sender::Number(number) => shown["number"] = number.into(),
        Sender::Device(device) => shown["device"] = device.into(),
    }
    match entry.content {
        Content::Packed { mode, body } => {
            shown["mode"] = mode.into();
            shown["body"] = hex(body).into();
        }
        Content::Delta(delta) => shown["delta"] = hex(delta).into(),
        Content::Other { format, bytes } => {
            shown["format"] = format.into();
            shown["bytes"] = hex(bytes).into();
        }
    }
    shown
}

fn write(entries: &[Entry<'_>]) -> Vec<u8> {
    let mut batch = Writer::new(usize::MAX, 0);
    entries.iter().for_each(|entry| assert!(batch.add(entry)));
    batch.finish()
}

#[test]
fn valid_vectors_are_read_and_written() {
    for vector in vectors("valid.json") {
        let bytes = bytes_of(vector["hex"].as_str().unwrap());
        let entries = read(&bytes).unwrap();
        assert_eq!(
            Value::from(entries.iter().map(shown).collect::<Vec<_>>()),
            vector["readings"],
            "{vector}"
        );
        assert_eq!(write(&entries), bytes, "{vector}");
    }
}

#[test]
fn invalid_vectors_have_the_stated_fault() {
    for vector in vectors("invalid.json") {
        let fault = read(&bytes_of(vector["hex"].as_str().unwrap())).unwrap_err();
        let found = (fault.kind.as_str(), fault.offset as u64);
        assert_eq!(found, (vector["kind"].as_str().unwrap(), vector["offset"].as_u64().unwrap()), "{vector}");
    }
}

/// `docs/edge.md` has this figure: 14 / 12 = 1.17 bytes a reading.
#[test]
fn twelve_readings_take_14_bytes_more_than_their_messages() {
    let bodies: Vec<Vec<u8>> = (0..12).map(|size| vec![0xa5; 20 + size]).collect();
    let mut batch = Writer::new(usize::MAX, 0);
    for (sequence, body) in (0..).zip(&bodies) {
        let (sender, content) = (Sender::Number(sequence + 1), Content::Packed { mode: 1, body });
        assert!(batch.add(&Entry { sequence, received_at: None, sender, content }));
    }
    // A message of its own has a slot byte before its body.
    let alone: usize = bodies.iter().map(|body| 1 + body.len()).sum();
    assert_eq!(batch.finish().len(), alone + 14);
}

#[test]
fn a_batch_has_at_most_1024_readings() {
    let entry = |sequence| Entry {
        sequence,
        received_at: None,
        sender: Sender::Number(1),
        content: Content::Packed { mode: 0, body: &[] },
    };
    let mut batch = Writer::new(usize::MAX, 0);
    let added = (0..2000).filter(|sequence| batch.add(&entry(*sequence))).count();
    assert_eq!(added, MAX_READINGS);
    let bytes = batch.finish();
    assert_eq!(read(&bytes).unwrap().len(), MAX_READINGS);
    let longer = [&[0, 0, 0, 1, 0][..], &bytes[3..]].concat();
    assert_eq!(read(&longer).unwrap_err().kind, FaultKind::Limit);
}

/// A reading whose texts and bytes are owned.
#[derive(Debug, Clone)]
struct Owned {
    gap: u32,
    age: u32,
    number: u32,
    device: String,
    kind: u8,
    format: u8,
    bytes: Vec<u8>,
}

prop_compose! {
    fn reading()(
        gap in prop_oneof![Just(0u32), 0..40u32, 0..SEQUENCES / 64],
        age in 0..100_000u32,
        number in prop_oneof![1..40u32, 1..65_536u32],
        device in "[a-zé/]{1,8}",
        kind in 0..5u8,
        format: u8,
        bytes in prop::collection::vec(any::<u8>(), 0..200),
    ) -> Owned {
        Owned { gap, age, number, device, kind, format, bytes }
    }
}

/// Returns the readings as entries, from the sequence number `first` on.
fn entries(first: u32, is_timed: bool, readings: &[Owned]) -> Vec<Entry<'_>> {
    let mut next = first;
    let entry = |reading: &'_ Owned| {
        let sequence = (next + reading.gap) % SEQUENCES;
        next = sequence + 1;
        let (sender, content) = match reading.kind {
            mode @ 0..2 => (Sender::Number(reading.number), Content::Packed { mode, body: &[] }),
            2 => (Sender::Number(reading.number), Content::Delta(&[])),
            3 => (Sender::Number(reading.number), Content::Other { format: reading.format, bytes: &[] }),
            _ => (Sender::Number(0), Content::Other { format: reading.format, bytes: &[] }),
        };
        (sequence, is_timed.then_some(1_780_000_000 + reading.age), sender, content)
    };
    let made: Vec<_> = readings.iter().map(entry).collect();
    made.into_iter()
        .zip(readings)
        .map(|((sequence, received_at, sender, content), reading)| {
            let sender = if sender == Sender::Number(0) { Sender::Device(&reading.device) } else { sender };
            let content = match content {
                Content::Packed { mode, .. } => Content::Packed { mode, body: &reading.bytes },
                Content::Delta(_) => Content::Delta(&reading.bytes),
                Content::Other { format, .. } => Content::Other { format, bytes: &reading.bytes },
            };
            Entry { sequence, received_at, sender, content }
        })
        .collect()
}

proptest! {
    #[test]
    fn what_is_written_is_read(
        first in 0..SEQUENCES,
        is_timed: bool,
        readings in prop::collection::vec(reading(), 1..20),
    ) {
        let entries = entries(first, is_timed, &readings);
        let bytes = write(&entries);
        // The first reading has no gap before it.
        prop_assert_eq!(read(&bytes).unwrap(), entries);
    }

    #[test]
    fn a_batch_never_exceeds_its_limit_and_room_is_exact(
        first in 0..SEQUENCES,
        limit in 0..400usize,
        readings in prop::collection::vec(reading(), 1..20),
    ) {
        let entries = entries(first, true, &readings);
        let mut batch = Writer::new(limit, 0);
        let mut added = Vec::new();
        for entry in &entries {
            let mut alone = Writer::new(usize::MAX, 0);
            added.iter().chain([entry]).for_each(|entry| assert!(alone.add(entry)));
            let size = alone.finish().len();
            let fits = batch.add(entry);
            prop_assert_eq!(fits, size <= limit, "{} of {}", size, limit);
            if !fits {
                break;
            }
            added.push(*entry);
        }
        prop_assert_eq!(batch.count(), added.len());
        let bytes = batch.finish();
        prop_assert!(bytes.len() <= limit);
        if !added.is_empty() {
            prop_assert_eq!(read(&bytes).unwrap(), added);
        }
    }

    #[test]
    fn a_batch_that_is_cut_has_no_readings_more_than_it_had(
        first in 0..SEQUENCES,
        readings in prop::collection::vec(reading(), 1..6),
    ) {
        let entries = entries(first, true, &readings);
        let bytes = write(&entries);
        for end in 0..bytes.len() {
            // The last reading has no length: its own format tells whether it is whole.
            if let Ok(cut) = read(&bytes[..end]) {
                prop_assert_eq!(&cut[..cut.len() - 1], &entries[..entries.len() - 1]);
            }
        }
    }

    #[test]
    fn any_bytes_are_a_batch_or_an_error(bytes in prop::collection::vec(any::<u8>(), 0..64)) {
        if let Ok(entries) = read(&bytes) {
            prop_assert!(!entries.is_empty());
        }
    }
}
