//! Google's well-known types, which Protobuf's JSON has as text, a number or any value, and not as a message of their fields.

use crate::{Budget, Error, Kind, Value, instant, limits};
use base64::Engine;
use base64::alphabet;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use base64::prelude::BASE64_STANDARD;
use std::ops::RangeInclusive;
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

const BILLION: i128 = 1_000_000_000;
/// The seconds of a `Timestamp`, of the years 1 to 9999, and the most seconds of a `Duration` (`timestamp.proto`, `duration.proto`).
const INSTANTS: RangeInclusive<i128> = -62_135_596_800..=253_402_300_799;
const LONGEST: i128 = 315_576_000_000;

/// Base64 in either alphabet, with or without padding.
const LAX: GeneralPurposeConfig =
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent);
const STANDARD: GeneralPurpose = GeneralPurpose::new(&alphabet::STANDARD, LAX);
const URL_SAFE: GeneralPurpose = GeneralPurpose::new(&alphabet::URL_SAFE, LAX);

/// A well-known type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Known {
    Timestamp,
    Duration,
    FieldMask,
    /// `DoubleValue` and the others that hold one value.
    Wrapper,
    Struct,
    Value,
    ListValue,
}

impl Known {
    pub(super) fn named(full_name: &str) -> Option<Known> {
        Some(match full_name.strip_prefix("google.protobuf.")? {
            "Timestamp" => Known::Timestamp,
            "Duration" => Known::Duration,
            "FieldMask" => Known::FieldMask,
            "DoubleValue" | "FloatValue" | "Int64Value" | "UInt64Value" | "Int32Value" | "UInt32Value"
            | "BoolValue" | "StringValue" | "BytesValue" => Known::Wrapper,
            "Struct" => Known::Struct,
            "Value" => Known::Value,
            "ListValue" => Known::ListValue,
            _ => return None,
        })
    }
}

/// Returns the text of a `Timestamp` or a `Duration`, whose fields are `values`.
pub(super) fn time_text(known: Known, values: &[Value], budget: &Budget) -> Result<Value, Error> {
    let part = |at: usize| values.get(at).and_then(Value::as_integer).unwrap_or(0);
    let (seconds, nanoseconds) = (part(0), part(1));
    in_range(known, seconds, nanoseconds)?;
    if let (Known::Timestamp, Ok(seconds), Ok(nanoseconds)) =
        (known, i64::try_from(seconds), u32::try_from(nanoseconds))
    {
        return instant::of_seconds(seconds, nanoseconds, 0, budget).map_err(Error::without_offset);
    }
    let sign = if seconds < 0 || nanoseconds < 0 { "-" } else { "" };
    let decimals = match nanoseconds.unsigned_abs() {
        0 => String::new(),
        n if n % 1_000_000 == 0 => format!(".{:03}", n / 1_000_000),
        n if n % 1_000 == 0 => format!(".{:06}", n / 1_000),
        n => format!(".{n:09}"),
    };
    let text = format!("{sign}{}{decimals}s", seconds.unsigned_abs());
    budget.content(text.len(), 0)?;
    Ok(Value::Text(text))
}

/// Returns the fields of a `Timestamp` or a `Duration`.
pub(super) fn time_fields(known: Known, text: &str) -> Result<Value, Error> {
    let nanoseconds = match known {
        Known::Timestamp => {
            OffsetDateTime::parse(text, &Rfc3339).ok().map(OffsetDateTime::unix_timestamp_nanos)
        }
        _ => duration(text),
    };
    let wrong = || Error::new(Kind::Type, 0, format!("{text:?} is not the text of a {known:?}"));
    let nanoseconds = nanoseconds.ok_or_else(wrong)?;
    let (seconds, rest) = match known {
        Known::Timestamp => (nanoseconds.div_euclid(BILLION), nanoseconds.rem_euclid(BILLION)),
        _ => (nanoseconds / BILLION, nanoseconds % BILLION),
    };
    in_range(known, seconds, rest)?;
    Ok(Value::Array(vec![Value::from(seconds as i64), Value::from(rest as i64)]))
}

/// Checks the fields of a `Timestamp` or a `Duration`.
fn in_range(known: Known, seconds: i128, nanoseconds: i128) -> Result<(), Error> {
    let (seconds_fit, nanoseconds_fit) = match known {
        Known::Timestamp => (INSTANTS.contains(&seconds), (0..BILLION).contains(&nanoseconds)),
        _ => (
            seconds.abs() <= LONGEST,
            nanoseconds.abs() < BILLION && seconds.signum() * nanoseconds.signum() >= 0,
        ),
    };
    match (seconds_fit, nanoseconds_fit) {
        (false, _) => Err(out_of_range(&format!("seconds of a {known:?}"))),
        (_, false) => Err(out_of_range(&format!("nanos of a {known:?}"))),
        _ => Ok(()),
    }
}

/// Reads `-1.5s`, in nanoseconds.
fn duration(text: &str) -> Option<i128> {
    let number = text.strip_suffix('s')?;
    let digits = number.strip_prefix('-').unwrap_or(number);
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let is_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if whole.is_empty() || whole.len() > 12 || fraction.len() > 9 || !is_digits(whole) || !is_digits(fraction)
    {
        return None;
    }
    let n = whole.parse::<i128>().ok()? * BILLION + format!("{fraction:0<9}").parse::<i128>().ok()?;
    Some(if number.starts_with('-') { -n } else { n })
}

/// Returns the text of a `FieldMask`: its paths with commas between them, in camel case.
pub(super) fn mask_text(values: Vec<Value>, budget: &Budget) -> Result<Value, Error> {
    let Some(Value::Array(paths)) = values.into_iter().next() else { return Ok(Value::from("")) };
    let texts = paths.iter().filter_map(|path| if let Value::Text(text) = path { Some(text) } else { None });
    let text = texts.map(|path| camel(path)).collect::<Vec<_>>().join(",");
    budget.content(text.len(), 0)?;
    Ok(Value::Text(text))
}

fn camel(path: &str) -> String {
    let mut parts = path.split('_');
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| {
        let mut letters = part.chars();
        let capital = letters.next().map(|c| c.to_ascii_uppercase());
        text + &capital.into_iter().chain(letters).collect::<String>()
    })
}

/// Returns the fields of a `FieldMask`.
pub(super) fn mask_fields(text: &str) -> Value {
    let snake = |path: &str| {
        path.chars().fold(String::new(), |text, c| match c.is_ascii_uppercase() {
            true => text + "_" + &c.to_ascii_lowercase().to_string(),
            false => text + c.encode_utf8(&mut [0; 4]),
        })
    };
    let paths = text.split(',').filter(|path| !path.is_empty()).map(|path| Value::Text(snake(path)));
    Value::Array(vec![Value::Array(paths.collect())])
}

/// Returns the fields of `google.protobuf.Value` for any value: one of null, number, text, boolean, struct and list.
pub(super) fn value_fields(value: &Value, depth: usize) -> Result<Value, Error> {
    let mut fields = vec![Value::Null; 6];
    let (at, field) = match value {
        Value::Null => (0, Value::U64(0)),
        Value::U64(_) | Value::I64(_) | Value::F64(_) => (1, value.clone()),
        Value::Text(_) => (2, value.clone()),
        Value::Bool(_) => (3, value.clone()),
        Value::Map(_) => (4, struct_fields(value, depth)?),
        Value::Array(_) => (5, list_fields(value, depth)?),
        Value::Bytes(_) => return Err(Error::new(Kind::Type, 0, "google.protobuf.Value has no bytes")),
    };
    fields[at] = field;
    Ok(Value::Array(fields))
}

/// Returns the fields of `google.protobuf.Struct` for an object.
pub(super) fn struct_fields(value: &Value, depth: usize) -> Result<Value, Error> {
    let depth = limits::deeper(depth, 0)?;
    let Value::Map(entries) = value else { return Err(Error::new(Kind::Type, 0, "not an object")) };
    let entry = |(key, value): &(String, Value)| {
        Ok((key.clone(), value_fields(value, depth).map_err(|e| e.under(key))?))
    };
    Ok(Value::Array(vec![Value::Map(entries.iter().map(entry).collect::<Result<_, Error>>()?)]))
}

/// Returns the fields of `google.protobuf.ListValue` for an array.
pub(super) fn list_fields(value: &Value, depth: usize) -> Result<Value, Error> {
    let depth = limits::deeper(depth, 0)?;
    let Value::Array(items) = value else { return Err(Error::new(Kind::Type, 0, "not an array")) };
    let item = |(at, item)| value_fields(item, depth).map_err(|e| e.at_index(at));
    Ok(Value::Array(vec![Value::Array(items.iter().enumerate().map(item).collect::<Result<_, Error>>()?)]))
}

/// Returns bytes as base64, as Protobuf's JSON has them.
pub(super) fn base64(bytes: &[u8], budget: &Budget) -> Result<Value, Error> {
    let text = BASE64_STANDARD.encode(bytes);
    budget.content(text.len(), 0)?;
    Ok(Value::Text(text))
}

/// Reads base64.
pub(super) fn from_base64(text: &str) -> Result<Value, Error> {
    let bytes = STANDARD.decode(text).or_else(|_| URL_SAFE.decode(text));
    bytes.map(Value::Bytes).map_err(|_| Error::new(Kind::Type, 0, format!("{text:?} is not base64")))
}

fn out_of_range(what: &str) -> Error {
    Error::new(Kind::Range, 0, format!("{what} out of range")).without_offset()
}
