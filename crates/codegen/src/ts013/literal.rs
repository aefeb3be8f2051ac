//! JavaScript literals, ASCII only.

use dunnage_pson::Value;
use std::fmt::Write;

/// Largest whole number up to which all are exact.
pub(super) const MAX_EXACT: i128 = (1 << 53) - 1;

/// `text` in quotes.
pub(super) fn string(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            ' '..='~' => out.push(c),
            _ => {
                for unit in c.encode_utf16(&mut [0; 2]) {
                    // Writing to text does not fail.
                    let _ = write!(out, "\\u{unit:04x}");
                }
            }
        }
    }
    out.push('"');
    out
}

/// A list of values of the schema. `None` when JavaScript does not hold them.
pub(super) fn list(values: &[Value]) -> Option<String> {
    let items = format!("[{}]", values.iter().map(value).collect::<Option<Vec<_>>>()?.join(", "));
    // In an object literal this key would set the prototype; JSON has no such exception.
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

/// Whether an object keeps its properties in this order: those named by whole numbers are always first, in ascending order.
pub(super) fn in_order<'a>(keys: impl Iterator<Item = &'a str>) -> bool {
    let index = |key: &str| key.parse::<u32>().ok().filter(|n| *n < u32::MAX && n.to_string() == key);
    keys.map(|key| index(key).map_or(u64::MAX, u64::from)).is_sorted()
}
