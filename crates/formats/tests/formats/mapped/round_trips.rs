//! With the exact mapping every valid message round-trips; with the float32 mapping it decodes to a valid message.

use super::generated::model_and_messages;
use super::models::{bundled, examples};
use dunnage_formats::{Format, Id, Kind, Mapping, Value};
use dunnage_schema::{Model, Type};
use proptest::prelude::*;

fn formats(model: &Model, mapping: Mapping) -> impl Iterator<Item = (Id, Box<dyn Format>)> {
    let has = move |id: &Id| {
        let only_exact = matches!(id, Id::Avro | Id::ThriftBinary | Id::ThriftCompact | Id::Packed);
        id.needs_schema() && (mapping == Mapping::Exact || !only_exact)
    };
    Id::all().filter(has).map(move |id| (id, id.open(Some(model), mapping).unwrap()))
}

/// Whether an integer of the message needs a 65th bit: its type is signed and its value above 2^63-1.
fn needs_65_bits(kind: &Type, value: &Value) -> bool {
    match (kind, value) {
        (Type::Integer(n), value) => n.min < 0 && value.as_integer().is_some_and(|n| n > i64::MAX.into()),
        (Type::Nullable(inner), value) => needs_65_bits(inner, value),
        (Type::Checked(checked), value) => needs_65_bits(&checked.kind, value),
        (Type::Array(array), Value::Array(items)) => {
            items.iter().any(|item| needs_65_bits(&array.items, item))
        }
        (Type::Object(object), value) => {
            object.fields.iter().any(|f| value.get(&f.name).is_some_and(|v| needs_65_bits(&f.kind, v)))
        }
        _ => false,
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn exact_mapping_is_lossless((model, messages) in model_and_messages()) {
        for (id, format) in formats(&model, Mapping::Exact) {
            for message in &messages {
                prop_assert_eq!(model.validate(message), Ok(()));
                let mut bytes = Vec::new();
                match format.encode(message, &mut bytes) {
                    Ok(()) => prop_assert_eq!(format.decode(&bytes), Ok(message.clone()), "{}: {:02x?}", id, bytes),
                    Err(e) => {
                        prop_assert_eq!(e.kind(), Kind::Range, "{}: {}", id, e);
                        prop_assert!(needs_65_bits(model.root(), message), "{}: {}", id, e);
                    }
                }
            }
        }
    }

    #[test]
    fn float32_mapping_decodes_to_a_valid_message((model, messages) in model_and_messages()) {
        for (id, format) in formats(&model, Mapping::Float32) {
            for message in &messages {
                let mut bytes = Vec::new();
                if format.encode(message, &mut bytes).is_err() {
                    continue;
                }
                match format.decode(&bytes) {
                    Ok(back) => prop_assert_eq!(model.validate(&back), Ok(()), "{}", id),
                    Err(e) => prop_assert_eq!(e.kind(), Kind::Range, "{}: {}", id, e),
                }
            }
        }
    }
}

#[test]
fn examples_of_the_bundled_schemas_round_trip() {
    for (name, schema) in bundled() {
        for message in examples(schema) {
            for (id, format) in formats(&Model::compile(schema).unwrap(), Mapping::Exact) {
                let result = format.round_trip(&message).unwrap_or_else(|e| panic!("{name} {id}: {e}"));
                assert!(result.lossless, "{name} {id}");
            }
        }
    }
}
