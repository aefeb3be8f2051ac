//! What ingest adds to the origin of a message, the object that its input stores with it (`spec/ingest.md`, "What is stored").

use serde_json::{Value, json};
use std::sync::Arc;

/// Returns `origin` with the slot of a packed message that does not have it in its bytes. Without the slot, nobody could decode them again.
pub fn with_slot(origin: Option<Arc<str>>, slot: u8) -> Option<Arc<str>> {
    let mut object = match &origin {
        Some(text) => serde_json::from_str(text).ok()?,
        None => json!({}),
    };
    match &mut object {
        Value::Object(members) => members.insert("slot".to_owned(), slot.into()),
        // No input stores anything else.
        _ => return origin,
    };
    Some(object.to_string().into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_slot_is_added_once() {
        assert_eq!(with_slot(None, 7).as_deref(), Some(r#"{"slot":7}"#));
        let twice = with_slot(with_slot(Some(r#"{"input":"i"}"#.into()), 7), 7);
        assert_eq!(twice.as_deref(), Some(r#"{"input":"i","slot":7}"#));
    }
}
