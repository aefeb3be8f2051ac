//! PSON wire v2.
#![no_std]

#[cfg(feature = "alloc")]
extern crate alloc;
#[cfg(feature = "std")]
extern crate std;

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
mod sink;
mod skip;
#[cfg(feature = "alloc")]
mod value;
mod wire;
mod writer;

pub use decode::Item;
pub use error::{Error, Kind};
pub use options::{Floats, Options};
pub use reader::{Reader, Type};
#[cfg(feature = "alloc")]
pub use sink::Append;
pub use sink::{Buffer, Count, Sink};
#[cfg(feature = "alloc")]
pub use value::Value;
pub use writer::Writer;

/// The bytes of `value`.
#[cfg(feature = "alloc")]
pub fn to_vec(value: &Value) -> Result<alloc::vec::Vec<u8>, Error> {
    let mut out = alloc::vec::Vec::new();
    let mut writer = Writer::to_vec(&mut out);
    value.write(&mut writer);
    writer.finish()?;
    Ok(out)
}

/// The message in `bytes`, all of them.
#[cfg(feature = "alloc")]
pub fn from_slice(bytes: &[u8]) -> Result<Value, Error> {
    Options::new().from_slice(bytes)
}

impl Options {
    #[allow(clippy::wrong_self_convention, missing_docs)]
    #[cfg(feature = "alloc")]
    pub fn from_slice(self, bytes: &[u8]) -> Result<Value, Error> {
        let mut reader = self.reader(bytes)?;
        let value = Value::read(&mut reader)?;
        reader.finish()?;
        Ok(value)
    }
}
