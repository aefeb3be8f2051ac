//! The device ID within a JSON message, where neither a path nor a topic has it.

use dunnage_base::name::is_device;
use dunnage_formats::{Altered, Error, Format, Json, Numbers, Reception, Value};
use dunnage_ingest::Rejected;
use dunnage_schema::pointer;

/// Checks the setting `device_at` of an input that opens envelopes only if it `has_provider`.
pub fn check(pointer: Option<&str>, has_provider: bool) -> Result<(), String> {
    match pointer {
        Some(pointer) if !pointer.starts_with('/') => {
            Err(format!("device_at: {pointer:?} is not a JSON pointer, such as /imei"))
        }
        Some(_) if has_provider => {
            Err("device_at: must not be set with provider, whose envelopes have the device ID".into())
        }
        _ => Ok(()),
    }
}

/// Returns the device ID at `pointer` in the JSON message `bytes`, as [`find`] does. The error says why there is none.
pub fn device(bytes: &[u8], pointer: &str) -> Result<String, Rejected> {
    find(bytes, pointer).map_err(|error| Rejected::undecodable(&error))?.ok_or_else(|| missing(pointer))
}

/// Returns the problem of a message without a valid device ID at `pointer`.
pub fn missing(pointer: &str) -> Rejected {
    Rejected::bad_device(&format!("the device ID at {pointer}, text or a whole number,"))
}

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_says_what_is_missing() {
        let of = |text: &str| device(text.as_bytes(), "/a/imei").map_err(|rejected| rejected.code.as_str());
        assert_eq!(of(r#"{"a":{"imei":356938035643809}}"#).as_deref(), Ok("356938035643809"));
        for (text, code) in
            [("{}", "name"), (r#"{"a":{"imei":1.5}}"#, "name"), ("[", "malformed"), ("\u{1}", "malformed")]
        {
            assert_eq!(of(text), Err(code), "{text}");
        }
        assert!(missing("/a/imei").detail.contains("/a/imei"));
        assert!(check(Some("imei"), false).is_err() && check(Some("/imei"), true).is_err());
        assert_eq!((check(None, true), check(Some("/imei"), false)), (Ok(()), Ok(())));
    }
}
