//! The formats of the simplest senders: plain text, and fields of a form, as weather stations do. Both are read, and never written.

use crate::entries::Entries;
use crate::{Budget, Error, Format, Kind, Reception, Value, limits};

/// Plain text. The message is the text, without a byte order mark at its start and one line end at its end.
///
/// ```
/// use dunnage_formats::{Format, Text, Value};
/// assert_eq!(Text.decode(b"OK 23.5\r\n")?, Value::from("OK 23.5"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, Default)]
pub struct Text;

/// A form (`application/x-www-form-urlencoded`), or the query of a URL. The message is an object of texts.
///
/// ```
/// use dunnage_formats::{Form, Format, Value};
/// let message = Form.decode(b"ID=KX1&tempf=70.5&action=update+raw")?;
/// assert_eq!(message.get("tempf"), Some(&Value::from("70.5")));
/// assert_eq!(message.get("action"), Some(&Value::from("update raw")));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, Default)]
pub struct Form;

impl Format for Text {
    fn encode(&self, _message: &Value, _out: &mut Vec<u8>) -> Result<(), Error> {
        Err(read_only("text"))
    }

    fn decode_from(&self, bytes: &[u8], reception: &Reception<'_>) -> Result<Value, Error> {
        limits::check_size(bytes)?;
        let text = limits::text(bytes)?;
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let text = text.strip_suffix('\n').map_or(text, |line| line.strip_suffix('\r').unwrap_or(line));
        let budget = reception.budget();
        budget.value(0)?;
        budget.content(text.len(), 0)?;
        Ok(Value::from(text))
    }
}

impl Format for Form {
    fn encode(&self, _message: &Value, _out: &mut Vec<u8>) -> Result<(), Error> {
        Err(read_only("form"))
    }

    fn decode_from(&self, bytes: &[u8], reception: &Reception<'_>) -> Result<Value, Error> {
        limits::check_size(bytes)?;
        // curl sends any body as a form unless it is told another type. In a form these bytes would be percent-encoded.
        if let Some(b'{' | b'[' | b'<') = bytes.first() {
            let reason = "not a form: the body looks like JSON or XML; the sender must set its Content-Type, such as application/json";
            return Err(Error::new(Kind::Malformed, 0, reason));
        }
        let budget = reception.budget();
        budget.value(0)?;
        budget.container(0)?;
        let (mut entries, mut at) = (Entries::default(), 0);
        let text = bytes.trim_ascii_end();
        for field in text.split(|byte| *byte == b'&') {
            if !field.is_empty() {
                let equals = field.iter().position(|byte| *byte == b'=');
                let (key, value) = field.split_at(equals.unwrap_or(field.len()));
                let value_at = at + key.len() + usize::from(equals.is_some());
                let key = decoded(key, at, &budget)?;
                if !entries.is_new(&key) {
                    return Err(Error::new(Kind::Malformed, at, "duplicate field").under(&key));
                }
                budget.value(at)?;
                let value = decoded(value.get(1..).unwrap_or_default(), value_at, &budget);
                let value = value.map_err(|e| e.under(&key))?;
                entries.push(key, Value::Text(value));
            }
            at += field.len() + 1;
        }
        match entries.into_value() {
            Value::Map(entries) if entries.is_empty() => {
                Err(Error::new(Kind::Truncated, bytes.len(), "a form without a field"))
            }
            form => Ok(form),
        }
    }
}

/// Decodes a name or a value that begins at `start`: `+` is a space, and `%2B` the byte 2b.
fn decoded(text: &[u8], start: usize, budget: &Budget) -> Result<String, Error> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text;
    while let [first, after @ ..] = rest {
        rest = after;
        bytes.push(match first {
            b'+' => b' ',
            b'%' => {
                let at = start + text.len() - after.len() - 1;
                let digits = after.first_chunk::<2>().and_then(|digits| str::from_utf8(digits).ok());
                let byte = digits.filter(|digits| digits.bytes().all(|digit| digit.is_ascii_hexdigit()));
                let byte = byte.and_then(|digits| u8::from_str_radix(digits, 16).ok());
                rest = after.get(2..).unwrap_or_default();
                byte.ok_or_else(|| Error::new(Kind::Malformed, at, "a percent sign without two hex digits"))?
            }
            byte => *byte,
        });
    }
    budget.content(bytes.len(), start)?;
    String::from_utf8(bytes).map_err(|_| Error::new(Kind::Malformed, start, "a field that is not UTF-8"))
}

fn read_only(format: &str) -> Error {
    Error::new(
        Kind::Type,
        0,
        format!("{format} is read only; the message can be written as any other format"),
    )
    .without_offset()
}

#[cfg(test)]
#[cfg(feature = "json")]
mod tests {
    use super::*;
    use crate::Json;

    #[test]
    fn a_form_is_an_object_of_texts() {
        for (form, json) in [
            (
                "ID=STATION1&tempf=89.42&dateutc=2024-01-07+01:43:50",
                r#"{"ID":"STATION1","tempf":"89.42","dateutc":"2024-01-07 01:43:50"}"#,
            ),
            ("a=%C3%A9%2b%26&&b=&c&d=x=y\r\n", r#"{"a":"é+&","b":"","c":"","d":"x=y"}"#),
        ] {
            assert_eq!(Form.decode(form.as_bytes()), Json.decode(json.as_bytes()), "{form}");
        }
        for (form, kind, offset) in [
            ("", Kind::Truncated, 0),
            ("&&", Kind::Truncated, 2),
            (r#"{"t":21.5}"#, Kind::Malformed, 0),
            ("a=1&b=2&a=3", Kind::Malformed, 8),
            ("a=1&b=%4", Kind::Malformed, 6),
            ("a=%+1", Kind::Malformed, 2),
            ("a=1&b=%ff", Kind::Malformed, 6),
        ] {
            let e = Form.decode(form.as_bytes()).unwrap_err();
            assert_eq!((e.kind(), e.offset().unwrap()), (kind, offset), "{form}");
        }
    }

    #[test]
    fn plain_text_is_the_message() {
        for (text, message) in [("on", "on"), ("\u{feff}53.2\r\n", "53.2"), (" a\n\n", " a\n"), ("", "")] {
            assert_eq!(Text.decode(text.as_bytes()), Ok(Value::from(message)), "{text:?}");
        }
        let e = Text.decode(b"ab\xff").unwrap_err();
        assert_eq!((e.kind(), e.offset().unwrap()), (Kind::Malformed, 2));
    }
}
