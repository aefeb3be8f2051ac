//! Differences between an expected message and a decoded one.

use dunnage_formats::Value;
use std::fmt::Write;

/// How many differences of one example are shown.
const SHOWN: usize = 5;
/// How many characters of a value are shown.
const WIDTH: usize = 60;

/// Returns the differences, at most 5, each as `POINTER: expected A, got B`. The order of keys does not count, and 2 equals 2.0.
pub fn differences(expected: &Value, got: &Value) -> Vec<String> {
    let mut found = Vec::new();
    compare(expected, got, "", &mut found);
    found.truncate(SHOWN);
    found
}

fn compare(expected: &Value, got: &Value, pointer: &str, found: &mut Vec<String>) {
    match (expected, got) {
        (Value::Map(left), Value::Map(right)) => {
            let at = |key: &str| format!("{pointer}/{}", key.replace('~', "~0").replace('/', "~1"));
            for (key, expected) in left {
                match got.get(key) {
                    Some(got) => compare(expected, got, &at(key), found),
                    None => found.push(format!("{}: expected {}, got nothing", at(key), shown(expected))),
                }
            }
            for (key, got) in right.iter().filter(|(key, _)| expected.get(key).is_none()) {
                found.push(format!("{}: expected nothing, got {}", at(key), shown(got)));
            }
        }
        (Value::Array(left), Value::Array(right)) if left.len() == right.len() => {
            for (index, (expected, got)) in left.iter().zip(right).enumerate() {
                compare(expected, got, &format!("{pointer}/{index}"), found);
            }
        }
        // An example can only write bytes as an array of numbers.
        (Value::Array(items), Value::Bytes(bytes))
            if items.len() == bytes.len()
                && items.iter().zip(bytes).all(|(item, byte)| same(item, &Value::U64((*byte).into()))) => {}
        _ if same(expected, got) => {}
        _ => {
            let place = if pointer.is_empty() { "data" } else { pointer };
            found.push(format!("{place}: expected {}, got {}", shown(expected), shown(got)));
        }
    }
}

fn same(a: &Value, b: &Value) -> bool {
    let number = |value: &Value| match value {
        Value::U64(number) => Some(*number as f64),
        Value::I64(number) => Some(*number as f64),
        Value::F64(number) => Some(*number),
        _ => None,
    };
    a == b || matches!((number(a), number(b)), (Some(a), Some(b)) if a == b)
}

fn shown(value: &Value) -> String {
    let text = match value {
        Value::Null => "null".to_owned(),
        Value::Bool(yes) => yes.to_string(),
        Value::U64(number) => number.to_string(),
        Value::I64(number) => number.to_string(),
        Value::F64(number) => number.to_string(),
        Value::Text(text) => format!("{text:?}"),
        Value::Bytes(bytes) => bytes.iter().fold("bytes ".to_owned(), |mut text, byte| {
            // Writing into a text cannot fail.
            let _ = write!(text, "{byte:02x}");
            text
        }),
        Value::Array(items) => format!("an array of {}", items.len()),
        Value::Map(entries) => format!("an object of {}", entries.len()),
    };
    text.chars().take(WIDTH).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use dunnage_formats::{Format, Json};

    #[test]
    fn differences_are_named_by_pointer() {
        let read = |text: &str| Json.decode(text.as_bytes()).unwrap();
        let all = |a: &str, b: &str| differences(&read(a), &read(b)).join("; ");
        assert_eq!(all(r#"{"a":2,"b":[1]}"#, r#"{"b":[1.0],"a":2.0}"#), "");
        assert_eq!(
            all(r#"{"a":1,"c":"x"}"#, r#"{"b":{},"a":1.5}"#),
            "/a: expected 1, got 1.5; /c: expected \"x\", got nothing; /b: expected nothing, got an object of 0"
        );
        assert_eq!(
            all(r#"{"a/b":[1]}"#, r#"{"a/b":[1,2]}"#),
            "/a~1b: expected an array of 1, got an array of 2"
        );
        let bytes = Value::Map(vec![("a".into(), Value::Bytes(vec![1, 2]))]);
        assert!(differences(&read(r#"{"a":[1,2]}"#), &bytes).is_empty());
        assert_eq!(
            differences(&read(r#"{"a":[1,3]}"#), &bytes),
            ["/a: expected an array of 2, got bytes 0102"]
        );
    }
}
