//! JSON Schema, draft-04 to 2020-12, compiled to a typed [`Model`].
//!
//! [spec/schema.md](https://github.com/dunnage/dunnage/blob/main/spec/schema.md) lists the keywords and their meaning. [`Model::compile`] compiles a schema once; [`Model::validate`] then checks
//! messages against it. Codecs walk the model's types and need no JSON Schema keywords.
//!
//! ```
//! use dunnage_pson::Value;
//! use dunnage_schema::{Model, Type};
//!
//! let model = Model::compile(
//!     r#"{
//!         "title": "Reading",
//!         "type": "object",
//!         "properties": {
//!             "t": { "type": "number", "multipleOf": 0.01, "minimum": -40, "maximum": 85 },
//!             "nsat": { "type": "string", "x-dunnage-number": { "multipleOf": 1, "maximum": 99, "digits": 2 } }
//!         },
//!         "required": ["t"],
//!         "additionalProperties": false
//!     }"#,
//! )?;
//! let message = |t, nsat: &str| Value::Map(vec![("t".into(), Value::F64(t)), ("nsat".into(), nsat.into())]);
//!
//! assert!(model.validate(&message(24.56, "06")).is_ok());
//! let violation = model.validate(&message(85.01, "06")).unwrap_err();
//! assert_eq!(violation.to_string(), "85.01 is above the maximum 85.00 at /t");
//!
//! let Type::Object(object) = model.root() else { unreachable!() };
//! let Type::Decimal(t) = &object.fields[0].kind else { unreachable!() };
//! assert_eq!(t.scaled(&Value::F64(24.56)), Some(2456));
//! assert_eq!(t.value(2456), Value::F64(24.56));
//!
//! let Type::NumberText(nsat) = &object.fields[1].kind else { unreachable!() };
//! assert_eq!((nsat.parse("06"), nsat.parse("6")), (Some(6), None));
//! assert_eq!(nsat.write(6), "06");
//! # Ok::<(), dunnage_schema::SchemaError>(())
//! ```

mod alike;
mod bundle;
mod bundled;
mod compile;
mod decimal;
mod diff;
mod distinct;
mod ecma;
mod error;
mod exact;
mod format;
mod infer;
mod json_fault;
mod kinds;
mod measure;
mod model;
mod number;
mod number_text;
mod parse;
pub mod parts;
mod pattern;
pub mod pointer;
mod quantum;
mod same;
mod time_text;
mod types;
mod units;
mod validate;

pub use alike::alike;
pub use bundle::{Folders, read_text};
pub use bundled::{bundled, bundled_named};
pub use compile::{MAX_WEIGHT, Options, has_keywords, warnings};
pub use diff::{Change, diff};
pub use error::{SchemaError, Violation};
pub use exact::shortest;
pub use format::TextFormat;
pub use infer::shrink;
pub use infer::{InferError, Inferred, Note, infer, infer_decoded, with_keyword};
pub use json_fault::json_fault;
pub use model::Model;
pub use number::{binary64, read_nearest, read_number};
pub use number_text::decimal_text;
pub use quantum::Quantum;
pub use same::same;
pub use time_text::{TimePart, TimeText};
pub use types::{
    Annotation, Array, Assertion, Checked, Condition, DEVICE, Decimal, Field, Float, Integer, NumberText,
    NumbersText, Object, Pattern, Segment, Text, Tuple, Type,
};
pub use units::units;

/// The examples of the README are tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
