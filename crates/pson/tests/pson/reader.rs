//! The reader, item by item.
use dunnage_pson::{Item, ItemType, Kind, Options, Reader};

/// {"a":[1,{"b":null}],"c":"x","d":a201}
const MESSAGE: &[u8] = b"\xc3\x81a\xe2\x01\xc1\x81b\x62\x81c\x81x\x81d\xa1\x01";

fn error_of<T: std::fmt::Debug>(result: Result<T, dunnage_pson::Error>) -> (Kind, usize) {
    let error = result.unwrap_err();
    (error.kind(), error.offset())
}

#[test]
fn items_are_read_in_order_and_containers_are_entered() {
    let mut reader = Reader::new(MESSAGE).unwrap();
    let expected = [
        Item::Map(3),
        Item::Text("a"),
        Item::Array(2),
        Item::Unsigned(1),
        Item::Map(1),
        Item::Text("b"),
        Item::Null,
    ];
    for item in expected {
        assert_eq!(reader.item().unwrap(), item);
    }
    assert!(!reader.more());
    assert_eq!(error_of(reader.item()), (Kind::Type, 9));
    reader.leave().unwrap();
    reader.leave().unwrap();
    assert_eq!(reader.key().unwrap(), "c");
    assert_eq!(reader.text().unwrap(), "x");
    assert_eq!(reader.item().unwrap(), Item::Text("d"));
    assert_eq!(reader.bytes().unwrap(), [1]);
    reader.leave().unwrap();
    reader.finish().unwrap();
}

#[test]
fn peek_returns_the_type_and_consumes_nothing() {
    let types = [
        (b"\x05".as_slice(), ItemType::Unsigned),
        (b"\x21", ItemType::Negative),
        (b"\x40\x00\x00\xbc\x41", ItemType::Float),
        (b"\x60", ItemType::Bool),
        (b"\x61", ItemType::Bool),
        (b"\x62", ItemType::Null),
        (b"\x80", ItemType::Text),
        (b"\xa0", ItemType::Bytes),
        (b"\xc0", ItemType::Map),
        (b"\xe0", ItemType::Array),
    ];
    for (message, expected) in types {
        let mut reader = Reader::new(message).unwrap();
        assert_eq!(reader.peek().unwrap(), expected);
        assert_eq!(reader.offset(), 0);
        reader.skip().unwrap();
        reader.finish().unwrap();
    }
    assert_eq!(error_of(Reader::new(b"\x63").unwrap().peek()), (Kind::Malformed, 0));
    assert_eq!(error_of(Reader::new(b"").unwrap().peek()), (Kind::Truncated, 0));
}

#[test]
fn after_a_type_error_the_item_can_be_read_with_its_type() {
    let mut reader = Reader::new(b"\xe2\x82ab\x1f\xac\x02").unwrap();
    reader.enter_array().unwrap();
    assert_eq!(error_of(reader.u8()), (Kind::Type, 1));
    assert_eq!(error_of(reader.enter_map()), (Kind::Type, 1));
    assert_eq!(reader.text().unwrap(), "ab");
    assert_eq!(error_of(reader.u8()), (Kind::Range, 4));
    assert_eq!(reader.u16().unwrap(), 300);
    reader.leave().unwrap();
    reader.finish().unwrap();
}

#[test]
fn leave_skips_the_remaining_items() {
    let mut reader = Reader::new(MESSAGE).unwrap();
    reader.enter_map().unwrap();
    reader.key().unwrap();
    reader.enter_array().unwrap();
    reader.leave().unwrap();
    assert_eq!(reader.key().unwrap(), "c");
    reader.leave().unwrap();
    assert_eq!(error_of(reader.leave()), (Kind::Type, MESSAGE.len()));
    reader.finish().unwrap();
}

#[test]
fn keys_are_found_in_any_order_and_at_any_level() {
    let mut reader = Reader::new(MESSAGE).unwrap();
    assert_eq!(error_of(reader.find("a")), (Kind::Type, 0));
    reader.enter_map().unwrap();
    assert!(reader.find("d").unwrap());
    assert_eq!(reader.bytes().unwrap(), [1]);
    assert!(reader.find("a").unwrap());
    reader.enter_array().unwrap();
    reader.skip().unwrap();
    reader.enter_map().unwrap();
    assert!(!reader.find("a").unwrap());
    assert!(!reader.more());
    assert!(reader.find("b").unwrap());
    reader.null().unwrap();
    reader.leave().unwrap();
    reader.leave().unwrap();
    assert!(reader.find("c").unwrap());
    assert_eq!(reader.text().unwrap(), "x");
    assert!(!reader.find("").unwrap());
    reader.leave().unwrap();
    reader.finish().unwrap();
}

#[test]
fn key_is_an_error_except_at_a_key() {
    let mut reader = Reader::new(b"\xc2\x81a\x81b\x05\x00").unwrap();
    assert_eq!(error_of(reader.key()), (Kind::Type, 0));
    reader.enter_map().unwrap();
    assert_eq!(error_of(reader.u8()), (Kind::Type, 1));
    assert_eq!(reader.key().unwrap(), "a");
    assert_eq!(error_of(reader.key()), (Kind::Type, 3));
    assert_eq!(reader.text().unwrap(), "b");
    assert_eq!(error_of(reader.u8()), (Kind::Malformed, 5));
    assert_eq!(error_of(reader.item()), (Kind::Malformed, 5));
    assert_eq!(error_of(reader.skip()), (Kind::Malformed, 5));
}

#[test]
fn finish_requires_the_end_of_the_message() {
    assert_eq!(error_of(Reader::new(b"\x05").unwrap().finish()), (Kind::Type, 0));
    let mut reader = Reader::new(b"\xe0\x05").unwrap();
    reader.enter_array().unwrap();
    assert_eq!(error_of(reader.clone().finish()), (Kind::Type, 1));
    reader.leave().unwrap();
    assert_eq!(error_of(reader.u8()), (Kind::Type, 1));
    assert_eq!(error_of(reader.finish()), (Kind::Malformed, 1));
}

#[test]
fn nesting_limit_counts_open_containers() {
    let options = Options::new().max_nesting(2);
    let mut reader = options.reader(b"\xe2\xe0\xe1\xe0").unwrap();
    reader.enter_array().unwrap();
    reader.enter_array().unwrap();
    reader.leave().unwrap();
    reader.enter_array().unwrap();
    assert_eq!(error_of(reader.enter_array()), (Kind::Limit, 3));
    assert_eq!(error_of(reader.u8()), (Kind::Limit, 3));
    assert_eq!(error_of(reader.skip()), (Kind::Limit, 3));
}

#[test]
fn counts_beyond_the_end_are_truncated() {
    let message = b"\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x00";
    let mut reader = Reader::new(message).unwrap();
    assert_eq!(reader.item().unwrap(), Item::Array(u64::MAX));
    assert_eq!(reader.u8().unwrap(), 0);
    assert!(reader.more());
    assert_eq!(error_of(reader.u8()), (Kind::Truncated, 12));
    assert_eq!(error_of(reader.leave()), (Kind::Truncated, 12));
}
