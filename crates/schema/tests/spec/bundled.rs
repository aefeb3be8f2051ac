//! The schemas of `spec/schemas` compile and allow their examples.

use crate::json::{parse, value};
use dunnage_pson::Value;
use dunnage_schema::{Model, Type, bundled, bundled_named};

const MESSAGES: [(&str, &str); 5] = [
    ("container", include_str!("../../../../bench/corpus/container.json")),
    ("container-voyage", include_str!("../../../../bench/corpus/telemetry/container-voyage.json")),
    ("container-numeric", include_str!("../../../../bench/corpus/telemetry/container-numeric.json")),
    ("weather", include_str!("../../../../bench/corpus/telemetry/weather.json")),
    ("meter", include_str!("../../../../bench/corpus/telemetry/meter.json")),
];

#[test]
fn every_bundled_schema_compiles_and_allows_its_examples() {
    for (name, text) in bundled() {
        let model = Model::compile(text).unwrap_or_else(|e| panic!("{name}: {e}"));
        let schema = parse(text);
        for keyword in ["$schema", "$id", "title", "description"] {
            assert!(schema[keyword].is_string(), "{name} has no {keyword}");
        }
        assert_eq!(schema["$id"], format!("urn:dunnage:schema:{name}"));
        let examples = schema["examples"].as_array().unwrap();
        assert!(!examples.is_empty(), "{name}");
        for example in examples {
            model.validate(&value(example)).unwrap_or_else(|e| panic!("{name}: {e}"));
        }
    }
}

#[test]
fn the_messages_of_the_corpus_are_the_schemas_first_examples() {
    for (name, message) in MESSAGES {
        let text = bundled_named(name).unwrap();
        let message = parse(message);
        assert_eq!(message, parse(text)["examples"][0], "{name}");
        Model::compile(text).unwrap().validate(&value(&message)).unwrap();
    }
}

#[test]
fn the_container_has_its_20_fields_in_the_order_of_its_message() {
    let text = bundled_named("container").unwrap();
    let model = Model::compile(text).unwrap();
    assert_eq!(model.name(), "Container");
    let Type::Object(object) = model.root() else { panic!("not an object") };
    let example = &parse(text)["examples"][0];
    let keys: Vec<_> = example.as_object().unwrap().keys().collect();
    let fields: Vec<_> = object.fields.iter().map(|field| &field.name).collect();
    assert_eq!(fields, keys);
    assert_eq!(fields.len(), 20);
    assert!(object.fields.iter().all(|field| field.required && field.description.is_some()));
    assert_eq!(object.additional, None);
}

#[test]
fn texts_of_the_container_message_round_trip_byte_for_byte() {
    let text = bundled_named("container").unwrap();
    let Type::Object(object) = Model::compile(text).unwrap().into_root() else { panic!("not an object") };
    let example = value(&parse(text)["examples"][0]);
    let mut numbers = 0;
    for field in &object.fields {
        let Some(Value::Text(text)) = example.get(&field.name) else { panic!("{} is no text", field.name) };
        let back = match &field.kind {
            Type::NumberText(number) => number.write(number.parse(text).unwrap()),
            Type::NumbersText(numbers) => numbers.write(&numbers.parse(text).unwrap()),
            Type::TimeText(time) => time.write(time.parse(text).unwrap()),
            _ => continue,
        };
        assert_eq!(&back, text);
        numbers += 1;
    }
    assert_eq!(numbers, 14);
}

#[test]
fn an_unknown_name_has_no_schema() {
    assert_eq!(bundled_named("containers"), None);
}

#[test]
fn bundled_schemas_have_the_expected_number_of_optional_fields() {
    for (name, optional) in [("container-numeric", 0), ("weather", 4), ("meter", 4)] {
        let Type::Object(object) = Model::compile(bundled_named(name).unwrap()).unwrap().into_root() else {
            panic!("{name} is no object")
        };
        assert_eq!(object.fields.iter().filter(|field| !field.required).count(), optional, "{name}");
    }
}

#[test]
fn a_valid_message_is_validated_without_allocating() {
    for (name, text) in bundled() {
        let model = Model::compile(text).unwrap();
        let message = value(&parse(text)["examples"][0]);
        // The first match of a pattern on a thread sets up the engine's scratch space.
        model.validate(&message).unwrap();
        let measured = allocation_counter::measure(|| model.validate(&message).unwrap());
        assert_eq!(measured.count_total, 0, "{name}");
    }
}
