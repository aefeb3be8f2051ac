//! The types that schemas with several keywords compile to.

mod limits;
mod references;
mod restrictions;
mod types;

use crate::json::message;
use dunnage_schema::{Model, Type};

fn model(schema: &str) -> Model {
    Model::compile(schema).unwrap_or_else(|e| panic!("{schema}: {e}"))
}

fn root(schema: &str) -> Type {
    model(schema).into_root()
}

/// Asserts that both schemas of each pair become the same type.
fn same(pairs: &[(&str, &str)]) {
    for (schema, plain) in pairs {
        assert_eq!(root(schema), root(plain), "{schema}");
    }
}

fn valid(schema: &str, messages: &[&str]) {
    for text in messages {
        assert_eq!(model(schema).validate(&message(text)), Ok(()), "{schema} and {text}");
    }
}

fn broken(schema: &str, cases: &[(&str, &str)]) {
    for (text, expected) in cases {
        let violation = model(schema).validate(&message(text)).expect_err(text);
        assert_eq!(violation.to_string(), *expected, "{schema} and {text}");
    }
}
