//! From samples to schemas: the inferred schema compiles and allows every sample.

mod decoded;
mod kinds;
mod numbers;
mod random;
mod samples;
mod shrink;
mod structure;
mod texts;

pub use random::message;

use dunnage_schema::{Inferred, infer};
use serde_json::Value as Json;

fn inferred(samples: &[impl AsRef<str>]) -> Inferred {
    infer(samples, Some("Sample")).expect("these are samples")
}

fn schema(samples: &[impl AsRef<str>]) -> Json {
    serde_json::from_str(&inferred(samples).schema).expect("a schema is JSON")
}

/// The schema that is inferred for the field `a` from these values.
fn field(values: &[&str]) -> Json {
    let samples: Vec<String> = values.iter().map(|value| format!("{{\"a\":{value}}}")).collect();
    schema(&samples)["properties"]["a"].clone()
}

/// The schema that is inferred for the field `a` from 200 values, which `text` makes from 0 to 199.
fn many(text: impl Fn(usize) -> String) -> Json {
    let values: Vec<String> = (0..200).map(text).collect();
    field(&values.iter().map(String::as_str).collect::<Vec<_>>())
}

fn notes(samples: &[&str]) -> Vec<String> {
    inferred(samples).notes.iter().map(ToString::to_string).collect()
}
