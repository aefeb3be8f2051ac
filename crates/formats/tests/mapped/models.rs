//! The bundled schemas, and the messages that go with them.

use dunnage_formats::{Format, Json, Value};
use dunnage_schema::Model;

pub fn container_message() -> Value {
    let text = include_str!("../../../../bench/corpus/container.json");
    Json.decode(text.trim().as_bytes()).expect("the corpus is JSON")
}

pub fn container_model() -> Model {
    let schema = dunnage_schema::bundled_named("container").expect("a bundled schema");
    Model::compile(schema).expect("bundled schemas compile")
}
