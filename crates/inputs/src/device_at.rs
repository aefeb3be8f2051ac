//! The device ID within a JSON message, where neither a path nor a topic has it.

use dunnage_base::name::is_device;
use dunnage_formats::{Altered, Error, Format, Json, Numbers, Reception, Value};
use dunnage_schema::pointer;

/// Returns the device ID at `pointer` in the JSON message `bytes`: a text, or the digits of a whole number, such as an IMEI. Returns `None`
/// if there is none, or no valid one. The errors are those of the decoder.
///
/// The message is read as the most tolerant profile does: the device has to be known even if its own profile rejects the message.
pub fn find(bytes: &[u8], pointer: &str) -> Result<Option<String>, Error> {
    let altered = Altered::default();
    let reception = Reception { numbers: Numbers::Lenient(&altered), ..Reception::default() };
    let object = Json.decode_from(bytes, &reception)?;
    Ok(pointer::find(&object, pointer).and_then(name_of).filter(|device| is_device(device)))
}

fn name_of(value: &Value) -> Option<String> {
    match value {
        Value::Text(text) => Some(text.clone()),
        Value::U64(n) => Some(n.to_string()),
        _ => None,
    }
}
