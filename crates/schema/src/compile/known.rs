//! Compiles `x-dunnage-known` (text that the receiver knows before the message arrives), `x-dunnage-slot` (the slot of the layout) and
//! `x-dunnage-check` (the check behind packed messages).

use super::{
    Compiler, Schema, bound,
    keywords::{CHECK, SLOT, STATISTICS},
};
use crate::{SchemaError, Type, parse::Node};
use std::ops::RangeInclusive;

/// The keyword, and its only value.
const KNOWN: &str = "x-dunnage-known";
const DEVICE: &str = "device";

impl<'a> Compiler<'a> {
    /// Marks `kind` as known if the schema says that it is the device's ID.
    pub(super) fn known(&mut self, schema: &Schema<'a>, kind: Type) -> Result<Type, SchemaError> {
        let Some(node) = schema.get(KNOWN) else { return Ok(kind) };
        if *node != Node::Text(DEVICE.to_owned()) {
            return Err(schema.error(KNOWN, format!("{KNOWN} must be {DEVICE:?}")));
        }
        if matches!(kind, Type::Nullable(_) | Type::Null) {
            return Err(schema
                .error(KNOWN, format!("{KNOWN} requires a type without null: a device ID is never null")));
        }
        let seen = self.known_seen;
        self.known_seen += 1;
        match schema.place.varies {
            false if seen == 0 => {}
            false => return Err(schema.error(KNOWN, format!("{KNOWN} may stand once in a schema"))),
            true => {
                let message = format!(
                    "{KNOWN} needs a value that every message has exactly once: required, and not in an array or a choice"
                );
                return Err(schema.error(KNOWN, message));
            }
        }
        Ok(Type::Known(Box::new(kind)))
    }
}

/// Returns the slot of the schema; 1 without the keyword.
pub(super) fn slot(root: &Node) -> Result<u8, SchemaError> {
    top(root, SLOT, 1..=63, 1)
}

/// Returns the length of the check in bytes; 0 without the keyword.
pub(super) fn check(root: &Node) -> Result<u8, SchemaError> {
    top(root, CHECK, 1..=2, 0)
}

/// Returns the statistics of the messages, in Base64. The layout checks what they say.
pub(super) fn statistics(root: &Node) -> Result<Option<String>, SchemaError> {
    match root.get(STATISTICS) {
        None => Ok(None),
        Some(Node::Text(text)) => Ok(Some(text.clone())),
        Some(_) => Err(SchemaError::new(
            "",
            STATISTICS,
            "x-dunnage-statistics must be text from `dunnage schema train`",
        )),
    }
}

/// Returns the number under `keyword` at the top of the schema.
fn top(root: &Node, keyword: &str, range: RangeInclusive<u8>, without: u8) -> Result<u8, SchemaError> {
    let Some(node) = root.get(keyword) else { return Ok(without) };
    let n = bound::exact(node).and_then(|n| n.scaled(0)).and_then(|n| u8::try_from(n).ok());
    n.filter(|n| range.contains(n)).ok_or_else(|| {
        let message = format!("{keyword} must be a whole number from {} to {}", range.start(), range.end());
        SchemaError::new("", keyword, message)
    })
}
