//! Properties of every message.
use crate::check;
use dunnage_pson::{Floats, Kind, Options, Value, Writer, from_slice, measure, to_slice, to_vec};
use proptest::{collection::vec, prelude::*};

fn any_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::Bool),
        any::<u64>().prop_map(Value::U64),
        (0u64..300).prop_map(Value::U64),
        any::<i64>().prop_map(Value::from),
        (-300i64..0).prop_map(Value::I64),
        any::<f64>().prop_map(Value::F64),
        any::<f32>().prop_map(|f| Value::F64(f.into())),
        (-1000i32..1000).prop_map(|n| Value::F64(f64::from(n) / 8.0)),
        ".{0,40}".prop_map(Value::Text),
        vec(any::<u8>(), 0..40).prop_map(Value::Bytes),
    ];
    leaf.prop_recursive(6, 64, 35, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..35).prop_map(Value::Array),
            vec((".{0,6}", inner), 0..35).prop_map(map)
        ]
    })
}

/// Returns a map of `entries` without later entries of the same key.
fn map(entries: Vec<(String, Value)>) -> Value {
    let mut seen = std::collections::HashSet::new();
    Value::Map(entries.into_iter().filter(|(key, _)| seen.insert(key.clone())).collect())
}

proptest! {
    #[test]
    fn messages_round_trip(value in any_value()) {
        let bytes = to_vec(&value).unwrap();
        let back: Value = from_slice(&bytes).unwrap();
        prop_assert_eq!(&back, &value);
        prop_assert_eq!(to_vec(&back).unwrap(), bytes);
    }

    #[test]
    fn encoded_messages_pass_every_check(value in any_value()) {
        let bytes = to_vec(&value).unwrap();
        let strict: Value = Options::new().strict(true).from_slice(&bytes).unwrap();
        prop_assert_eq!(strict, value);
        check::check(&bytes);
    }

    #[test]
    fn any_bytes_pass_every_check(bytes in vec(any::<u8>(), 0..64)) {
        check::check(&bytes);
    }

    #[test]
    fn writer_and_serde_write_the_same_bytes(value in any_value()) {
        let mut out = vec![0xee];
        let mut writer = Writer::with_vec(&mut out);
        value.write(&mut writer);
        let len = writer.finish().unwrap();
        prop_assert_eq!(len, out.len() - 1);
        prop_assert_eq!(&out[1..], to_vec(&value).unwrap());
    }

    #[test]
    fn counting_returns_the_length(value in any_value()) {
        let len = to_vec(&value).unwrap().len();
        prop_assert_eq!(measure(&value), Ok(len));
        let mut writer = Writer::counting();
        value.write(&mut writer);
        prop_assert_eq!(writer.finish(), Ok(len));
    }

    #[test]
    fn too_small_buffers_are_an_error_and_the_length_is_still_counted(value in any_value()) {
        let bytes = to_vec(&value).unwrap();
        for size in (0..bytes.len()).step_by(bytes.len() / 100 + 1).chain([bytes.len()]) {
            let mut buffer = vec![0xee; size];
            let result = to_slice(&value, &mut buffer);
            let mut again = vec![0xee; size];
            let mut writer = Writer::with_slice(&mut again);
            value.write(&mut writer);
            prop_assert_eq!(writer.len(), bytes.len());
            prop_assert_eq!(writer.finish(), result.clone());
            prop_assert_eq!(&buffer, &again);
            if size == bytes.len() {
                prop_assert_eq!(result, Ok(size));
                prop_assert_eq!(&buffer, &bytes);
            } else {
                let error = result.unwrap_err();
                prop_assert_eq!((error.kind(), error.offset()), (Kind::Truncated, size));
                // Nothing but the beginning of the message was written.
                let written = buffer.iter().zip(&bytes).take_while(|(a, b)| a == b).count();
                prop_assert!(buffer[written..].iter().all(|byte| *byte == 0xee));
            }
        }
    }

    #[test]
    fn single_policy_writes_canonical_messages_of_rounded_numbers(f in any::<f64>()) {
        let bytes = Options::new().floats(Floats::Single).to_vec(&f).unwrap();
        let back: Value = Options::new().strict(true).from_slice(&bytes).unwrap();
        let rounded = f64::from(f as f32);
        let expected = if Value::F64(f).as_integer().is_some() || (rounded.is_infinite() && f.is_finite()) { f } else { rounded };
        prop_assert_eq!(back, Value::F64(expected));
    }
}
