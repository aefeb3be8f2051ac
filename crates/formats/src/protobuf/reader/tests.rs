use super::super::{
    compile::Definition,
    shape::{Form, MessageShape, Scalar, Shapes},
    wire::Input,
    writer,
};
use crate::{Budget, Error, Kind, Value};
use prost_reflect::prost::encoding::{WireType, encode_varint};
use prost_reflect::{DynamicMessage, MessageDescriptor, ReflectMessage as _, prost::Message as _};

fn read(shapes: &Shapes, bytes: &[u8]) -> Result<Value, Error> {
    super::read(shapes, bytes, &Budget::default())
}

const EVERYTHING: &str = r#"
    syntax = "proto3";
    message M {
        bool a = 1; int32 b = 2; int64 c = 3; uint32 d = 4; uint64 e = 5; sint32 f = 6; sint64 g = 7;
        fixed32 h = 8; fixed64 i = 9; sfixed32 j = 10; sfixed64 k = 11; float l = 12; double m = 13;
        string n = 14; bytes o = 15;
        E p = 16; repeated sint32 q = 17; repeated string r = 18; map<string, M> s = 19; M t = 20;
        optional uint32 u = 21; oneof one { uint32 v = 22; string w = 23; M x = 24; }
        repeated M y = 25; map<int32, uint32> z = 26;
    }
    enum E { ZERO = 0; ONE = 1; }"#;

/// Every field of `EVERYTHING`, as `protoc --encode` writes them.
const FULL: &[u8] = b"\x08\x01\x10\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x18\x80\x01\x20\x7f\x28\xac\x02\x30\x03\x38\x04\
    \x45\x01\x00\x00\x00\x49\x02\x00\x00\x00\x00\x00\x00\x00\x55\xff\xff\xff\xff\x59\xfe\xff\xff\xff\xff\xff\xff\xff\
    \x65\x00\x00\xc0\x3f\x69\x00\x00\x00\x00\x00\x00\x04\x40\x72\x02hi\x7a\x02\x00\xff\x80\x01\x01\
    \x8a\x01\x03\x01\x02\x03\x92\x01\x01x\x92\x01\x00\x9a\x01\x07\x0a\x01k\x12\x02\x20\x05\
    \xa2\x01\x05\xa2\x01\x02\x08\x01\xa8\x01\x00\xba\x01\x01w\xca\x01\x02\x10\x07\xd2\x01\x04\x08\x02\x10\x03";

fn shapes() -> (MessageDescriptor, Shapes) {
    let descriptor = Definition::of(EVERYTHING, None).unwrap().0;
    let shapes = Shapes::of(&descriptor, None).unwrap();
    (descriptor, shapes)
}

/// Returns whether a map occurs with a wire type that is not its own. prost-reflect reads it as if the wire type were right.
fn has_foreign_map(shapes: &Shapes, shape: &MessageShape, bytes: &[u8]) -> bool {
    let mut input = Input::new(bytes);
    while let Ok((number, wire_type)) = input.tag(bytes.len()) {
        let field = shape.find(number, 0).map(|at| &shape.fields[at]);
        match (field.map(|field| (field.form, &field.kind)), wire_type) {
            (Some((_, Scalar::Message(index))), WireType::LengthDelimited) => {
                let Ok(inner) = input.bytes(bytes.len()) else { return false };
                if has_foreign_map(shapes, shapes.message(*index), inner) {
                    return true;
                }
            }
            (Some((Form::Map, _)), _) => return true,
            _ if input.pass(number, wire_type, bytes.len(), 0).is_err() => return false,
            _ => {}
        }
    }
    false
}

/// Decodes with both readers. If prost-reflect accepts the bytes, the tree must be the same message. Returns whether both accept them.
fn agree(descriptor: &MessageDescriptor, shapes: &Shapes, bytes: &[u8]) -> bool {
    let ours = read(shapes, bytes);
    if has_foreign_map(shapes, shapes.root(), bytes) {
        return false;
    }
    match (DynamicMessage::decode(descriptor.clone(), bytes), ours) {
        (Ok(mut theirs), Ok(tree)) => {
            remove_unknown(&mut theirs);
            let written = writer::write(shapes, &tree).unwrap();
            // Whether a default is present shows only after writing. NaN is not equal to itself, so texts are compared.
            let again =
                |m: DynamicMessage| DynamicMessage::decode(m.descriptor(), &*m.encode_to_vec()).unwrap();
            let (written, theirs) = (again(written), again(theirs));
            assert!(
                written == theirs || theirs.to_string().contains("NaN"),
                "{written}\n{theirs}\n{bytes:02x?}"
            );
            true
        }
        // This reader limits nesting to 32 levels instead of 100.
        (Ok(_), Err(e)) => {
            assert!(e.kind() == Kind::Limit, "{e} in {bytes:02x?}");
            false
        }
        // Protobuf's own libraries skip a field of another wire type; prost-reflect rejects it.
        (Err(theirs), Ok(_)) => {
            assert!(theirs.to_string().contains("wire type"), "{theirs} in {bytes:02x?}");
            false
        }
        (Err(_), Err(_)) => false,
    }
}

fn remove_unknown(message: &mut DynamicMessage) {
    use prost_reflect::Value as Wire;
    fn inside(value: &mut Wire) {
        match value {
            Wire::Message(inner) => remove_unknown(inner),
            Wire::List(items) => items.iter_mut().for_each(inside),
            Wire::Map(entries) => entries.values_mut().for_each(inside),
            _ => {}
        }
    }
    let known: Vec<_> = message.fields().map(|(field, _)| field).collect();
    let mut clean = DynamicMessage::new(message.descriptor());
    for field in known {
        if let Some(mut value) = message.take_field(&field) {
            inside(&mut value);
            clean.set_field(&field, value);
        }
    }
    *message = clean;
}

fn error_of(bytes: &[u8]) -> (Kind, usize) {
    let error: Error = read(&shapes().1, bytes).unwrap_err();
    (error.kind(), error.offset().unwrap())
}

#[test]
fn every_kind_of_field_is_read_as_prost_reflect_reads_it() {
    let (descriptor, shapes) = shapes();
    assert!(agree(&descriptor, &shapes, FULL));
    let Ok(Value::Array(values)) = read(&shapes, FULL) else { panic!() };
    assert_eq!(values[1], Value::I64(-1));
    assert_eq!(values[5], Value::I64(-2));
    assert_eq!(values[16], Value::Array(vec![Value::I64(-1), Value::U64(1), Value::I64(-2)]));
}

/// Appends each field of `EVERYTHING` to a message with every wire type that is not its own. Protobuf's own libraries treat all of them as
/// unknown fields.
#[test]
fn a_field_of_another_wire_type_is_skipped() {
    let (_, shapes) = shapes();
    let contents: [(u64, &[u8]); 5] = [
        (0, b"\x05"),
        (1, b"\x01\x02\x03\x04\x05\x06\x07\x08"),
        (2, b"\x02\xff\xff"),
        (3, b""),
        (5, b"\x01\x02\x03\x04"),
    ];
    let mut skipped = 0;
    for field in &shapes.root().fields {
        for (wire_type, content) in contents {
            let packed = field.form == Form::List && wire_type == 2;
            if packed || field.wire_type as u64 == wire_type {
                continue;
            }
            let mut tail = Vec::new();
            encode_varint(u64::from(field.number) << 3 | wire_type, &mut tail);
            tail.extend_from_slice(content);
            if wire_type == 3 {
                encode_varint(u64::from(field.number) << 3 | 4, &mut tail);
            }
            assert_eq!(read(&shapes, &tail), read(&shapes, b""), "{} {tail:02x?}", field.descriptor.name());
            assert_eq!(read(&shapes, &[FULL, &tail].concat()), read(&shapes, FULL), "{tail:02x?}");
            skipped += 1;
        }
    }
    assert!(skipped > 100, "{skipped}");
}

#[test]
fn numbers_of_a_list_are_read_unpacked_and_packed() {
    let packed = "syntax = \"proto3\"; message M { repeated sint32 a = 1; repeated double b = 2; repeated bool c = 3; }";
    let unpacked = packed.replace(" = 1", " = 1 [packed = false]").replace(" = 2", " = 2 [packed = false]");
    let both = b"\x08\x01\x0a\x02\x02\x03\x08\x04\x11\0\0\0\0\0\0\xf0\x3f\x12\x08\0\0\0\0\0\0\0\x40\x18\x01\x1a\x01\0";
    let list = |items: &[Value]| Value::Array(items.to_vec());
    for source in [packed, &unpacked] {
        let shapes = Shapes::of(&Definition::of(source, None).unwrap().0, None).unwrap();
        let a = [-1, 1, -2, 2].map(|n| Value::from(i64::from(n)));
        let expected = list(&[
            list(&a),
            list(&[Value::F64(1.0), Value::F64(2.0)]),
            list(&[Value::Bool(true), Value::Bool(false)]),
        ]);
        assert_eq!(read(&shapes, both), Ok(expected), "{source}");
    }
}

#[test]
fn later_fields_replace_or_extend_earlier_ones() {
    let (descriptor, shapes) = shapes();
    for bytes in [
        &b"\x20\x01\x20\x02"[..],                                      // the last one wins
        b"\xa2\x01\x02\x08\x01\xa2\x01\x02\x20\x05",                   // messages are merged
        b"\xb0\x01\x07\xba\x01\x01w",                                  // the last field of a oneof wins
        b"\xba\x01\x01w\xb0\x01\x07",                                  // in either order
        b"\x88\x01\x01\x8a\x01\x02\x02\x03\x88\x01\x04",               // packed and unpacked
        b"\x9a\x01\x03\x0a\x01k\x9a\x01\x07\x0a\x01k\x12\x02\x20\x05", // a duplicate key, a missing value
        b"\xd2\x01\x02\x10\x03\xd2\x01\x00",                           // entries without a key
        b"\xc2\x3e\x03abc\x20\x01",                                    // an unknown field
        b"\xc3\x3e\x08\x01\xcb\x3e\xcc\x3e\xc4\x3e\x20\x01",           // an unknown group with a nested one
    ] {
        assert!(agree(&descriptor, &shapes, bytes), "{bytes:02x?}");
    }
}

#[test]
fn damaged_messages_are_read_as_prost_reflect_reads_them() {
    let (descriptor, shapes) = shapes();
    let mut random = fastrand::Rng::with_seed(1);
    let mut read = 0;
    for _ in 0..40_000 {
        let mut bytes = FULL.to_vec();
        for _ in 0..=random.usize(..3) {
            let at = random.usize(..bytes.len());
            match random.u8(..3) {
                0 => bytes[at] = random.u8(..),
                1 => drop(bytes.remove(at)),
                _ => bytes.insert(at, random.u8(..)),
            }
        }
        read += u32::from(agree(&descriptor, &shapes, &bytes));
    }
    assert!(read > 1000, "{read}");
}

#[test]
fn errors_have_their_kind_and_offset() {
    assert_eq!(error_of(b"\x20"), (Kind::Truncated, 1));
    assert_eq!(error_of(b"\x72\x05hi"), (Kind::Truncated, 4));
    assert_eq!(error_of(b"\x72\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"), (Kind::Truncated, 11));
    assert_eq!(error_of(b"\x72\x02h\xff"), (Kind::Malformed, 3));
    assert_eq!(error_of(b"\x20\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02"), (Kind::Malformed, 1));
    assert_eq!(error_of(b"\x00\x00"), (Kind::Malformed, 0));
    assert_eq!(error_of(b"\xa2\x01\x01\x20\x01"), (Kind::Malformed, 4), "beyond the message inside");
    assert_eq!(error_of(b"\xc4\x3e"), (Kind::Malformed, 2), "END_GROUP without START_GROUP");
    let deep = (0..40).fold(Vec::new(), |inner: Vec<u8>, _| {
        [&[0xa2, 0x01][..], &[inner.len() as u8 | 0x80, (inner.len() >> 7) as u8], &inner].concat()
    });
    assert_eq!(error_of(&deep), (Kind::Limit, 31 * 4));
}
