//! Bytes that nobody should have sent.

mod check;

use check::{check, check_selected, layouts};
use std::fs;
use std::time::{Duration, Instant};

fn corpus() -> Vec<Vec<u8>> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fuzz/corpus/packed");
    let files = fs::read_dir(folder).expect("the corpus");
    let inputs: Vec<_> =
        files.map(|file| fs::read(file.expect("a file").path()).expect("its bytes")).collect();
    assert!(inputs.len() >= 8, "{}", inputs.len());
    inputs
}

#[test]
fn the_fuzzer_s_corpus_passes_every_check() {
    let layouts = layouts();
    corpus().iter().for_each(|input| check_selected(&layouts, input));
}

/// Two seconds of what a fuzzer does.
#[test]
fn mutated_messages_pass_every_check() {
    let (layouts, corpus) = (layouts(), corpus());
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut random = |below: usize| {
        // xorshift64
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state % below as u64) as usize
    };
    let end = Instant::now() + Duration::from_secs(2);
    while Instant::now() < end {
        let mut input = corpus[random(corpus.len())].clone();
        for _ in 0..=random(3) {
            let at = 2 + random(input.len().saturating_sub(2).max(1));
            match random(4) {
                0 => input.truncate(at),
                1 if at < input.len() => input[at] = random(256) as u8,
                2 => input.push(random(256) as u8),
                _ if at < input.len() => input[at] ^= 1 << random(8),
                _ => {}
            }
        }
        check_selected(&layouts, &input);
    }
}

#[test]
fn a_few_bytes_do_not_make_a_huge_message() {
    for layout in layouts() {
        // Zeros are what a model soon expects, up to the limit of decisions.
        let lengths: &[usize] = if layout.is_plain() { &[1, 9, 40, 300, 5000] } else { &[1, 9, 40] };
        for fill in [0x00, 0x55, 0xff] {
            for &length in lengths {
                let mut bytes = vec![fill; length];
                bytes[0] = layout.slot();
                check(&layout, &bytes);
            }
        }
    }
}
