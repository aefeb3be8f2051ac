//! Damaged messages, in the same sequence in every run.

use crate::invariants::{all_formats, check, check_selected, selector};
use crate::messages::any_value;
use dunnage_formats::{Format, Id, Json, Value};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use std::time::{Duration, Instant};

/// `make fuzz` stays a minute with each.
const TIME_FOR_EACH_FORMAT: Duration = Duration::from_secs(1);

#[test]
fn damaged_messages_are_errors_or_other_messages() {
    let formats = all_formats();
    std::thread::scope(|scope| {
        for half in formats.chunks(formats.len().div_ceil(2)) {
            scope.spawn(|| half.iter().for_each(|(id, format)| damage(*id, format.as_ref())));
        }
    });
}

#[test]
fn fuzz_corpus_passes_every_check() {
    let formats = all_formats();
    let corpus =
        std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../../fuzz/corpus/formats")).unwrap();
    let inputs: Vec<_> = corpus.map(|entry| std::fs::read(entry.unwrap().path()).unwrap()).collect();
    assert!(inputs.len() >= formats.len());
    inputs.iter().for_each(|input| check_selected(&formats, input));
}

fn damage(id: Id, format: &dyn Format) {
    let mut runner = TestRunner::deterministic();
    let seeds = match id {
        Id::SenmlJson | Id::SensmlJson | Id::SenmlCbor | Id::SensmlCbor => corpus_messages(id),
        Id::Text | Id::Form => corpus_messages(id),
        _ => encoded(format, &mut runner),
    };
    assert!(!seeds.is_empty(), "{id}");
    let end = Instant::now() + TIME_FOR_EACH_FORMAT;
    let mut damaged = 0;
    while damaged < 100 || Instant::now() < end {
        let mut bytes = seeds[runner.rng().next_u32() as usize % seeds.len()].clone();
        for _ in 0..=runner.rng().next_u32() % 3 {
            mutate(&mut bytes, &seeds, &mut runner);
        }
        check(id, format, &bytes);
        damaged += 1;
    }
}

/// Returns the messages of the fuzz corpus, for a format that cannot be encoded.
fn corpus_messages(id: Id) -> Vec<Vec<u8>> {
    let corpus =
        std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../../fuzz/corpus/formats")).unwrap();
    let mut names: Vec<_> = corpus.map(|entry| entry.unwrap().path()).collect();
    names.sort();
    let inputs = names.iter().map(|path| std::fs::read(path).unwrap());
    inputs.filter(|input| input.first() == Some(&selector(id))).map(|input| input[1..].to_vec()).collect()
}

/// Encodes those of several hundred random messages that the format can represent.
fn encoded(format: &dyn Format, runner: &mut TestRunner) -> Vec<Vec<u8>> {
    let container = include_bytes!("../../../../bench/corpus/container.json");
    let strategy = any_value();
    let random = std::iter::repeat_with(|| strategy.new_tree(runner).unwrap().current()).take(300);
    let messages: Vec<Value> = random.chain([Json.decode(container).unwrap()]).collect();
    messages.iter().filter_map(|message| format.round_trip(message).ok()).map(|trip| trip.bytes).collect()
}

fn mutate(bytes: &mut Vec<u8>, seeds: &[Vec<u8>], runner: &mut TestRunner) {
    let mut below = |n: usize| runner.rng().next_u64() as usize % n.max(1);
    let at = below(bytes.len() + 1);
    let to = at + below(bytes.len() + 1 - at);
    match below(6) {
        0 => bytes.truncate(at),
        1 => drop(bytes.drain(at..to)),
        2 => bytes.insert(at, below(256) as u8),
        3 => bytes.extend_from_within(at..to),
        4 => {
            let other = &seeds[below(seeds.len())];
            let piece = below(other.len() + 1)..other.len();
            bytes.splice(at..to, other[piece].iter().copied());
        }
        _ if at < bytes.len() => bytes[at] ^= 1 << below(8),
        _ => {}
    }
}
