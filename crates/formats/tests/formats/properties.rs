//! Properties of every message in every self-describing format.

use crate::messages::{any_json, any_value, self_describing};
use dunnage_formats::{Format, Id, Json, Kind, Value};
use proptest::prelude::*;

/// Whether `message` is or contains a value that this format cannot represent.
fn cannot_hold(id: Id, message: &Value) -> bool {
    (id == Id::Bson && !matches!(message, Value::Map(_))) || lacks(id, message)
}

fn lacks(id: Id, message: &Value) -> bool {
    match message {
        Value::Bytes(_) => matches!(id, Id::Json | Id::Yaml),
        Value::F64(f) => id == Id::Json && !f.is_finite(),
        Value::U64(n) => id == Id::Bson && *n > i64::MAX as u64,
        Value::Array(items) => items.iter().any(|item| lacks(id, item)),
        Value::Map(entries) => {
            entries.iter().any(|(key, value)| (id == Id::Bson && key.contains('\0')) || lacks(id, value))
        }
        _ => false,
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn decoding_returns_the_encoded_message(message in any_value()) {
        for (id, format) in self_describing() {
            let mut bytes = Vec::new();
            match format.encode(&message, &mut bytes) {
                Ok(()) => {
                    let back = format.decode(&bytes);
                    prop_assert_eq!(back.as_ref(), Ok(&message), "{}: {:?}", id, String::from_utf8_lossy(&bytes));
                }
                Err(e) => {
                    prop_assert!(matches!(e.kind(), Kind::Type | Kind::Range), "{id}: {e}");
                    prop_assert!(cannot_hold(id, &message), "{id}: {e}");
                    prop_assert!(bytes.is_empty());
                }
            }
        }
    }

    #[test]
    fn json_text_survives_every_format(message in any_json()) {
        let mut text = Vec::new();
        Json.encode(&message, &mut text).unwrap();
        for (id, format) in self_describing().filter(|(id, _)| !cannot_hold(*id, &message)) {
            let mut bytes = Vec::new();
            format.encode(&message, &mut bytes).unwrap();
            let mut again = Vec::new();
            Json.encode(&format.decode(&bytes).unwrap(), &mut again).unwrap();
            if id == Id::Pson {
                // PSON has one form for a number: 2.0 is 2.
                prop_assert_eq!(Json.decode(&again), Ok(message.clone()), "{}", id);
            } else {
                prop_assert_eq!(String::from_utf8_lossy(&again), String::from_utf8_lossy(&text), "{}", id);
            }
        }
    }

    #[test]
    fn a_prefix_of_a_message_is_truncated(message in any_value()) {
        for (id, format) in self_describing().filter(|(id, _)| is_delimited(*id, &message)) {
            let mut bytes = Vec::new();
            if format.encode(&message, &mut bytes).is_err() {
                continue;
            }
            for end in (0..bytes.len()).rev().take(300) {
                let e = format.decode(&bytes[..end]).unwrap_err();
                prop_assert_eq!((e.kind(), e.offset()), (Kind::Truncated, Some(end)), "{}: {:?}", id, &bytes[..end]);
            }
        }
    }

    #[test]
    fn errors_of_any_bytes_have_an_offset_within_them(bytes: Vec<u8>) {
        for (_, format) in self_describing() {
            if let Err(e) = format.decode(&bytes) {
                prop_assert!(e.offset().is_none_or(|at| at <= bytes.len()));
            }
        }
    }
}

/// Whether the format marks the end of this message. Numbers in JSON do not, and YAML never does.
fn is_delimited(id: Id, message: &Value) -> bool {
    let number = matches!(message, Value::U64(_) | Value::I64(_) | Value::F64(_));
    id != Id::Yaml && !(id == Id::Json && number)
}
