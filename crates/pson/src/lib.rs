//! PSON wire v2.
#![no_std]

extern crate alloc;

mod error;
mod value;

pub use error::{Error, Kind};
pub use value::Value;
