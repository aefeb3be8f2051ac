//! Formats and messages for several tests.

use dunnage_formats::{Format, Id, Mapping, Value};
use proptest::prelude::*;

/// Returns the formats that need no schema.
pub fn self_describing() -> impl Iterator<Item = (Id, Box<dyn Format>)> {
    Id::all().filter(|id| !id.needs_schema()).map(|id| (id, id.open(None, Mapping::Exact).unwrap()))
}

/// Returns `value` as a message of format `id`: BSON needs an object around other values.
pub fn as_message(id: Id, value: &Value) -> Value {
    match (id, value) {
        (Id::Bson, Value::Map(_)) => value.clone(),
        (Id::Bson, _) => Value::Map(vec![("value".into(), value.clone())]),
        _ => value.clone(),
    }
}

/// Any value that JSON can represent, too: no bytes, no NaN, no infinities.
pub fn any_json() -> impl Strategy<Value = Value> {
    tree(prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::Bool),
        any::<u64>().prop_map(Value::U64),
        (0..300u64).prop_map(Value::U64),
        any::<i64>().prop_map(Value::from),
        (-300..0i64).prop_map(Value::from),
        any::<f64>().prop_filter("finite", |f| f.is_finite()).prop_map(Value::F64),
        any::<f32>().prop_filter("finite", |f| f.is_finite()).prop_map(|f| Value::F64(f.into())),
        (-999i32..999).prop_map(|n| Value::F64(f64::from(n) / 10.0)),
        Just(Value::F64(-0.0)),
        text().prop_map(Value::Text),
    ])
}

/// Any value, including those that JSON cannot represent.
pub fn any_value() -> impl Strategy<Value = Value> {
    tree(prop_oneof![
        8 => any_json(),
        1 => any::<Vec<u8>>().prop_map(Value::Bytes),
        1 => prop_oneof![Just(f64::NAN), Just(f64::INFINITY), Just(f64::NEG_INFINITY)].prop_map(Value::F64),
    ])
}

/// Text of all kinds, with many cases that are difficult for formats.
pub fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-z]{1,8}",
        "[ -~]{0,40}",
        any::<String>(),
        "[\\x00-\\x20\\x7f-\\u{a0}\\u{2028}\\u{feff}\\u{fffe}\\u{ffff}\\r\\n'\"\\\\]{0,6}",
        "[-+.0-9eExo_:TZ]{1,6}",
        "[-?:,\\[\\]{}#&*!|>'\"%@` ~<=a\n]{0,6}",
        prop::sample::select(vec![
            "17.00",
            "06",
            "no",
            "null",
            "true",
            "~",
            "",
            " ",
            "0x1f",
            "1e3",
            ".inf",
            "-0",
            "<<",
            "---",
            "...",
            "2001-01-01",
            "12:30:45",
            "a: b",
            "a #b",
            "]]>",
            "&lt;",
            "\u{1f600}",
        ])
        .prop_map(String::from),
    ]
}

fn tree(leaf: impl Strategy<Value = Value> + 'static) -> impl Strategy<Value = Value> {
    leaf.prop_recursive(4, 40, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::Array),
            prop::collection::vec((text(), inner), 0..5).prop_map(|mut entries| {
                let mut seen = std::collections::HashSet::new();
                entries.retain(|(key, _)| seen.insert(key.clone()));
                Value::Map(entries)
            }),
        ]
    })
}
