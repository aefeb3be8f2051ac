//! Fields that ingest adds to the origin of a message, the object that its input stores with it (`spec/ingest.md`, "What is stored").

use serde_json::{Value, json};
use std::sync::Arc;

/// The slot of a packed message that does not have it in its bytes. Without the slot, nobody could decode them again.
pub const SLOT: &str = "slot";
/// The count of the message's numbers that were rounded to the nearest binary64.
pub const ROUNDED: &str = "rounded";
/// How many are null, because the sender wrote NaN or an infinity.
pub const NULLS: &str = "nulls";

/// Returns `origin` with `number` under `name`.
pub fn with(origin: Option<Arc<str>>, name: &str, number: u64) -> Option<Arc<str>> {
    let mut object = match &origin {
        Some(text) => serde_json::from_str(text).ok()?,
        None => json!({}),
    };
    match &mut object {
        Value::Object(members) => members.insert(name.to_owned(), number.into()),
        // No input stores anything else.
        _ => return origin,
    };
    Some(object.to_string().into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_added_once() {
        assert_eq!(with(None, SLOT, 7).as_deref(), Some(r#"{"slot":7}"#));
        let twice = with(with(Some(r#"{"input":"i"}"#.into()), SLOT, 7), SLOT, 7);
        assert_eq!(twice.as_deref(), Some(r#"{"input":"i","slot":7}"#));
    }
}
