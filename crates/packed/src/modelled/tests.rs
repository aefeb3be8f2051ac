//! Random parts round-trip, and a truncated or changed body is an error or another message.

use super::{ModelledSink, ModelledSource};
use crate::Error;
use crate::wire::{At, Part, Sink, Source};
use dunnage_pson::Kind;
use proptest::prelude::*;

/// A part of a message with its bounds.
#[derive(Debug, Clone, PartialEq)]
enum Item {
    Index(u64, u64),
    Sized(u64),
    Raw(u64, u32),
    Text(String, u32, Option<u32>),
}

fn write(items: &[(At, Item)]) -> Result<Vec<u8>, Error> {
    let mut bytes = vec![1];
    let mut sink = ModelledSink::new(&mut bytes);
    for (at, item) in items {
        match item {
            Item::Index(value, count) => sink.index(*at, *value, *count)?,
            Item::Sized(value) => sink.sized(*at, *value)?,
            Item::Raw(value, bits) => sink.raw(*at, *value, *bits)?,
            Item::Text(text, min, max) => sink.text(*at, text, *min, *max)?,
        }
    }
    sink.finish()?;
    Ok(bytes)
}

/// Reads parts of the same kinds as `kinds`.
fn read(bytes: &[u8], kinds: &[(At, Item)]) -> Result<Vec<(At, Item)>, Error> {
    let mut source = ModelledSource::new(bytes, 1);
    let mut items = Vec::new();
    for (at, kind) in kinds {
        let item = match kind {
            Item::Index(_, count) => Item::Index(source.index(*at, *count)?, *count),
            Item::Sized(_) => Item::Sized(source.sized(*at)?),
            Item::Raw(_, bits) => Item::Raw(source.raw(*at, *bits)?, *bits),
            Item::Text(_, min, max) => Item::Text(source.text(*at, *min, *max)?, *min, *max),
        };
        items.push((*at, item));
    }
    source.finish()?;
    Ok(items)
}

fn numbers() -> impl Strategy<Value = u64> {
    prop_oneof![0..8u64, 0..1_000_000u64, any::<u64>(), (0..64u32).prop_map(|bits| 1 << bits)]
}

fn texts() -> impl Strategy<Value = String> {
    prop_oneof!["[a-c]{0,12}", "https://[a-z]{3}\\.example/[0-9a-f]{0,40}", "\\PC{0,20}", any::<String>()]
}

fn items() -> impl Strategy<Value = Vec<(At, Item)>> {
    const PARTS: [Part; 4] = [Part::Value, Part::Count, Part::Form, Part::Key];
    let at = (0..4u32, 0..4usize).prop_map(|(node, part)| At { node, part: PARTS[part] });
    let index = (numbers(), numbers()).prop_map(|(value, more)| {
        let count = value.saturating_add(more).clamp(1, 1 << 62);
        Item::Index(value.min(count - 1), count)
    });
    let raw = (any::<u64>(), 1..=64u32).prop_map(|(value, bits)| Item::Raw(value >> (64 - bits), bits));
    let text = (texts(), 0..4u32, 0..4u32, any::<bool>()).prop_map(|(text, less, more, bound)| {
        let length = text.chars().count() as u32;
        Item::Text(text, length.saturating_sub(less), bound.then_some(length + more))
    });
    let item = prop_oneof![index, numbers().prop_map(Item::Sized), raw, text];
    prop::collection::vec((at, item), 0..24)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn parts_round_trip(items in items()) {
        let bytes = write(&items).unwrap();
        prop_assert_eq!(read(&bytes, &items).unwrap(), items);
    }

    #[test]
    fn every_prefix_is_truncated_and_trailing_bytes_are_malformed(items in items(), next: u8) {
        let mut bytes = write(&items).unwrap();
        // Tests every truncation of a short body and some of a long one, because each reads everything before it.
        for end in (1..bytes.len()).rev().step_by(1 + bytes.len() / 16) {
            let error = read(&bytes[..end], &items).unwrap_err();
            prop_assert_eq!((error.kind(), error.offset()), (Kind::Truncated, Some(end)));
        }
        bytes.push(next);
        let error = read(&bytes, &items).unwrap_err();
        prop_assert_eq!((error.kind(), error.offset()), (Kind::Malformed, Some(bytes.len() - 1)));
    }

    /// Any bytes that decode encode to the same bytes again.
    #[test]
    fn bytes_are_one_message_or_an_error(items in items(), noise in prop::collection::vec(any::<u8>(), 0..40), at: prop::sample::Index) {
        let mut bytes = write(&items).unwrap();
        let from = 1 + at.index(bytes.len());
        bytes.truncate(from);
        bytes.extend(noise);
        if let Ok(read) = read(&bytes, &items) {
            prop_assert_eq!(write(&read).unwrap(), bytes);
        }
    }
}

const TEXT: At = At { node: 7, part: Part::Value };

#[test]
fn repetitive_text_is_compressed() {
    let kinds = [(TEXT, Item::Text("-all the same-".repeat(2000), 0, None))];
    let bytes = write(&kinds).unwrap();
    assert!(bytes.len() < 300, "{}", bytes.len());
    assert_eq!(read(&bytes, &kinds).unwrap(), kinds);
}

#[test]
fn decisions_are_limited() {
    // Random bits, which the model cannot predict, make the body long enough for the number of decisions.
    let mut seed = 1u64;
    let mut random = || {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        seed ^ seed >> 29
    };
    let items: Vec<_> = (0..(1 << 17) + 1).map(|_| (TEXT, Item::Raw(random(), 64))).collect();
    assert!(write(&items[1..]).is_ok());
    assert_eq!(write(&items).unwrap_err().kind(), Kind::Limit);
}

#[test]
fn short_bodies_are_limited_to_few_decisions() {
    let zeros = vec![(TEXT, Item::Raw(0, 64)); 1 << 14];
    assert_eq!(write(&zeros).unwrap_err().kind(), Kind::Limit);
    assert!(write(&zeros[..1 << 12]).is_ok());
}
