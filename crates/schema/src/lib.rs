//! JSON Schema 2020-12, the subset that describes telemetry, compiled to a typed [`Model`].

mod model;

pub use model::*;
