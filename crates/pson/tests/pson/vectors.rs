//! Runs all vectors of `spec/vectors`.
use crate::notation;
use dunnage_pson::{Error, Floats, Options, Reader, Value, Writer};
use notation::{hex, load, message, value};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value as Json;

const STRICT: Options = Options::new().strict(true);
const LENIENT: Options = Options::new();

fn name(vector: &Json) -> &str {
    vector["name"].as_str().unwrap()
}

/// Decodes `bytes` with the reader and with serde, and checks that both return the same value or error.
fn decode(bytes: &[u8], options: Options) -> Result<Value, Error> {
    let read = options.reader(bytes).and_then(|mut reader| {
        let value = Value::read(&mut reader)?;
        reader.finish()?;
        Ok(value)
    });
    assert_eq!(read, options.from_slice(bytes));
    read
}

/// Encodes `value` with the writer and with serde, and checks that both write the same bytes.
fn encode(value: &Value, floats: Floats) -> Vec<u8> {
    let options = Options::new().floats(floats);
    let mut out = Vec::new();
    let mut writer = Writer::with_vec(&mut out).options(options);
    value.write(&mut writer);
    writer.finish().unwrap();
    assert_eq!(options.to_vec(value).as_ref(), Ok(&out));
    out
}

#[test]
fn messages_decode_to_their_values_and_encode_canonically() {
    let vectors: Vec<_> = load("pson").into_iter().filter(|v| v.get("read_as").is_none()).collect();
    assert!(vectors.len() >= 150, "{}", vectors.len());
    for vector in &vectors {
        let (name, bytes, expected) = (name(vector), message(vector), value(&vector["value"]));
        let canonical = if vector["canonical"].as_bool().unwrap() {
            assert_eq!(decode(&bytes, STRICT).as_ref(), Ok(&expected), "{name}");
            bytes.clone()
        } else {
            let error = decode(&bytes, STRICT).unwrap_err();
            assert_eq!(error.kind().as_str(), "malformed", "{name}");
            assert_eq!(error.offset() as u64, vector["strict_offset"], "{name}");
            hex(vector["canonical_hex"].as_str().unwrap())
        };
        assert_eq!(decode(&bytes, LENIENT).as_ref(), Ok(&expected), "{name}");
        assert_eq!(encode(&expected, Floats::Lossless), canonical, "{name}");
        let single = vector.get("single_hex").map_or(canonical, |text| hex(text.as_str().unwrap()));
        assert_eq!(encode(&expected, Floats::Single), single, "{name}");
        if let Some(size) = vector.get("size") {
            assert_eq!(bytes.len() as u64, *size, "{name}");
            assert_eq!(single.len() as u64, vector["single_size"], "{name}");
        }
    }
}

#[test]
fn errors_have_their_kind_and_offset() {
    let vectors: Vec<_> = load("invalid").into_iter().filter(|v| v.get("read_as").is_none()).collect();
    assert!(vectors.len() >= 100, "{}", vectors.len());
    for vector in &vectors {
        let bytes = message(vector);
        expect(vector, "lenient", decode(&bytes, LENIENT), "kind", "offset");
        let strict = decode(&bytes, STRICT);
        if vector.get("strict_kind").is_some() {
            expect(vector, "strict", strict, "strict_kind", "strict_offset");
        } else {
            expect(vector, "strict", strict, "kind", "offset");
        }
    }
}

fn expect<T: std::fmt::Debug>(vector: &Json, how: &str, result: Result<T, Error>, kind: &str, offset: &str) {
    let error = result.expect_err(name(vector));
    let found = (error.kind().as_str(), error.offset() as u64);
    let expected = (vector[kind].as_str().unwrap(), vector[offset].as_u64().unwrap());
    assert_eq!(found, expected, "{} {how}", name(vector));
}

/// Skipping finds every error except those that only occur when a value is built.
#[test]
fn skipping_finds_errors_too() {
    for vector in load("invalid").iter().filter(|v| v.get("read_as").is_none()) {
        let bytes = message(vector);
        let skipped = LENIENT.reader(&bytes).and_then(|mut reader| {
            reader.skip()?;
            reader.finish()
        });
        let only_when_built = name(vector).contains("duplicate") || vector["kind"] == "range";
        if !only_when_built {
            expect(vector, "skip", skipped, "kind", "offset");
        }
    }
    for vector in load("pson") {
        let bytes = message(&vector);
        let mut reader = LENIENT.reader(&bytes).unwrap();
        reader.skip().unwrap();
        assert_eq!(reader.finish(), Ok(()), "{}", name(&vector));
    }
}

#[test]
fn typed_reading_converts_without_loss() {
    let vectors: Vec<_> = load("pson").into_iter().filter(|v| v.get("read_as").is_some()).collect();
    assert!(!vectors.is_empty());
    for vector in &vectors {
        assert_eq!(read_as(vector).as_ref(), Ok(&value(&vector["value"])), "{}", name(vector));
        assert_eq!(deserialize_as(vector).as_ref(), Ok(&value(&vector["value"])), "{}", name(vector));
    }
}

#[test]
fn typed_reading_rejects_lossy_conversions() {
    let vectors: Vec<_> = load("invalid").into_iter().filter(|v| v.get("read_as").is_some()).collect();
    assert!(!vectors.is_empty());
    for vector in &vectors {
        expect(vector, "reading", read_as(vector), "kind", "offset");
        expect(vector, "deserializing", deserialize_as(vector), "kind", "offset");
    }
}

fn read_as(vector: &Json) -> Result<Value, Error> {
    let (bytes, read_as) = (message(vector), vector["read_as"].as_str().unwrap());
    let mut reader = Reader::new(&bytes)?;
    let value = match read_as.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
        None => read_one(&mut reader, read_as)?,
        Some(element) => {
            let mut elements = Vec::new();
            reader.enter_array()?;
            while reader.more() {
                elements.push(read_one(&mut reader, element)?);
            }
            reader.leave()?;
            Value::Array(elements)
        }
    };
    reader.finish()?;
    Ok(value)
}

fn read_one(reader: &mut Reader, read_as: &str) -> Result<Value, Error> {
    Ok(match read_as {
        "bool" => Value::Bool(reader.bool()?),
        "null" => reader.null().map(|()| Value::Null)?,
        "str" => reader.text()?.into(),
        "bytes" => Value::Bytes(reader.bytes()?.into()),
        "u8" => Value::U64(reader.u8()?.into()),
        "u16" => Value::U64(reader.u16()?.into()),
        "u32" => Value::U64(reader.u32()?.into()),
        "u64" => Value::U64(reader.u64()?),
        "i8" => i64::from(reader.i8()?).into(),
        "i16" => i64::from(reader.i16()?).into(),
        "i32" => i64::from(reader.i32()?).into(),
        "i64" => reader.i64()?.into(),
        "f32" => Value::F64(reader.f32()?.into()),
        "f64" => Value::F64(reader.f64()?),
        other => panic!("no such type: {other}"),
    })
}

/// Decodes a vector with serde as the Rust type that `read_as` names.
fn deserialize_as(vector: &Json) -> Result<Value, Error> {
    fn as_type<T: DeserializeOwned + Serialize>(bytes: &[u8], list: bool) -> Result<Value, Error> {
        let again = if list {
            dunnage_pson::to_vec(&dunnage_pson::from_slice::<Vec<T>>(bytes)?)
        } else {
            dunnage_pson::to_vec(&dunnage_pson::from_slice::<T>(bytes)?)
        };
        dunnage_pson::from_slice(&again?)
    }
    let (bytes, read_as) = (message(vector), vector["read_as"].as_str().unwrap());
    let (read_as, list) = match read_as.strip_prefix('[') {
        Some(rest) => (rest.trim_end_matches(']'), true),
        None => (read_as, false),
    };
    match read_as {
        "bool" => as_type::<bool>(&bytes, list),
        "null" => as_type::<()>(&bytes, list),
        "str" => as_type::<String>(&bytes, list),
        "bytes" => dunnage_pson::from_slice::<&[u8]>(&bytes).map(|bytes| Value::Bytes(bytes.into())),
        "u8" => as_type::<u8>(&bytes, list),
        "u16" => as_type::<u16>(&bytes, list),
        "u32" => as_type::<u32>(&bytes, list),
        "u64" => as_type::<u64>(&bytes, list),
        "i8" => as_type::<i8>(&bytes, list),
        "i16" => as_type::<i16>(&bytes, list),
        "i32" => as_type::<i32>(&bytes, list),
        "i64" => as_type::<i64>(&bytes, list),
        "f32" => as_type::<f32>(&bytes, list),
        "f64" => as_type::<f64>(&bytes, list),
        other => panic!("no such type: {other}"),
    }
}
