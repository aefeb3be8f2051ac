//! Malicious and damaged messages.

use crate::check::{check, check_selected, layouts};
use dunnage_packed::Layout;
use dunnage_pson::{Kind, Value};
use dunnage_schema::Model;
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
fn fuzz_corpus_passes_every_check() {
    let layouts = layouts();
    corpus().iter().for_each(|input| check_selected(&layouts, input));
}

/// Mutates the fuzz corpus for two seconds.
#[test]
fn mutated_messages_pass_every_check() {
    let (layouts, corpus) = (layouts(), corpus());
    let mut random = fastrand::Rng::with_seed(1);
    let end = Instant::now() + Duration::from_secs(2);
    while Instant::now() < end {
        let mut input = corpus[random.usize(..corpus.len())].clone();
        for _ in 0..=random.usize(..3) {
            let at = 2 + random.usize(..input.len().saturating_sub(2).max(1));
            match random.u8(..4) {
                0 => input.truncate(at),
                1 if at < input.len() => input[at] = random.u8(..),
                2 => input.push(random.u8(..)),
                _ if at < input.len() => input[at] ^= 1 << random.u8(..8),
                _ => {}
            }
        }
        check_selected(&layouts, &input);
    }
}

#[test]
fn a_few_bytes_do_not_make_a_huge_message() {
    for layout in layouts() {
        // A model soon predicts zeros, so they decode to large messages, up to the limit of decisions.
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

#[test]
fn time_for_a_union_with_many_listed_values_is_bounded() {
    let listed: Vec<String> = (0..40_000).map(|n| format!("\"v{n}\"")).collect();
    let schema = format!(
        r#"{{"type":"array","items":{{"anyOf":[{{"enum":[{}]}},{{"type":"integer"}}]}}}}"#,
        listed.join(",")
    );
    let layout = Layout::new(&Model::compile(&schema).expect("the schema compiles")).expect("a layout");
    let message = |count: usize| Value::Array(vec![Value::U64(7); count]);
    let mut bytes = Vec::new();
    layout.encode(&message(300), &mut bytes).expect("300 values are within the limit");
    assert_eq!(layout.decode(&bytes, None).expect("they decode"), message(300));
    let error = layout.encode(&message(4_000), &mut bytes).expect_err("4000 values exceed the limit");
    assert_eq!(error.kind(), Kind::Limit);
}

/// The characters take no bits, so the message has five bytes, whatever the number of texts.
#[test]
fn text_without_bits_is_bounded() {
    let schema = r#"{"type":"array","maxItems":4294967295,"items":{"type":"string","pattern":"^a{320}$"}}"#;
    let layout = Layout::new(&Model::compile(schema).expect("the schema compiles")).expect("a layout");
    // Each text counts as 11 values, and the array is one.
    let most = ((1 << 20) - 1) / 11;
    let message = |count: usize| Value::Array(vec![Value::Text("a".repeat(320)); count]);
    let mut bytes = Vec::new();
    layout.encode(&message(most), &mut bytes).expect("within the limit");
    assert_eq!(bytes.len(), 5);
    assert_eq!(layout.decode(&bytes, None).expect("within the limit"), message(most));
    let more = [&bytes[..1], &(most as u32 + 1).to_be_bytes()].concat();
    let error = layout.decode(&more, None).expect_err("above the limit");
    assert_eq!((error.kind(), error.offset()), (Kind::Limit, Some(5)));
    let error = layout.encode(&message(most + 1), &mut bytes).expect_err("above the limit");
    assert_eq!(error.kind(), Kind::Limit);
}

#[test]
fn a_message_above_one_mebibyte_is_a_limit() {
    let layout = Layout::new(&Model::compile("{}").expect("the schema compiles")).expect("a layout");
    // Random bytes, which the model cannot predict.
    let mut random = fastrand::Rng::with_seed(4);
    let bytes = (0..(1 << 20) - 64).map(|_| random.u8(..)).collect();
    let error = layout.encode(&Value::Bytes(bytes), &mut Vec::new()).expect_err("above the limit");
    assert!(error.to_string().starts_with("limit: a message of 10"), "{error}");
}
