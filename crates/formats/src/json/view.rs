//! The view of a message as JSON, which the gateway stores and shows.

use crate::{Error, Kind, Value};
use base64::{Engine, engine::general_purpose::STANDARD};
use serde::ser::{Error as _, Serialize, SerializeMap, SerializeSeq, Serializer};
use std::io;

/// Longest JSON text of a message, in bytes. One character of a text can take six in JSON.
const MAX_BYTES: usize = 4 << 20;
/// Longer texts, in bytes, are shrunk to their size.
const LARGE: usize = 64 << 10;

/// Returns any `message` as compact JSON, for people and programs that read JSON: as the format writes it, but bytes are `{"$bytes":"base64"}`,
/// and what JSON lacks of the numbers is `{"$float":"NaN"}` (or `"Infinity"`, `"-Infinity"`). A message that has such objects itself looks the
/// same.
///
/// # Errors
/// `limit` if the text would take more than 4 MiB.
///
/// ```
/// use dunnage_formats::{Value, json_view};
///
/// let message = Value::Array(vec![Value::Bytes(vec![1, 2]), Value::F64(f64::NAN)]);
/// assert_eq!(json_view(&message)?, r#"[{"$bytes":"AQI="},{"$float":"NaN"}]"#);
/// # Ok::<(), dunnage_formats::Error>(())
/// ```
pub fn view(message: &Value) -> Result<String, Error> {
    let mut text = Text(Vec::with_capacity(512));
    let written = serde_json::to_writer(&mut text, &View(message));
    let Text(mut text) = text;
    if text.len() > LARGE {
        text.shrink_to_fit();
    }
    let text = written.and_then(|()| String::from_utf8(text).map_err(serde_json::Error::custom));
    text.map_err(|error| Error::of_value(Kind::Limit, "", error.to_string()))
}

/// A writer that fails beyond the limit.
struct Text(Vec<u8>);

impl io::Write for Text {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.0.len() + bytes.len() > MAX_BYTES {
            return Err(io::Error::other("the message is larger than 4 MiB as JSON"));
        }
        self.0.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

struct View<'a>(&'a Value);

impl Serialize for View<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Value::Null => to.serialize_unit(),
            Value::Bool(b) => to.serialize_bool(*b),
            Value::U64(n) => to.serialize_u64(*n),
            Value::I64(n) => to.serialize_i64(*n),
            Value::F64(f) if f.is_finite() => to.serialize_f64(*f),
            Value::F64(f) if f.is_nan() => single(to, "$float", "NaN"),
            Value::F64(f) if *f > 0.0 => single(to, "$float", "Infinity"),
            Value::F64(_) => single(to, "$float", "-Infinity"),
            Value::Text(text) => to.serialize_str(text),
            Value::Bytes(bytes) => single(to, "$bytes", &STANDARD.encode(bytes)),
            Value::Array(items) => {
                let mut array = to.serialize_seq(Some(items.len()))?;
                for item in items {
                    array.serialize_element(&View(item))?;
                }
                array.end()
            }
            Value::Map(entries) => {
                let mut map = to.serialize_map(Some(entries.len()))?;
                for (key, value) in entries {
                    map.serialize_entry(key, &View(value))?;
                }
                map.end()
            }
        }
    }
}

fn single<S: Serializer>(to: S, key: &'static str, text: &str) -> Result<S::Ok, S::Error> {
    let mut map = to.serialize_map(Some(1))?;
    map.serialize_entry(key, text)?;
    map.end()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_compact_json_with_its_keys_in_order() {
        let message = Value::Map(vec![
            ("b".into(), Value::Array(vec![Value::U64(u64::MAX), Value::I64(i64::MIN), Value::Null])),
            ("a".into(), Value::F64(1.5)),
            ("".into(), "a\"\u{1}é".into()),
            ("whole".into(), Value::F64(48.0)),
            ("zero".into(), Value::F64(-0.0)),
        ]);
        assert_eq!(
            view(&message).unwrap(),
            r#"{"b":[18446744073709551615,-9223372036854775808,null],"a":1.5,"":"a\"\u0001é","whole":48.0,"zero":-0.0}"#
        );
    }

    #[test]
    fn text_is_written_up_to_the_limit() {
        let fits = Value::Text("a".repeat(MAX_BYTES - 2));
        assert_eq!(view(&fits).unwrap().len(), MAX_BYTES);
        for over in [Value::Text("a".repeat(MAX_BYTES - 1)), Value::Text("\u{1}".repeat(MAX_BYTES / 6 + 1))] {
            let error = view(&over).unwrap_err();
            assert!(error.kind() == Kind::Limit && error.message().contains("4 MiB"), "{error}");
        }
    }

    #[test]
    fn what_json_lacks_is_written_as_an_object() {
        let message = Value::Array(vec![
            Value::Bytes(vec![0xff, 0]),
            Value::F64(f64::NAN),
            Value::F64(f64::INFINITY),
            Value::F64(f64::NEG_INFINITY),
        ]);
        assert_eq!(
            view(&message).unwrap(),
            r#"[{"$bytes":"/wA="},{"$float":"NaN"},{"$float":"Infinity"},{"$float":"-Infinity"}]"#
        );
    }
}
