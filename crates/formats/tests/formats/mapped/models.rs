//! The bundled schemas, and the messages that go with them.

use dunnage_formats::{Format, Json, Value};
use dunnage_schema::Model;

pub fn container_message() -> Value {
    let text = include_str!("../../../../../bench/corpus/container.json");
    Json.decode(text.trim().as_bytes()).unwrap()
}

pub fn container_model() -> Model {
    Model::compile(dunnage_schema::bundled_named("container").unwrap()).unwrap()
}

/// Returns the name and text of every bundled schema.
pub fn bundled() -> &'static [(&'static str, &'static str)] {
    dunnage_schema::bundled()
}

/// Returns the examples of a schema.
pub fn examples(schema: &str) -> Vec<Value> {
    let schema = Json.decode(schema.as_bytes()).unwrap();
    let Some(Value::Array(examples)) = schema.get("examples") else { panic!("a schema without examples") };
    examples.clone()
}
