//! Tests of the generated code and definitions.

#![allow(clippy::unwrap_used)]

mod c;
mod c_fit;
mod c_modes;
mod c_numbers;
mod c_programs;
mod cddl;
mod codecs;
mod definitions;
mod record;
mod sql;
