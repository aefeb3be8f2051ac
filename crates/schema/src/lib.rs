//! JSON Schema 2020-12, the subset that describes telemetry, compiled to a typed [`Model`].
//!
//! `spec/schema.md` says which keywords there are and what they mean. A schema is compiled once, with
//! [`Model::compile`]; messages are then checked with [`Model::validate`], and codecs are driven by the model's types.

mod bundled;
mod compile;
mod decimal;
mod ecma;
mod error;
mod exact;
mod model;
mod number_text;
mod parse;
mod pattern;
mod time_text;
mod validate;

pub use bundled::{bundled, bundled_named};
pub use error::{SchemaError, Violation};
pub use model::*;
