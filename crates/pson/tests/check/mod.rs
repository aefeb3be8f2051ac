//! What holds for any bytes at all. The fuzzer and the stable tests share it.

use dunnage_pson::{Kind, Options, Reader, Value, from_slice, to_vec};

const STRICT: Options = Options::new().strict(true);

/// Decodes `bytes` in every way and compares; panics when something does not hold.
pub fn check(bytes: &[u8]) {
    let decoded: Result<Value, _> = from_slice(bytes);
    assert_eq!(decoded, read(bytes), "the reader and serde differ");
    match &decoded {
        Ok(value) => check_value(bytes, value),
        Err(error) => {
            assert!(error.offset() <= bytes.len());
            assert_eq!(error.kind() == Kind::Truncated, error.offset() == bytes.len(), "{error}");
            assert!(STRICT.from_slice::<Value>(bytes).is_err(), "strict accepts what lenient refuses");
        }
    }
    if let Err(error) = skip(bytes) {
        assert_eq!(
            decoded.map_err(|e| e.offset() <= error.offset()),
            Err(true),
            "skipping refuses more: {error}"
        );
    }
}

fn check_value(bytes: &[u8], value: &Value) {
    let canonical = to_vec(value).expect("what was decoded can be encoded");
    let strict: Result<Value, _> = STRICT.from_slice(bytes);
    match strict {
        Ok(strict) => {
            assert_eq!(canonical, bytes, "strict accepts what is not canonical");
            assert_eq!(strict, *value);
        }
        Err(error) => {
            assert_eq!(error.kind(), Kind::Malformed, "{error}");
            assert_ne!(canonical, bytes, "strict refuses what is canonical: {error}");
            assert_eq!(STRICT.from_slice::<Value>(&canonical).as_ref(), Ok(value));
        }
    }
    for end in prefixes(bytes.len()) {
        let error = from_slice::<Value>(&bytes[..end]).expect_err("a prefix is no message");
        assert_eq!((error.kind(), error.offset()), (Kind::Truncated, end));
    }
}

/// All lengths below `len`, or some of them when they are many.
fn prefixes(len: usize) -> impl Iterator<Item = usize> {
    (0..len).step_by(len / 64 + 1)
}

fn read(bytes: &[u8]) -> Result<Value, dunnage_pson::Error> {
    let mut reader = Reader::new(bytes)?;
    let value = Value::read(&mut reader)?;
    reader.finish()?;
    Ok(value)
}

fn skip(bytes: &[u8]) -> Result<(), dunnage_pson::Error> {
    let mut reader = Reader::new(bytes)?;
    reader.skip()?;
    reader.finish()
}
