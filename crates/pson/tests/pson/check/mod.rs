//! Invariants of the decoders for any bytes. The fuzz target and the tests share this file.

mod built;

use dunnage_pson::{Kind, Options, Reader, Value, from_slice, to_vec};

const STRICT: Options = Options::new().strict(true);

/// Decodes `bytes` in every way. Panics if the results differ or violate an invariant.
pub fn check(bytes: &[u8]) {
    let decoded: Result<Value, _> = from_slice(bytes);
    assert_eq!(decoded, read(bytes), "the reader and serde differ");
    assert_eq!(decoded, built::build(bytes, Options::new()), "the builder and serde differ");
    assert_eq!(STRICT.from_slice(bytes), built::build(bytes, STRICT), "the strict builder and serde differ");
    match &decoded {
        Ok(value) => check_value(bytes, value),
        Err(error) => {
            assert!(error.offset() <= bytes.len());
            assert_eq!(error.kind() == Kind::Truncated, error.offset() == bytes.len(), "{error}");
            assert!(
                STRICT.from_slice::<Value>(bytes).is_err(),
                "strict accepts a message that lenient rejects"
            );
        }
    }
    if let Err(error) = skip(bytes) {
        assert_eq!(
            decoded.map_err(|e| e.offset() <= error.offset()),
            Err(true),
            "skipping rejects a message that decoding accepts: {error}"
        );
    }
}

fn check_value(bytes: &[u8], value: &Value) {
    let canonical = to_vec(value).expect("a decoded value can be encoded");
    let strict: Result<Value, _> = STRICT.from_slice(bytes);
    match strict {
        Ok(strict) => {
            assert_eq!(canonical, bytes, "strict accepts a message that is not canonical");
            assert_eq!(strict, *value);
        }
        Err(error) => {
            assert_eq!(error.kind(), Kind::Malformed, "{error}");
            assert_ne!(canonical, bytes, "strict rejects a canonical message: {error}");
            assert_eq!(STRICT.from_slice::<Value>(&canonical).as_ref(), Ok(value));
        }
    }
    for end in prefixes(bytes.len()) {
        let error = from_slice::<Value>(&bytes[..end]).expect_err("a prefix is not a message");
        assert_eq!((error.kind(), error.offset()), (Kind::Truncated, end));
    }
}

/// Returns all lengths below `len`, or some of them if there are many.
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
