//! BSON 1.1.

use crate::entries::Entries;
use crate::{Budget, DUPLICATE_KEY, Error, Format, Kind, Reception, Value, instant, limits};
use ::bson::raw::{CStr, RawElement, RawIter};
use ::bson::spec::{BinarySubtype, ElementType};
use ::bson::{RawArrayBuf, RawBinaryRef, RawBson, RawBsonRef, RawDocument, RawDocumentBuf};

/// BSON 1.1.
///
/// - A BSON message is a document, so only a map can be written: anything else is a `type` error.
/// - Integers are written as int32 when they fit, else as int64; above 2^63-1 they are a `range` error. Floats are doubles.
/// - Bytes are binaries of the generic subtype. A key with U+0000 cannot be written: `range`.
/// - Dates are read as text ([spec/formats.md](https://github.com/dunnage/dunnage/blob/main/spec/formats.md), "Times and other types"). Types without a counterpart in JSON are `type` errors: ObjectId,
///   timestamps, Decimal128, regular expressions, code, symbols, undefined, the minimum and maximum key, other binary subtypes.
/// - The reader ignores the keys of arrays. A duplicate key in a document is `malformed`.
/// - The offset of an error is that of the element that caused it.
///
/// ```
/// use dunnage_formats::{Bson, Format, Kind, Value};
///
/// let mut bytes = Vec::new();
/// Bson.encode(&Value::Map(vec![("n".into(), Value::U64(7))]), &mut bytes)?;
/// assert_eq!(bytes, b"\x0c\0\0\0\x10n\0\x07\0\0\0\0");
///
/// let error = Bson.encode(&Value::U64(7), &mut bytes).unwrap_err(); // a document is a map
/// assert_eq!(error.kind(), Kind::Type);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, Default)]
pub struct Bson;

impl Format for Bson {
    fn encode(&self, message: &Value, out: &mut Vec<u8>) -> Result<(), Error> {
        limits::bounded(out, |out| {
            let Value::Map(entries) = message else {
                let reason = format!("a BSON message is a document: an object, not {}", message.type_name());
                return Err(Error::new(Kind::Type, 0, reason));
            };
            out.extend_from_slice(document(entries, 0)?.as_bytes());
            Ok(())
        })
    }

    fn decode_from(&self, bytes: &[u8], reception: &Reception<'_>) -> Result<Value, Error> {
        limits::check_size(bytes)?;
        let Some(length) = bytes.first_chunk().map(|length| i32::from_le_bytes(*length)) else {
            return Err(truncated(bytes));
        };
        let length = usize::try_from(length).map_err(|_| malformed(0, "a negative length"))?;
        if length > bytes.len() {
            return Err(truncated(bytes));
        }
        let root = RawDocument::from_bytes(&bytes[..length]).map_err(|e| malformed(0, e))?;
        let budget = reception.budget();
        budget.value(0)?;
        let value = Reader { budget: &budget }.document(root, 0, 0, 0)?;
        if length < bytes.len() {
            return Err(malformed(length, "bytes after the message"));
        }
        Ok(value)
    }
}

/// The offset of the first element in a document, after its length.
const FIRST: usize = 4;

fn document(entries: &[(String, Value)], depth: usize) -> Result<RawDocumentBuf, Error> {
    let depth = limits::deeper(depth, 0)?;
    let mut document = RawDocumentBuf::new();
    for (name, value) in entries {
        let element = element(value, depth).map_err(|e| e.under(name))?;
        document.append(key(name)?, element);
    }
    Ok(document)
}

fn key(name: &str) -> Result<&CStr, Error> {
    name.try_into().map_err(|_| Error::new(Kind::Range, 0, "a key of BSON cannot hold U+0000"))
}

fn element(value: &Value, depth: usize) -> Result<RawBson, Error> {
    Ok(match value {
        Value::Null => RawBson::Null,
        Value::Bool(b) => RawBson::Boolean(*b),
        Value::U64(n) => integer(*n)?,
        Value::I64(n) => integer(*n)?,
        Value::F64(f) => RawBson::Double(*f),
        Value::Text(text) => RawBson::String(text.clone()),
        Value::Bytes(bytes) => {
            RawBsonRef::Binary(RawBinaryRef { subtype: BinarySubtype::Generic, bytes }).into()
        }
        Value::Array(items) => {
            let depth = limits::deeper(depth, 0)?;
            let mut array = RawArrayBuf::new();
            for (at, item) in items.iter().enumerate() {
                array.push(element(item, depth).map_err(|e| e.at_index(at))?);
            }
            RawBson::Array(array)
        }
        Value::Map(entries) => RawBson::Document(document(entries, depth)?),
    })
}

fn integer<N: TryInto<i32> + TryInto<i64> + Copy>(n: N) -> Result<RawBson, Error> {
    if let Ok(n) = n.try_into() {
        return Ok(RawBson::Int32(n));
    }
    n.try_into()
        .map(RawBson::Int64)
        .map_err(|_| Error::new(Kind::Range, 0, "BSON has no integers above 2^63-1"))
}

/// Iterates over elements with their offsets in the message; the document or array begins at offset `start`.
fn elements<'a>(
    list: RawIter<'a>,
    start: usize,
) -> impl Iterator<Item = Result<(RawElement<'a>, usize), Error>> {
    let mut next = start + FIRST;
    list.map(move |element| {
        let offset = next;
        let element = element.map_err(|e| malformed(offset, e))?;
        next = content(&element, offset) + element.size();
        Ok((element, offset))
    })
}

/// Returns the offset of an element's value, after its type and its key.
fn content(element: &RawElement<'_>, offset: usize) -> usize {
    offset + 1 + element.key().len() + 1
}

struct Reader<'a> {
    budget: &'a Budget,
}

impl Reader<'_> {
    /// Reads the document at offset `start`, which is the value of the element at offset `header`.
    fn document(
        &self,
        document: &RawDocument,
        header: usize,
        start: usize,
        depth: usize,
    ) -> Result<Value, Error> {
        let depth = limits::deeper(depth, header)?;
        self.budget.container(header)?;
        let mut entries = Entries::default();
        for next in elements(document.iter_elements(), start) {
            let (element, offset) = next?;
            let key = element.key().as_str();
            self.budget.content(key.len(), offset)?;
            if !entries.is_new(key) {
                return Err(malformed(offset, DUPLICATE_KEY));
            }
            entries.push(key.into(), self.value(&element, offset, depth)?);
        }
        Ok(entries.into_value())
    }

    /// Reads the value of the element at `offset`.
    fn value(&self, element: &RawElement<'_>, offset: usize, depth: usize) -> Result<Value, Error> {
        if !is_known(element.element_type()) {
            return Err(unsupported(element, offset));
        }
        self.budget.value(offset)?;
        let start = content(element, offset);
        match element.value().map_err(|e| malformed(offset, e))? {
            RawBsonRef::Null => Ok(Value::Null),
            RawBsonRef::Boolean(b) => Ok(Value::Bool(b)),
            RawBsonRef::Int32(n) => Ok(Value::from(i64::from(n))),
            RawBsonRef::Int64(n) => Ok(Value::from(n)),
            RawBsonRef::Double(f) => Ok(Value::F64(f)),
            RawBsonRef::String(text) => {
                self.budget.content(text.len(), offset)?;
                Ok(Value::from(text))
            }
            RawBsonRef::Binary(RawBinaryRef { subtype: BinarySubtype::Generic, bytes }) => {
                self.budget.content(bytes.len(), offset)?;
                Ok(Value::Bytes(bytes.into()))
            }
            RawBsonRef::DateTime(date) => {
                instant::text(i128::from(date.timestamp_millis()) * 1_000_000, offset, self.budget)
            }
            RawBsonRef::Document(document) => self.document(document, offset, start, depth),
            RawBsonRef::Array(array) => {
                let depth = limits::deeper(depth, offset)?;
                self.budget.container(offset)?;
                elements(array.iter_elements(), start)
                    .map(|next| next.and_then(|(element, offset)| self.value(&element, offset, depth)))
                    .collect::<Result<_, _>>()
                    .map(Value::Array)
            }
            _ => Err(unsupported(element, offset)),
        }
    }
}

fn is_known(kind: ElementType) -> bool {
    use ElementType::*;
    matches!(
        kind,
        Null | Boolean | Int32 | Int64 | Double | String | Binary | DateTime | EmbeddedDocument | Array
    )
}

fn unsupported(element: &RawElement<'_>, offset: usize) -> Error {
    Error::new(Kind::Type, offset, format!("{:?} of this kind is not supported", element.element_type()))
}

fn malformed(offset: usize, reason: impl std::fmt::Display) -> Error {
    Error::new(Kind::Malformed, offset, reason.to_string())
}

fn truncated(bytes: &[u8]) -> Error {
    Error::new(Kind::Truncated, bytes.len(), "the bytes end before the message does")
}

#[cfg(test)]
mod tests {
    use super::*;
    use ::bson::{oid::ObjectId, rawdoc};

    fn error_of(bytes: &[u8]) -> (Kind, usize) {
        let e = Bson.decode(bytes).unwrap_err();
        (e.kind(), e.offset().unwrap())
    }

    fn bytes_of(value: &Value) -> Vec<u8> {
        let mut out = Vec::new();
        Bson.encode(value, &mut out).unwrap();
        out
    }

    /// The example in the FAQ of bsonspec.org.
    #[test]
    fn the_example_of_the_specification_is_written_and_read() {
        let awesome = Value::Array(vec![Value::from("awesome"), Value::F64(5.05), Value::U64(1986)]);
        let message = Value::Map(vec![("BSON".into(), awesome)]);
        let bytes = b"\x31\0\0\0\x04BSON\0\x26\0\0\0\x02\x30\0\x08\0\0\0awesome\0\x01\x31\0\x33\x33\x33\x33\x33\x33\x14\x40\x10\x32\0\xc2\x07\0\0\0\0";
        assert_eq!(bytes_of(&message), bytes);
        assert_eq!(Bson.decode(bytes).unwrap(), message);
    }

    #[test]
    fn only_an_object_is_a_document_and_an_empty_key_is_a_key() {
        let map = |key: &str, value| Value::Map(vec![(key.into(), value)]);
        for message in [
            Value::Map(vec![]),
            map("", Value::U64(1)),
            map("", map("", Value::Null)),
            map("a", map("", Value::Null)),
        ] {
            assert_eq!(Bson.decode(&bytes_of(&message)).unwrap(), message);
        }
        assert_eq!(Bson.decode(b"\x0b\0\0\0\x10\0\x05\0\0\0\0").unwrap(), map("", Value::U64(5)));
        for message in [Value::Null, Value::U64(1), Value::Array(vec![map("", Value::Null)])] {
            assert_eq!(Bson.encode(&message, &mut Vec::new()).unwrap_err().kind(), Kind::Type);
        }
    }

    #[test]
    fn dates_are_the_text_that_json_has_for_them() {
        let date = |ms| rawdoc! { "t": ::bson::DateTime::from_millis(ms) };
        let text = |ms| Bson.decode(date(ms).as_bytes()).unwrap().get("t").cloned().unwrap();
        assert_eq!(text(1_356_351_330_501), Value::from("2012-12-24T12:15:30.501Z"));
        assert_eq!(text(-1_000), Value::from("1969-12-31T23:59:59Z"));
        assert_eq!(error_of(date(i64::MAX).as_bytes()), (Kind::Range, 4));
    }

    #[test]
    fn what_bson_cannot_hold_is_out_of_range() {
        let map = |key: &str, value| Value::Map(vec![(key.into(), value)]);
        for (message, pointer) in
            [(map("n", Value::Array(vec![Value::U64(1 << 63)])), "/n/0"), (map("a\0", Value::Null), "")]
        {
            let e = Bson.encode(&message, &mut Vec::new()).unwrap_err();
            assert_eq!((e.kind(), e.pointer()), (Kind::Range, pointer));
        }
    }

    #[test]
    fn errors_have_their_kind_and_the_offset_of_the_element() {
        let bytes = bytes_of(&Value::Map(vec![
            ("a".into(), Value::Array(vec![Value::Null, Value::from("x")])),
            ("b".into(), Value::Bool(true)),
        ]));
        for end in 0..bytes.len() {
            assert_eq!(error_of(&bytes[..end]), (Kind::Truncated, end));
        }
        let text = bytes.iter().position(|b| *b == b'x').unwrap();
        let mut broken = bytes.clone();
        broken[text] = 0xff;
        assert_eq!(error_of(&broken), (Kind::Malformed, 14), "text that is not UTF-8, in the array");
        let mut twice = bytes.clone();
        let b = twice.iter().position(|b| *b == b'b').unwrap();
        twice[b] = b'a';
        assert_eq!(error_of(&twice), (Kind::Malformed, b - 1));
        let mut long = bytes.clone();
        long.push(0);
        assert_eq!(error_of(&long), (Kind::Malformed, bytes.len()));
        assert_eq!(error_of(&[0xff; 8]), (Kind::Malformed, 0));
    }

    #[test]
    fn what_json_has_no_word_for_is_a_type_error() {
        let document = rawdoc! { "n": 1, "id": ObjectId::from_bytes([1; 12]) };
        assert_eq!(error_of(document.as_bytes()), (Kind::Type, 11));
        let document = rawdoc! { "u": ::bson::Binary::from(::bson::Uuid::from_bytes([0; 16])) };
        assert_eq!(error_of(document.as_bytes()), (Kind::Type, 4));
    }
}
