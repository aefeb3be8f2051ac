//! Compares `spec/schema.md` and `spec/schemas` with the compiler and with another validator.

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
