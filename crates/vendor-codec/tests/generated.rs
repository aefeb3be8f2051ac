//! The codecs that `dunnage generate ts013` writes, against the native decoder.

#![allow(clippy::unwrap_used, missing_docs)]

use dunnage_codegen::ts013;
use dunnage_formats::{Format, Json, Packed};
use dunnage_pson::Value;
use dunnage_schema::Model;
use dunnage_vendor_codec::{Codec, Engine, Input};

/// Messages for each of the three schemas. `DUNNAGE_FRAMES` is another number; `make nightly` sets it.
const FRAMES: usize = 2_000;

/// Whether both are the same message. The order of keys counts; numbers compare as numbers, as JavaScript has only one kind.
fn same(a: &Value, b: &Value) -> bool {
    let number = |value: &Value| match value {
        Value::U64(number) => Some(*number as f64),
        Value::I64(number) => Some(*number as f64),
        Value::F64(number) => Some(*number),
        _ => None,
    };
    match (a, b) {
        (Value::Array(a), Value::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b)),
        (Value::Map(a), Value::Map(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|((k, a), (l, b))| k == l && same(a, b))
        }
        _ => a == b || matches!((number(a), number(b)), (Some(a), Some(b)) if a == b),
    }
}

/// Returns a message as bytes: an example, or one with random bits after its slot byte, or a part of it.
fn frame(examples: &[Vec<u8>], random: &mut fastrand::Rng) -> Vec<u8> {
    let mut bytes = random.choice(examples).unwrap().clone();
    for _ in 0..random.usize(0..8) {
        let at = random.usize(1..bytes.len());
        bytes[at] = random.u8(..);
    }
    if random.u8(..) < 16 {
        bytes.truncate(random.usize(0..bytes.len()));
    }
    bytes
}

#[test]
fn generated_codecs_decode_as_the_native_decoder_does() {
    let count = std::env::var("DUNNAGE_FRAMES").map_or(FRAMES, |text| text.parse().unwrap());
    for name in ["weather", "meter", "container"] {
        let text = dunnage_schema::bundled().iter().find(|(other, _)| *other == name).unwrap().1;
        let model = Model::compile(text).unwrap();
        let packed = Packed::new(&model).unwrap();
        let codec = Codec::compile(&format!("{name}.js"), ts013(packed.layout(), name).unwrap()).unwrap();
        assert!(!codec.is_fresh(), "{name}");
        let schema = Json.decode(text.as_bytes()).unwrap();
        let Some(Value::Array(examples)) = schema.get("examples") else { panic!("{name} has no examples") };
        let encode = |example: &Value| {
            let mut bytes = Vec::new();
            packed.encode(example, &mut bytes).unwrap();
            bytes
        };
        let examples: Vec<_> = examples.iter().map(encode).collect();
        let (mut engine, mut random) = (Engine::new(codec), fastrand::Rng::with_seed(7));
        let mut decoded = 0;
        for _ in 0..count {
            let bytes = frame(&examples, &mut random);
            let port = packed.layout().slot();
            let native = packed.decode(&bytes);
            let vendor = engine.decode_uplink(&Input::new(&bytes, Some(port), 0));
            match (native, vendor) {
                (Ok(native), Ok(vendor)) => {
                    decoded += 1;
                    assert!(same(&native, &vendor.data), "{name} {bytes:02x?}: {native:?} {vendor:?}");
                }
                (Err(_), Err(_)) => {}
                other => panic!("{name} {bytes:02x?}: {other:?}"),
            }
        }
        println!("{name}: {count} messages, {decoded} decoded, none different");
        assert!(decoded > count / 10, "{name}: only {decoded} messages can be decoded");
    }
}
