//! PSON wire v2 (`spec/pson.md`), read leniently and written canonically.

use crate::{Error, Format, Reception, Value};
use dunnage_pson::{Reader, Writer};

/// PSON wire v2, read leniently and written canonically.
///
/// A number has one form, so 2.0 is 2, and all NaNs are one value. Every message survives a round trip.
///
/// ```
/// use dunnage_formats::{Format, Pson, Value};
///
/// let mut bytes = Vec::new();
/// Pson.encode(&Value::Map(vec![("t".into(), Value::F64(48.0))]), &mut bytes)?;
/// assert_eq!(bytes, b"\xc1\x81t\x1f\x30"); // 48 as an integer
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, Default)]
pub struct Pson;

impl Format for Pson {
    fn encode(&self, message: &Value, out: &mut Vec<u8>) -> Result<(), Error> {
        crate::limits::bounded(out, |out| {
            let mut writer = Writer::with_vec(out);
            message.write(&mut writer);
            writer.finish()?;
            Ok(())
        })
    }

    fn decode_from(&self, bytes: &[u8], reception: &Reception<'_>) -> Result<Value, Error> {
        let mut reader = Reader::new(bytes)?;
        let message = Value::read_within(&mut reader, &reception.budget())?;
        reader.finish()?;
        Ok(message)
    }
}
