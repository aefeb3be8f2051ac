//! The fields of a JSON envelope. Marshalers differ in what they leave out, write as null, or write as text, so all of these mean the same:
//! `{"fPort": 2}` and `{"fPort": "2"}`; `{}`, `{"fPort": null}` and, where a provider's format is Protobuf's, `{"fPort": 0}`.

use super::envelope::foreign;
use dunnage_formats::{Altered, Format, Json, Numbers, Reception, Value};
use dunnage_ingest::Rejected;
use dunnage_schema::pointer;
use serde_json::value::RawValue;

/// The memory for a parsed envelope in bytes, as `dunnage_formats::Budget` counts it.
const MEMORY: usize = 8 << 20;

/// A parsed JSON envelope.
pub struct Fields<'b> {
    value: Value,
    bytes: &'b [u8],
}

impl<'b> Fields<'b> {
    /// Parses an envelope. Errors have an offset: invalid JSON, a duplicate key, more than 32 levels. NaN and infinities are null.
    pub fn read(bytes: &'b [u8]) -> Result<Fields<'b>, Rejected> {
        let altered = Altered::default();
        let numbers = Numbers::Lenient(&altered);
        let reception = Reception { numbers, memory: MEMORY, ..Reception::default() };
        let value = Json.decode_from(bytes, &reception).map_err(|error| {
            let found = foreign(format!("the envelope is not valid JSON: {}", error.message()));
            Rejected { kind: Some(error.kind().as_str()), offset: error.offset(), ..found }
        })?;
        match value {
            Value::Map(_) => Ok(Fields { value, bytes }),
            _ => Err(foreign("the envelope must be a JSON object")),
        }
    }

    /// Returns the whole envelope.
    pub fn value(&self) -> &Value {
        &self.value
    }

    /// Returns whether there is a value, even null, at `pointer`.
    pub fn has(&self, pointer: &str) -> bool {
        pointer::find(&self.value, pointer).is_some()
    }

    /// Returns the text, or the number as text, at `pointer`.
    pub fn text(&self, pointer: &str) -> Option<String> {
        text(&self.value, pointer)
    }

    /// Returns the ID at `pointer`, a text or a whole number of at most 64 bits. A larger number has lost its last digits.
    pub fn id(&self, pointer: &str) -> Option<String> {
        id(&self.value, pointer)
    }

    /// Returns the ID at `pointer`; the error names it.
    pub fn needed(&self, pointer: &str) -> Result<String, Rejected> {
        self.id(pointer)
            .ok_or_else(|| foreign(format!("the envelope has no {}", &pointer[1..].replace('/', "."))))
    }

    /// Returns the number at `pointer`.
    pub fn number(&self, pointer: &str) -> Option<f64> {
        number(&self.value, pointer)
    }

    /// Returns the whole number from 0 to 4,294,967,295 at `pointer`.
    pub fn count(&self, pointer: &str) -> Option<u32> {
        self.text(pointer)?.parse().ok()
    }

    /// Returns the port at `pointer`, if there is one. Anything else than 0 to 255 there is an error.
    pub fn port(&self, pointer: &str) -> Result<Option<u8>, Rejected> {
        match pointer::find(&self.value, pointer) {
            None | Some(Value::Null) => Ok(None),
            Some(_) => match self.text(pointer).and_then(|text| text.parse().ok()) {
                Some(port) => Ok(Some(port)),
                None => Err(foreign(format!("{pointer} must be a port, a whole number from 0 to 255"))),
            },
        }
    }

    /// Returns the elements of the array at `pointer`; none if there is no array.
    pub fn items(&self, pointer: &str) -> &[Value] {
        match pointer::find(&self.value, pointer) {
            Some(Value::Array(items)) => items,
            _ => &[],
        }
    }

    /// Returns the JSON text at `pointer` as it was received, with all digits of its numbers. Null counts as missing.
    pub fn raw(&self, pointer: &str) -> Option<Box<RawValue>> {
        let value = pointer::find(&self.value, pointer).filter(|value| **value != Value::Null)?;
        let text = dunnage_formats::json_offset(self.bytes, pointer).and_then(|at| self.bytes.get(at..));
        let mut texts = serde_json::Deserializer::from_slice(text?).into_iter::<Box<RawValue>>();
        match texts.next() {
            Some(Ok(text)) => Some(text),
            // NaN is not JSON.
            _ => raw(value),
        }
    }
}

/// Returns `value` as JSON text.
pub fn raw(value: &Value) -> Option<Box<RawValue>> {
    let mut text = Vec::new();
    Json.encode(value, &mut text).ok()?;
    RawValue::from_string(String::from_utf8(text).ok()?).ok()
}

/// Returns the text, or the number as text, at `pointer` in `value`. An empty text counts as missing.
pub fn text(value: &Value, pointer: &str) -> Option<String> {
    match pointer::find(value, pointer)? {
        Value::Text(text) => Some(text.clone()).filter(|text| !text.is_empty()),
        Value::U64(n) => Some(n.to_string()),
        Value::I64(n) => Some(n.to_string()),
        Value::F64(n) => Some(n.to_string()),
        _ => None,
    }
}

/// Returns the ID at `pointer` in `value`, a text or a whole number of at most 64 bits. A larger number has lost its last digits.
pub fn id(value: &Value, pointer: &str) -> Option<String> {
    let exact = !matches!(pointer::find(value, pointer)?, Value::F64(_));
    text(value, pointer).filter(|_| exact)
}

/// Returns the finite number at `pointer` in `value`, which may be written as text.
pub fn number(value: &Value, pointer: &str) -> Option<f64> {
    text(value, pointer)?.trim().parse().ok().filter(|number: &f64| number.is_finite())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_may_be_text_and_null_is_missing() {
        let fields =
            Fields::read(br#"{"a":2,"b":"2","c":null,"d":NaN,"e":"NaN","f":300,"g":-1,"h":1.5,"i":""}"#)
                .unwrap();
        assert_eq!([fields.number("/a"), fields.number("/b")], [Some(2.0); 2]);
        for missing in ["/c", "/d", "/e", "/i", "/z"] {
            assert_eq!(fields.number(missing), None, "{missing}");
        }
        assert_eq!(
            [fields.port("/a").unwrap(), fields.port("/b").unwrap(), fields.port("/c").unwrap()],
            [Some(2), Some(2), None]
        );
        for bad in ["/f", "/g", "/h", "/i"] {
            assert!(fields.port(bad).is_err(), "{bad}");
        }
        assert_eq!((fields.count("/f"), fields.count("/g"), fields.count("/h")), (Some(300), None, None));
    }

    #[test]
    fn raw_text_keeps_the_digits_of_numbers() {
        let fields = Fields::read(
            br#" {"o": {"t": 21.50, "n": 12345678901234567890123}, "nan": [NaN], "null": null}"#,
        )
        .unwrap();
        assert_eq!(fields.raw("/o").unwrap().get(), r#"{"t": 21.50, "n": 12345678901234567890123}"#);
        assert_eq!(fields.raw("/nan").unwrap().get(), "[null]");
        assert!(fields.raw("/null").is_none() && fields.raw("/x").is_none());
    }

    #[test]
    fn errors_of_json_have_an_offset() {
        for (text, offset) in [("{\"a\":1,\"a\":2}", Some(7)), ("{\"a\":", Some(5)), ("", Some(0))] {
            let rejected = Fields::read(text.as_bytes()).err().unwrap();
            assert_eq!(rejected.offset, offset, "{text}: {rejected:?}");
        }
        assert!(Fields::read(b"[]").is_err() && Fields::read(&b"[".repeat(1 << 20)).is_err());
    }
}
