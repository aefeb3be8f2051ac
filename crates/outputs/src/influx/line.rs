//! The parts of a line of InfluxDB's line protocol: `MEASUREMENT,TAG=VALUE FIELD=VALUE TIME`.
//!
//! The escapes are those of <https://docs.influxdata.com/influxdb/v2/reference/syntax/line-protocol/>. A name or a tag cannot have line breaks
//! there, nor a backslash before a separator or at its end: such characters are percent-encoded, and so is `%`, so that no two texts become
//! the same.

use std::fmt::Write;

/// Longest text of a field, in bytes.
const TEXT: usize = 64 << 10;

/// A value of a field.
#[derive(Debug, PartialEq)]
pub enum Value<'t> {
    Bool(bool),
    Integer(i64),
    /// A finite number.
    Float(f64),
    Text(&'t str),
}

/// Appends `text` as the name of a measurement, the key of a tag or a field, or the value of a tag.
pub fn name(text: &str, line: &mut String) {
    for character in text.chars() {
        match character {
            ',' | '=' | ' ' => {
                line.push('\\');
                line.push(character);
            }
            '%' | '\\' => percent(character, line),
            control if control.is_control() => percent(control, line),
            other => line.push(other),
        }
    }
}

fn percent(character: char, line: &mut String) {
    for byte in character.encode_utf8(&mut [0; 4]).bytes() {
        // Writing to a String does not fail.
        let _ = write!(line, "%{byte:02X}");
    }
}

/// Appends a value. An error says why a field cannot have it.
pub fn value(value: &Value<'_>, line: &mut String) -> Result<(), String> {
    // Writing to a String does not fail.
    let _ = match value {
        Value::Bool(value) => write!(line, "{value}"),
        Value::Integer(value) => write!(line, "{value}i"),
        // With an exponent if the number is large or small.
        Value::Float(value) => write!(line, "{value:?}"),
        Value::Text(text) if text.len() > TEXT => {
            return Err(format!("a text of {} bytes; the longest has {TEXT}", text.len()));
        }
        Value::Text(text) => {
            line.push('"');
            for character in text.chars() {
                if matches!(character, '"' | '\\') {
                    line.push('\\');
                }
                line.push(character);
            }
            line.push('"');
            Ok(())
        }
    };
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    fn named(text: &str) -> String {
        let mut line = String::new();
        name(text, &mut line);
        line
    }

    #[test]
    fn no_name_ends_early_and_no_two_become_the_same() {
        let names = [
            "a",
            "a b",
            "a,b",
            "a=b",
            "a\\",
            "a\\ b",
            "a\\,b",
            "a\\\\",
            "a\nb",
            "a\\nb",
            "a\rb",
            "a\u{85}b",
            "a%0Ab",
            "a\"b",
            "\"",
            "#a",
            "_a",
            "é€😀",
            "%",
            "%25",
            "",
            "a/b+#..",
        ];
        let lines: HashSet<_> = names.iter().map(|text| named(text)).collect();
        assert_eq!(lines.len(), names.len());
        for line in &lines {
            let plain = line.replace("\\,", "").replace("\\ ", "").replace("\\=", "");
            assert!(!plain.contains([',', ' ', '=', '\\']) && !plain.contains(char::is_control), "{line}");
        }
        assert_eq!(named("a\\ b"), "a%5C\\ b");
    }

    #[test]
    fn values_have_their_types() {
        let of = |of: Value<'_>| {
            let mut line = String::new();
            value(&of, &mut line).map(|()| line)
        };
        for (given, expected) in [
            (Value::Bool(true), "true"),
            (Value::Integer(i64::MIN), "-9223372036854775808i"),
            (Value::Float(17.0), "17.0"),
            (Value::Float(-0.0), "-0.0"),
            (Value::Float(1e300), "1e300"),
            (Value::Float(24.56), "24.56"),
            (Value::Text("a \"b\" \\ c\\"), r#""a \"b\" \\ c\\""#),
            (Value::Text(""), r#""""#),
        ] {
            assert_eq!(of(given).as_deref(), Ok(expected));
        }
        assert!(of(Value::Text(&"x".repeat(TEXT))).is_ok());
        assert!(of(Value::Text(&"x".repeat(TEXT + 1))).unwrap_err().contains("65537 bytes"));
    }
}
