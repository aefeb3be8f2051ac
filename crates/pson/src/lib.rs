//! PSON wire v2.
#![no_std]

#[cfg(feature = "alloc")]
extern crate alloc;
#[cfg(feature = "std")]
extern crate std;

#[cfg(feature = "serde")]
mod de;
mod decode;
#[cfg(feature = "alloc")]
mod document;
mod encode;
mod error;
#[cfg(any(feature = "serde", feature = "alloc"))]
mod keys;
mod levels;
mod number;
mod options;
mod reader;
#[cfg(feature = "serde")]
mod ser;
mod sink;
mod skip;
#[cfg(feature = "alloc")]
mod value;
#[cfg(all(feature = "alloc", feature = "serde"))]
mod value_serde;
mod wire;
mod writer;

#[cfg(feature = "serde")]
pub use de::from_slice;
pub use decode::Item;
pub use error::{Error, Kind};
pub use options::{Floats, Options};
pub use reader::{Reader, Type};
#[cfg(all(feature = "std", feature = "serde"))]
pub use ser::to_writer;
#[cfg(all(feature = "alloc", feature = "serde"))]
pub use ser::{append, to_vec};
#[cfg(feature = "serde")]
pub use ser::{measure, to_slice};
#[cfg(feature = "alloc")]
pub use sink::Append;
pub use sink::{Buffer, Count, Sink};
#[cfg(feature = "alloc")]
pub use value::Value;
pub use writer::Writer;
