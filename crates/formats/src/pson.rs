//! PSON wire v2: `spec/pson.md`, read leniently and written canonically.
//!
//! A number has one form, so that 2.0 is 2. NaN is one value. Everything comes back.

use crate::{Error, Format, Value};
use dunnage_pson::{Options, Writer};

/// PSON.
#[derive(Debug, Clone, Copy, Default)]
pub struct Pson;

impl Format for Pson {
    fn encode(&self, message: &Value, out: &mut Vec<u8>) -> Result<(), Error> {
        crate::limits::bounded(out, |out| {
            let mut writer = Writer::to_vec(out);
            message.write(&mut writer);
            writer.finish()?;
            Ok(())
        })
    }

    fn decode(&self, bytes: &[u8]) -> Result<Value, Error> {
        Ok(Options::new().from_slice(bytes)?)
    }
}
