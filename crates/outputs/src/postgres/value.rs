//! The text of a value in the lines of `COPY`. PostgreSQL rounds and reads leniently, so what it would change is refused here.

use dunnage_base::clock;
use dunnage_codegen::sql::SqlType;
use dunnage_schema::TimeText;
use serde_json::value::RawValue;
use std::borrow::Cow;
use time::{OffsetDateTime, format_description::well_known::Rfc3339};

/// Returns the text of `json` for a column of this type; `None` for null. An error says why the column cannot hold it.
pub fn text<'j>(kind: &SqlType, json: &'j str) -> Result<Option<Cow<'j, str>>, String> {
    if json == "null" {
        return Ok(None);
    }
    let text = match kind {
        SqlType::Boolean if matches!(json, "true" | "false") => Some(Cow::Borrowed(json)),
        SqlType::Boolean => None,
        SqlType::SmallInt => return integer(kind, json, i16::MIN.into(), i16::MAX.into()).map(Some),
        SqlType::Integer => return integer(kind, json, i32::MIN.into(), i32::MAX.into()).map(Some),
        SqlType::BigInt => return integer(kind, json, i64::MIN.into(), i64::MAX.into()).map(Some),
        SqlType::Numeric(None) => not_finite(json).map(Cow::Borrowed).or_else(|| number(json)),
        SqlType::Numeric(Some((_, places))) => return decimal(json, *places).map(Some),
        SqlType::Double => return double(json).map(Some),
        SqlType::Time(notations) => string(json).and_then(|text| time(notations, &text)).map(Cow::Owned),
        SqlType::Text => string(json),
        SqlType::Json => Some(Cow::Borrowed(json)),
        SqlType::Array(element) => return array(element, json).map(|text| Some(Cow::Owned(text))),
    };
    text.map(Some).ok_or_else(|| not(json, kind))
}

/// Appends a text to a line; `None` is null.
pub fn copy(text: Option<&str>, out: &mut Vec<u8>) -> Result<(), &'static str> {
    let Some(text) = text else {
        out.extend(b"\\N");
        return Ok(());
    };
    for byte in text.bytes() {
        match byte {
            0 => return Err("U+0000, which PostgreSQL cannot store"),
            b'\\' => out.extend(b"\\\\"),
            b'\n' => out.extend(b"\\n"),
            b'\r' => out.extend(b"\\r"),
            b'\t' => out.extend(b"\\t"),
            byte => out.push(byte),
        }
    }
    Ok(())
}

fn not(json: &str, kind: &SqlType) -> String {
    let shown: String = json.chars().take(40).collect();
    let dots = if shown.len() < json.len() { "..." } else { "" };
    let noun = match kind {
        SqlType::Boolean => "a boolean",
        SqlType::Time(_) => "a time",
        SqlType::Text => "a text",
        SqlType::Array(_) => "an array",
        _ => "a number",
    };
    format!("{shown}{dots} is not {noun}")
}

/// Returns the text of a JSON string.
fn string(json: &str) -> Option<Cow<'_, str>> {
    let inner = json.strip_prefix('"')?.strip_suffix('"')?;
    match inner.contains('\\') {
        false => Some(Cow::Borrowed(inner)),
        true => serde_json::from_str(json).ok().map(Cow::Owned),
    }
}

/// Returns the number in `json`: a JSON number, or a text that is one, perhaps with further zeros before it.
fn number(json: &str) -> Option<Cow<'_, str>> {
    let Some(text) = string(json) else {
        return json.starts_with(|c: char| c == '-' || c.is_ascii_digit()).then_some(Cow::Borrowed(json));
    };
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let unsigned = text.strip_prefix('-').unwrap_or(&text);
    let (whole, fraction) = unsigned.split_once('.').unwrap_or((unsigned, "0"));
    (digits(whole) && digits(fraction)).then_some(text)
}

/// Returns what the JSON view has instead of numbers that JSON lacks.
fn not_finite(json: &str) -> Option<&'static str> {
    match json {
        r#"{"$float":"NaN"}"# => Some("NaN"),
        r#"{"$float":"Infinity"}"# => Some("Infinity"),
        r#"{"$float":"-Infinity"}"# => Some("-Infinity"),
        _ => None,
    }
}

fn integer<'j>(kind: &SqlType, json: &'j str, min: i128, max: i128) -> Result<Cow<'j, str>, String> {
    let text = number(json).ok_or_else(|| not(json, kind))?;
    let n = whole(&text).ok_or_else(|| format!("{text} is not a whole number"))?;
    match (min..=max).contains(&n) {
        true if text.bytes().all(|byte| byte.is_ascii_digit()) => Ok(text),
        true => Ok(Cow::Owned(n.to_string())),
        false => Err(format!("{text} is out of range")),
    }
}

/// Returns a number without a fraction: `17`, `17.0` and `1e3` have none.
fn whole(number: &str) -> Option<i128> {
    let double = || number.parse::<f64>().ok().filter(|double| double.fract() == 0.0 && double.abs() < 1e30);
    number.parse().ok().or_else(|| double().map(|double| double as i128))
}

fn decimal(json: &str, places: u32) -> Result<Cow<'_, str>, String> {
    let text = number(json).ok_or_else(|| not(json, &SqlType::Double))?;
    let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((&text, "0"));
    let fraction = mantissa.split_once('.').map_or("", |(_, fraction)| fraction.trim_end_matches('0'));
    let exponent: i64 = exponent.parse().map_err(|_| not(json, &SqlType::Double))?;
    // PostgreSQL would round.
    match fraction.len() as i64 - exponent <= places.into() {
        true => Ok(text),
        false => Err(format!("{text} has more than {places} decimal places")),
    }
}

fn double(json: &str) -> Result<Cow<'_, str>, String> {
    if let Some(text) = not_finite(json) {
        return Ok(Cow::Borrowed(text));
    }
    let text = number(json).ok_or_else(|| not(json, &SqlType::Double))?;
    match text.parse::<i128>() {
        Ok(n) if (n as f64) as i128 != n => Err(format!("{text} has no exact double")),
        _ => Ok(text),
    }
}

/// Returns a time as PostgreSQL reads it. Digits after the microseconds are dropped.
fn time(notations: &[TimeText], text: &str) -> Option<String> {
    let nanoseconds = notations.iter().find_map(|notation| {
        let scaled = notation.parse(text)?;
        let seconds = i128::from(notation.epoch - notation.offset()) * 1_000_000_000;
        Some(seconds + scaled * 10_i128.pow(9 - notation.places.min(9)))
    });
    let nanoseconds = match nanoseconds {
        Some(nanoseconds) => nanoseconds,
        None => OffsetDateTime::parse(text, &Rfc3339).ok()?.unix_timestamp_nanos(),
    };
    let time = clock::rfc3339_micros(i64::try_from(nanoseconds.div_euclid(1000)).ok()?);
    // Only these years can be written, and the one before the year 1 has another name.
    let written = clock::micros(&time)? == i64::try_from(nanoseconds.div_euclid(1000)).ok()?;
    written.then(|| match time.strip_prefix("0000") {
        Some(rest) => format!("0001{rest} BC"),
        None => time,
    })
}

/// Returns an array as PostgreSQL reads it: `{"a","b",NULL}`.
fn array(element: &SqlType, json: &str) -> Result<String, String> {
    let kind = SqlType::Array(Box::new(element.clone()));
    let elements: Vec<&RawValue> = serde_json::from_str(json).map_err(|_| not(json, &kind))?;
    let mut out = String::from("{");
    for (at, json) in elements.into_iter().enumerate() {
        if at > 0 {
            out.push(',');
        }
        let text = text(element, json.get()).map_err(|e| format!("element {at}: {e}"))?;
        let Some(text) = text else {
            out.push_str("NULL");
            continue;
        };
        out.push('"');
        for c in text.chars() {
            if matches!(c, '"' | '\\') {
                out.push('\\');
            }
            out.push(c);
        }
        out.push('"');
    }
    out.push('}');
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(kind: &SqlType, json: &str) -> Result<String, String> {
        text(kind, json).map(|text| text.map_or("NULL".into(), Cow::into_owned))
    }

    #[test]
    fn values_that_fit_have_a_text() {
        let time = SqlType::Time(Vec::new());
        let numeric = SqlType::Numeric(Some((6, 2)));
        for (kind, json, expected) in [
            (SqlType::Boolean, "true", "true"),
            (SqlType::SmallInt, "-32768", "-32768"),
            (SqlType::SmallInt, "17.0", "17"),
            (SqlType::SmallInt, "-0.0", "0"),
            (SqlType::Integer, "\"0060\"", "0060"),
            (SqlType::BigInt, "9223372036854775807", "9223372036854775807"),
            (SqlType::BigInt, "1e3", "1000"),
            (SqlType::Numeric(Some((20, 0))), "18446744073709551615", "18446744073709551615"),
            (SqlType::Numeric(None), "1e300", "1e300"),
            (SqlType::Numeric(None), r#"{"$float":"NaN"}"#, "NaN"),
            (numeric.clone(), "24.56", "24.56"),
            (numeric.clone(), "1.5e1", "1.5e1"),
            (numeric, "\"-017.00\"", "-017.00"),
            (SqlType::Double, "-0.0", "-0.0"),
            (SqlType::Double, r#"{"$float":"-Infinity"}"#, "-Infinity"),
            (SqlType::Double, "9007199254740992", "9007199254740992"),
            (time.clone(), "\"2026-03-29T12:00:00.1234567+02:00\"", "2026-03-29T10:00:00.123456Z"),
            (time.clone(), "\"0000-01-01T00:00:00Z\"", "0001-01-01T00:00:00.000000Z BC"),
            (time, "null", "NULL"),
            (SqlType::Text, r#""a\"\\ü""#, "a\"\\ü"),
            (SqlType::Json, r#"{"a":[1]}"#, r#"{"a":[1]}"#),
            (
                SqlType::Array(Box::new(SqlType::Text)),
                r#"["a\"b","c\\",null,""]"#,
                r#"{"a\"b","c\\",NULL,""}"#,
            ),
            (SqlType::Array(Box::new(SqlType::SmallInt)), "[]", "{}"),
        ] {
            assert_eq!(of(&kind, json).as_deref(), Ok(expected), "{json}");
        }
    }

    #[test]
    fn values_that_a_column_would_change_are_refused() {
        for (kind, json, expected) in [
            (SqlType::Boolean, "1", "1 is not a boolean"),
            (SqlType::SmallInt, "32768", "32768 is out of range"),
            (SqlType::SmallInt, "1.5", "1.5 is not a whole number"),
            (SqlType::Integer, "\"x\"", "\"x\" is not a number"),
            (SqlType::BigInt, "9223372036854775808", "9223372036854775808 is out of range"),
            (SqlType::BigInt, r#"{"$float":"NaN"}"#, "{\"$float\":\"NaN\"} is not a number"),
            (SqlType::Numeric(Some((6, 2))), "24.567", "24.567 has more than 2 decimal places"),
            (SqlType::Numeric(Some((6, 2))), "1e-3", "1e-3 has more than 2 decimal places"),
            (SqlType::Double, "9007199254740993", "9007199254740993 has no exact double"),
            (SqlType::Time(Vec::new()), "\"yesterday\"", "\"yesterday\" is not a time"),
            (
                SqlType::Time(Vec::new()),
                "\"9999-12-31T23:59:59-01:00\"",
                "\"9999-12-31T23:59:59-01:00\" is not a time",
            ),
            (SqlType::Text, "{}", "{} is not a text"),
            (SqlType::Array(Box::new(SqlType::SmallInt)), "[1,\"x\"]", "element 1: \"x\" is not a number"),
        ] {
            assert_eq!(of(&kind, json), Err(expected.to_owned()), "{json}");
        }
        assert!(of(&SqlType::Text, &"1".repeat(1 << 20)).unwrap_err().len() < 100);
    }

    #[test]
    fn a_line_has_no_breaks_and_no_zero() {
        let mut line = Vec::new();
        copy(Some("a\tb\nc\\d\re"), &mut line).unwrap();
        copy(None, &mut line).unwrap();
        assert_eq!(line, b"a\\tb\\nc\\\\d\\re\\N");
        assert!(copy(Some("a\0"), &mut line).is_err());
    }
}
