//! Random schemas and messages that are valid against them. The same seed gives the same ones on every machine.
//!
//! ```
//! use dunnage_conform::{Random, Scope, instance, schema};
//! use dunnage_schema::Model;
//!
//! let mut random = Random::new(1);
//! let text = schema(&mut random, Scope::Plain);
//! let model = Model::compile(&text)?;
//! let instance = instance(&mut random, &model);
//! assert!(model.validate(&instance.message).is_ok());
//! # Ok::<(), dunnage_schema::SchemaError>(())
//! ```

mod instances;
pub mod notation;
mod random;
mod schemas;
pub mod words;

pub use instances::{Instance, instance};
pub use random::Random;
pub use schemas::{Scope, schema};
