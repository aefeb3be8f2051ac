//! JavaScript literals in ASCII.

use dunnage_pson::Value;
use std::fmt::Write;

/// The largest whole number up to which JavaScript represents all exactly.
pub(super) const MAX_EXACT: i128 = (1 << 53) - 1;

/// Quotes `text`.
pub(super) fn string(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            ' '..='~' => out.push(c),
            _ => {
                for unit in c.encode_utf16(&mut [0; 2]) {
                    // Writing to a string cannot fail.
                    let _ = write!(out, "\\u{unit:04x}");
                }
            }
        }
    }
    out.push('"');
    out
}

/// Formats a list of values of the schema. Returns `None` if JavaScript cannot represent them.
pub(super) fn list(values: &[Value]) -> Option<String> {
    let items = format!("[{}]", values.iter().map(value).collect::<Option<Vec<_>>>()?.join(", "));
    // In an object literal, this key would set the prototype; in JSON it is an ordinary key.
    Some(if items.contains("\"__proto__\": ") { format!("JSON.parse({})", string(&items)) } else { items })
}

fn value(value: &Value) -> Option<String> {
    Some(match value {
        Value::Null => "null".to_owned(),
        Value::Bool(b) => b.to_string(),
        Value::U64(n) => exact(i128::from(*n))?,
        Value::I64(n) => exact(i128::from(*n))?,
        Value::F64(f) => format!("{f:?}"),
        Value::Text(text) => string(text),
        Value::Bytes(_) => return None,
        Value::Array(items) => {
            format!("[{}]", items.iter().map(self::value).collect::<Option<Vec<_>>>()?.join(", "))
        }
        Value::Map(entries) if in_order(entries.iter().map(|(key, _)| key.as_str())) => {
            let entry =
                |(key, entry): &(String, Value)| Some(format!("{}: {}", string(key), self::value(entry)?));
            format!("{{{}}}", entries.iter().map(entry).collect::<Option<Vec<_>>>()?.join(", "))
        }
        Value::Map(_) => return None,
    })
}

fn exact(n: i128) -> Option<String> {
    (n.abs() <= MAX_EXACT).then(|| n.to_string())
}

/// Whether a JavaScript object keeps its properties in this order. Keys that are whole numbers always come first, in ascending order.
pub(super) fn in_order<'a>(keys: impl Iterator<Item = &'a str>) -> bool {
    let index = |key: &str| key.parse::<u32>().ok().filter(|n| *n < u32::MAX && n.to_string() == key);
    keys.map(|key| index(key).map_or(u64::MAX, u64::from)).is_sorted()
}
