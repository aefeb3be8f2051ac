//! `spec/schema.md` and `spec/schemas`, held against the compiler and against an ordinary validator.

mod agreement;
mod bundle;
mod bundled;
mod compile;
mod diff;
mod differential;
mod infer;
mod json;
mod real;
mod refuse;
mod sensor;
mod series;
mod shapes;
mod suite;
mod validate;
