//! JSON to PSON and back: compares the C library with `dunnage-formats`.

mod compare;
mod converter;
mod random;

use compare::{check_json, check_pson, outcome, pson_of};
use converter::{Converter, from_hex, root};
use dunnage_formats::{Format, Json, Pson, Value};
use fastrand::Rng;
use random::{changed, loosened, number, value};

/// Number of random documents per test, unless `DUNNAGE_RANDOM` is set.
const DOCUMENTS: usize = 20_000;

fn documents() -> usize {
    std::env::var("DUNNAGE_RANDOM").map_or(DOCUMENTS, |n| n.parse().expect("DUNNAGE_RANDOM is a number"))
}

#[test]
fn random_documents_convert_alike() {
    let (mut c, mut rng) = (Converter::start(), Rng::with_seed(1));
    for _ in 0..documents() {
        let value = value(&mut rng, 0);
        let pson = outcome(|out| Pson.encode(&value, out)).expect("PSON");
        check_pson(&mut c, &pson);
        let json = outcome(|out| Json.encode(&value, out)).expect("JSON");
        let json = String::from_utf8(json).expect("text");
        assert_eq!(c.pson_from(json.as_bytes()).as_ref(), Ok(&pson), "{json}");
        let loose = loosened(&json, &mut rng);
        assert_eq!(c.pson_from(loose.as_bytes()).as_ref(), Ok(&pson), "{loose}");
    }
}

#[test]
fn numbers_convert_alike() {
    let (mut c, mut rng) = (Converter::start(), Rng::with_seed(2));
    for _ in 0..documents() {
        check_json(&mut c, number(&mut rng).as_bytes());
        for bits in [rng.u64(..), u64::from(rng.u16(..)) << 48, rng.u64(..) & (u64::MAX >> 12)] {
            let mut pson = vec![0x41];
            pson.extend_from_slice(&bits.to_le_bytes());
            check_pson(&mut c, &pson);
        }
        let mut pson = vec![0x40];
        pson.extend_from_slice(&rng.u32(..).to_le_bytes());
        check_pson(&mut c, &pson);
    }
}

#[test]
fn faults_are_reported_alike() {
    let (mut c, mut rng) = (Converter::start(), Rng::with_seed(3));
    for _ in 0..documents() {
        let value = Value::Array(vec![value(&mut rng, 3), value(&mut rng, 3)]);
        let mut json = outcome(|out| Json.encode(&value, out)).expect("JSON");
        if rng.bool() {
            json = loosened(str::from_utf8(&json).expect("text"), &mut rng).into_bytes();
        }
        for _ in 0..=rng.u8(..2) {
            if !json.is_empty() {
                changed(&mut json, &mut rng);
            }
        }
        check_json(&mut c, &json);
    }
}

/// Bytes, infinities, NaN and non-canonical forms: PSON that JSON cannot represent, or represents in one form only.
#[test]
fn values_that_json_lacks_convert_alike() {
    let (mut c, mut rng) = (Converter::start(), Rng::with_seed(4));
    for pson in [
        "20",
        "4000004042",
        "410000000000004840",
        "400000c07f",
        "400000807f",
        "a10f",
        "3fffffffffffffffffff01",
        "3f8080808080808080800100",
    ] {
        check_pson(&mut c, &from_hex(pson));
    }
    for _ in 0..documents() {
        let value = Value::Array((0..rng.usize(1..4)).map(|_| value(&mut rng, 4)).collect());
        let mut pson = outcome(|out| Pson.encode(&value, out)).expect("PSON");
        let at = rng.usize(..pson.len());
        pson[at] = rng.u8(..);
        // If decoding fails, both a read error and a write error may occur, and the implementations may report different ones.
        if Pson.decode(&pson).is_ok() {
            check_pson(&mut c, &pson);
        } else {
            let _ = c.json_from(&pson);
        }
    }
}

#[test]
fn the_corpus_converts_alike() {
    let mut c = Converter::start();
    let mut files = 0;
    for entry in std::fs::read_dir(root().join("bench/corpus")).expect("the corpus") {
        let path = entry.expect("an entry").path();
        if path.extension().is_some_and(|e| e == "json") {
            files += 1;
            let json = std::fs::read(&path).expect("a file");
            let pson = c.pson_from(&json).unwrap_or_else(|e| panic!("{}: {e:?}", path.display()));
            assert_eq!(Ok(&pson), pson_of(&json).as_ref(), "{}", path.display());
            check_pson(&mut c, &pson);
        }
    }
    assert!(files > 10);
}

/// Documents and their bytes from a third implementation.
#[test]
fn interop_vectors_have_their_bytes() {
    let mut c = Converter::start();
    let file = std::fs::read(root().join("spec/vectors/interop.json")).expect("the vectors");
    let Ok(vectors) = Json.decode(&file) else { panic!("the vectors are JSON") };
    let Some(Value::Array(vectors)) = vectors.get("vectors") else { panic!("a list of vectors") };
    assert_eq!(vectors.len(), 300);
    for vector in vectors {
        let (Some(document), Some(Value::Text(hex))) = (vector.get("json"), vector.get("hex")) else {
            panic!("json and hex")
        };
        let json = outcome(|out| Json.encode(document, out)).expect("JSON");
        let pson = c.pson_from(&json).expect("PSON");
        assert_eq!(pson, from_hex(hex));
        check_pson(&mut c, &pson);
    }
}
