use super::*;
use dunnage_base::hex::unhex;
use dunnage_formats::{Error, Kind, Mapping};
use proptest::prelude::*;
use serde_json::Value as Json;
use std::{fs, io, path::Path};

/// Collects the offset, bytes and note of each reported item.
#[derive(Default)]
struct Items(Vec<(usize, Vec<u8>, Option<String>)>);

impl Sink for Items {
    fn item(&mut self, item: &Item<'_>) -> io::Result<()> {
        self.0.push((item.offset, item.bytes.to_vec(), item.note.clone()));
        Ok(())
    }
}

fn walk(walk: Walker, bytes: &[u8]) -> (Items, Result<(), Error>) {
    let (mut items, mut cursor) = (Items::default(), Cursor::new(bytes));
    let outcome = walk(&mut cursor, &mut items);
    let outcome = outcome.and_then(|()| Ok(cursor.end()?));
    let outcome = outcome.map_err(|stop| match stop {
        Stop::Error(error) => error,
        Stop::Output(error) => panic!("{error}"),
    });
    // Every byte belongs to exactly one item, in order.
    let mut end = 0;
    for (offset, bytes, _) in &items.0 {
        assert_eq!(*offset, end);
        end += bytes.len();
    }
    assert!(outcome.is_err() || end == bytes.len());
    (items, outcome)
}

fn vectors(folder: &str, mut check: impl FnMut(&str, &Json, &[u8])) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../spec/vectors").join(folder);
    let mut count = 0;
    for file in fs::read_dir(folder).unwrap() {
        let file: Json = serde_json::from_slice(&fs::read(file.unwrap().path()).unwrap()).unwrap();
        for vector in file["vectors"].as_array().unwrap() {
            let Some(hex) = vector["hex"].as_str() else { continue };
            check(vector["name"].as_str().unwrap(), vector, &unhex(hex).unwrap());
            count += 1;
        }
    }
    assert!(count > 100);
}

#[test]
fn notes_mark_the_offsets_that_strict_decoding_rejects() {
    vectors("pson", |name, vector, bytes| {
        if let Some(canonical) = vector["canonical"].as_bool() {
            let (items, outcome) = walk(pson::walk, bytes);
            outcome.unwrap();
            let noted = items.0.iter().find(|(_, _, note)| note.is_some()).map(|(offset, ..)| *offset as u64);
            assert_eq!(noted.is_none(), canonical, "{name}");
            assert_eq!(noted, vector["strict_offset"].as_u64(), "{name}");
        }
    });
}

#[test]
fn damaged_messages_have_the_kind_and_offset_of_the_vectors() {
    vectors("invalid", |name, vector, bytes| {
        // Type mismatches and integers beyond 64 bits are errors of the reader; the bytes themselves are valid.
        if vector["read_as"].is_null() && vector["kind"] != "range" {
            let error = walk(pson::walk, bytes).1.unwrap_err();
            assert_eq!(error.kind().as_str(), vector["kind"], "{name}");
            assert_eq!(error.offset().unwrap() as u64, vector["offset"].as_u64().unwrap(), "{name}");
        }
    });
}

#[test]
fn cbor_and_msgpack_examples_carry_notes_where_a_shorter_form_exists() {
    let noted = |format: Walker, hex: &str| {
        let (items, outcome) = walk(format, &unhex(hex).unwrap());
        outcome.unwrap();
        items.0.iter().any(|(_, _, note)| note.is_some())
    };
    for (hex, note) in [
        ("17", false),
        ("1817", true),
        ("1818", false),
        ("19ff00", false),
        ("1900ff", true),
        ("f93c00", false),
        ("fa3f800000", true),
        ("fb3ff199999999999a", false),
        ("fb3ff8000000000000", true),
        ("5f42010243030405ff", false),
        ("bf61610161629f0203ffff", false),
        ("c11a514b67b0", false),
    ] {
        assert_eq!(noted(cbor::walk, hex), note, "CBOR {hex}");
    }
    for (hex, note) in [
        ("7f", false),
        ("cc7f", true),
        ("cc80", false),
        ("d1ff7f", false),
        ("d1ff80", true),
        ("d080", false),
        ("d0ff", true),
        ("ca3f800000", false),
        ("cb3ff0000000000000", true),
        ("d9027878", true),
        ("d6ff5a0b1c2d", false),
        ("dc0001c0", true),
    ] {
        assert_eq!(noted(msgpack::walk, hex), note, "MessagePack {hex}");
    }
}

#[test]
fn hostile_cbor_and_msgpack_end_in_an_error() {
    let deep = "81".repeat(33) + "00";
    let cbor = [
        "",
        "ff",
        "1c",
        "f800",
        "5f00ff",
        "5f5f",
        "8201",
        "9bffffffffffffffff",
        "a2616101616101",
        "61ff",
        &deep,
    ];
    let deep = "91".repeat(33) + "00";
    let msgpack = ["", "c1", "cc", "dfffffffff", "82a16101a16101", "a1ff", "d6ff", "0000", &deep];
    for (format, hexes) in [(cbor::walk as Walker, &cbor[..]), (msgpack::walk, &msgpack[..])] {
        for hex in hexes {
            assert!(walk(format, &unhex(hex).unwrap()).1.is_err(), "{hex}");
        }
    }
}

/// Random bytes, biased towards bytes that begin items.
fn bytes() -> impl Strategy<Value = Vec<u8>> {
    let heads = prop::sample::select(vec![
        0x00, 0x1f, 0x20, 0x3f, 0x40, 0x41, 0x60, 0x81, 0x9f, 0xa1, 0xc1, 0xc2, 0xdf, 0xe1, 0xe3, 0xff, 0x80,
        0x61, 0x7f, 0x5f, 0x18, 0xf9, 0xfb, 0xd9, 0xcc, 0xd6, 0xde,
    ]);
    prop::collection::vec(prop_oneof![2 => heads, 1 => any::<u8>()], 0..40)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4096))]

    #[test]
    fn pson_stops_where_the_decoder_stops(bytes in bytes()) {
        let decoded = dunnage_pson::from_slice::<dunnage_formats::Value>(&bytes).map(|_| ()).map_err(Error::from);
        let walked = walk(pson::walk, &bytes).1;
        match &decoded {
            Err(error) if error.kind() == Kind::Range => {}
            _ => prop_assert_eq!(
                walked.map_err(|error| (error.kind(), error.offset())),
                decoded.map_err(|error| (error.kind(), error.offset()))
            ),
        }
    }

    #[test]
    fn messages_that_cbor_and_msgpack_decode_can_be_inspected(bytes in bytes()) {
        for (format, id) in [(cbor::walk as Walker, "cbor"), (msgpack::walk, "msgpack")] {
            let id: Id = id.parse().unwrap();
            let decoded = id.open(None, Mapping::Exact).unwrap().decode(&bytes);
            let walked = walk(format, &bytes).1;
            prop_assert!(walked.is_ok() || decoded.is_err());
        }
    }
}
