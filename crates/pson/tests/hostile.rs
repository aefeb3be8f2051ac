//! Malicious and damaged messages.
#![allow(clippy::unwrap_used)]

#[path = "pson/check/mod.rs"]
mod check;
#[path = "pson/notation/mod.rs"]
mod notation;

use dunnage_pson::{Kind, Options, Value, from_slice};
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};
use std::{
    alloc::System,
    collections::HashMap,
    time::{Duration, Instant},
};

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

fn vectors() -> Vec<Vec<u8>> {
    ["pson", "invalid"]
        .iter()
        .flat_map(|folder| notation::load(folder))
        .map(|v| notation::message(&v))
        .collect()
}

#[test]
fn fuzz_corpus_passes_every_check() {
    let corpus = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fuzz/corpus/pson");
    let files: Vec<_> = std::fs::read_dir(corpus).unwrap().map(|file| file.unwrap().path()).collect();
    assert!(files.len() >= 24, "{}", files.len());
    for file in files {
        check::check(&std::fs::read(file).unwrap());
    }
}

/// Mutates the vectors for two seconds, in the same sequence in every run.
#[test]
fn mutated_vectors_pass_every_check() {
    let seeds: Vec<_> =
        vectors().into_iter().filter(|bytes| !bytes.is_empty() && bytes.len() < 4096).collect();
    let mut random = fastrand::Rng::with_seed(1);
    let start = Instant::now();
    while start.elapsed() < Duration::from_secs(2) {
        let mut bytes = seeds[random.usize(..seeds.len())].clone();
        for _ in 0..=random.usize(..4) {
            mutate(&mut bytes, &seeds, &mut random);
        }
        check::check(&bytes);
    }
}

fn mutate(bytes: &mut Vec<u8>, seeds: &[Vec<u8>], random: &mut fastrand::Rng) {
    let at = random.usize(..=bytes.len());
    match random.u8(..6) {
        0 => bytes.truncate(at),
        1 => bytes.insert(at, random.u8(..)),
        2 if at < bytes.len() => bytes[at] = random.u8(..),
        3 if at < bytes.len() => bytes[at] ^= 1 << random.u8(..8),
        4 if at < bytes.len() => drop(bytes.remove(at)),
        _ => bytes.extend_from_slice(&seeds[random.usize(..seeds.len())]),
    }
}

/// Returns the bytes that decoding allocates in total, including those that it frees.
fn allocated(bytes: &[u8]) -> usize {
    let region = Region::new(ALLOCATOR);
    let _ = std::hint::black_box(from_slice::<Value>(bytes));
    let _ = std::hint::black_box(from_slice::<Vec<u64>>(bytes));
    let _ = std::hint::black_box(from_slice::<HashMap<String, Value>>(bytes));
    let change = region.change();
    change.bytes_allocated + change.bytes_reallocated.unsigned_abs()
}

/// This is one test and not several, because the allocator counts for the whole process.
#[test]
fn memory_depends_on_the_bytes_present_and_not_on_declared_counts() {
    let counts =
        [b"\xfe".as_slice(), b"\xff\xff\xff\xff\x7f", b"\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"];
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    for count in counts {
        for wire_type in [0x80, 0xa0, 0xc0, 0xe0] {
            let mut header = count.to_vec();
            header[0] = wire_type | (header[0] & 0x1f);
            for depth in [1, 32] {
                let bytes = header.repeat(depth);
                // Other tests allocate at the same time, so this takes the minimum of several runs.
                let least = (0..20 * threads).map(|_| allocated(&bytes)).min().unwrap();
                assert!(least <= 8192, "{least} bytes for {bytes:02x?}");
            }
        }
    }
}

#[test]
fn nesting_limit_prevents_stack_overflows() {
    for header in [b"\xe1".as_slice(), b"\xc1\x80"] {
        let bytes = header.repeat(500_000);
        let error = from_slice::<Value>(&bytes).unwrap_err();
        assert_eq!((error.kind(), error.offset()), (Kind::Limit, 32 * header.len()));
        let mut reader = Options::new().reader(&bytes).unwrap();
        assert_eq!(reader.skip().unwrap_err().kind(), Kind::Limit);
        assert!(from_slice::<serde::de::IgnoredAny>(&bytes).is_err());
    }
}

/// A mebibyte of distinct keys: comparing every pair would take minutes.
#[test]
fn a_map_of_many_keys_does_not_take_quadratic_time() {
    let keys: Vec<String> = (0..130_000).map(|n| format!("{n:06}")).collect();
    let mut bytes = b"\xdf\xd0\xf7\x07".to_vec();
    for key in &keys {
        bytes.push(0x80 | key.len() as u8);
        bytes.extend_from_slice(key.as_bytes());
        bytes.push(0);
    }
    assert!(bytes.len() <= 1 << 20, "{}", bytes.len());
    let start = Instant::now();
    let map: HashMap<String, u8> = from_slice(&bytes).unwrap();
    assert_eq!(map.len(), keys.len());
    let last = bytes.len() - 8;
    bytes[last..last + 7].copy_from_slice(b"\x86000000");
    let error = from_slice::<HashMap<String, u8>>(&bytes).unwrap_err();
    assert_eq!((error.kind(), error.offset()), (Kind::Malformed, last));
    assert!(start.elapsed() < Duration::from_secs(20), "{:?}", start.elapsed());
}

/// The size limit is checked first.
#[test]
fn a_message_over_the_size_limit_is_not_decoded() {
    let error = from_slice::<Value>(&vec![0xff; (1 << 20) + 1]).unwrap_err();
    assert_eq!((error.kind(), error.offset()), (Kind::Limit, 1 << 20));
    let error = Options::new().max_size(2).from_slice::<Value>(b"\x82ab").unwrap_err();
    assert_eq!((error.kind(), error.offset()), (Kind::Limit, 2));
}
