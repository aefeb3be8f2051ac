//! Writes values as JSON text in one form: no white space, and strings and floats as in RFC 8785.

use dunnage_pson::Value;
use dunnage_schema::shortest;

/// Appends `value`. Integers keep all their digits, and maps keep their order.
pub(crate) fn write(value: &Value, out: &mut String) {
    match value {
        Value::Null => out.push_str("null"),
        Value::Bool(b) => out.push_str(if *b { "true" } else { "false" }),
        Value::U64(_) | Value::I64(_) | Value::F64(_) => number(value, out),
        Value::Text(text) => string(text, out),
        // Schemas contain no byte strings. JSON could only write them as text.
        Value::Bytes(bytes) => string(&String::from_utf8_lossy(bytes), out),
        Value::Array(items) => list(out, '[', items, ']', write),
        Value::Map(entries) => list(out, '{', entries, '}', |(key, value), out| {
            string(key, out);
            out.push(':');
            write(value, out);
        }),
    }
}

/// Appends `items`, separated by commas.
pub(crate) fn list<T>(
    out: &mut String,
    open: char,
    items: &[T],
    close: char,
    item: impl FnMut(&T, &mut String),
) {
    out.push(open);
    let mut item = item;
    for (i, one) in items.iter().enumerate() {
        if i > 0 {
            out.push(',');
        }
        item(one, out);
    }
    out.push(close);
}

/// Appends an object whose first key is `tag`. `content` appends the value of that key, and whatever follows it.
pub(crate) fn tagged(tag: &str, out: &mut String, content: impl FnOnce(&mut String)) {
    out.push_str(&format!("{{\"{tag}\":"));
    content(out);
    out.push('}');
}

/// Appends `text` in quotes, escaped.
pub(crate) fn string(text: &str, out: &mut String) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\u{8}' => out.push_str("\\b"),
            '\t' => out.push_str("\\t"),
            '\n' => out.push_str("\\n"),
            '\u{c}' => out.push_str("\\f"),
            '\r' => out.push_str("\\r"),
            '\0'..='\u{1f}' => out.push_str(&format!("\\u{:04x}", u32::from(c))),
            _ => out.push(c),
        }
    }
    out.push('"');
}

fn number(value: &Value, out: &mut String) {
    match (value.as_integer(), value) {
        (Some(n), _) => out.push_str(&format!("{n}")),
        (None, Value::F64(f)) => float(*f, out),
        (None, _) => {}
    }
}

/// Appends a float in the form of ECMAScript's Number::toString.
fn float(f: f64, out: &mut String) {
    let (digits, exponent) = shortest(f.abs()).unwrap_or_default();
    let digits = digits.to_string();
    // The number of digits before the decimal point.
    let point = exponent + digits.len() as i32;
    if f < 0.0 {
        out.push('-');
    }
    let count = digits.len() as i32;
    match point {
        _ if !f.is_finite() || f == 0.0 => out.push_str(if f == 0.0 { "0" } else { "null" }),
        1..=21 if count <= point => {
            out.push_str(&digits);
            out.extend(std::iter::repeat_n('0', (point - count) as usize));
        }
        1..=21 => {
            let (whole, fraction) = digits.split_at(point as usize);
            out.push_str(&format!("{whole}.{fraction}"));
        }
        -5..=0 => out.push_str(&format!("0.{}{digits}", "0".repeat(point.unsigned_abs() as usize))),
        _ => {
            let (first, rest) = digits.split_at(1);
            let dot = if rest.is_empty() { "" } else { "." };
            out.push_str(&format!("{first}{dot}{rest}e{:+}", point - 1));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floats_are_those_of_rfc_8785() {
        // The examples of appendix B, and the limits of each form.
        for (f, text) in [
            (5e-324, "5e-324"),
            (-5e-324, "-5e-324"),
            (f64::MAX, "1.7976931348623157e+308"),
            (295_147_905_179_352_830_000.0, "295147905179352830000"),
            (9.999999999999997e22, "9.999999999999997e+22"),
            (1e23, "1e+23"),
            (1e21, "1e+21"),
            (1e20, "100000000000000000000"),
            (999_999_999_999_999.9, "999999999999999.9"),
            (333_333_333.333_333_3, "333333333.3333333"),
            (0.000001, "0.000001"),
            (0.0000001, "1e-7"),
            (-0.0000033333333333333333, "-0.0000033333333333333333"),
            (24.56, "24.56"),
        ] {
            let mut out = String::new();
            float(f, &mut out);
            assert_eq!(out, text);
        }
    }

    #[test]
    fn text_is_escaped_where_it_must_be() {
        let mut out = String::new();
        let value = Value::Map(vec![
            ("b".into(), Value::from("\u{20ac}$\u{f}\nA'\"\\/\u{7f}")),
            (
                "a".into(),
                Value::Array(vec![Value::Null, Value::Bool(true), Value::U64(u64::MAX), Value::F64(2.0)]),
            ),
        ]);
        write(&value, &mut out);
        assert_eq!(
            out,
            "{\"b\":\"\u{20ac}$\\u000f\\nA'\\\"\\\\/\u{7f}\",\"a\":[null,true,18446744073709551615,2]}"
        );
    }
}
