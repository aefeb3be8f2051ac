//! `x-dunnage-known`: text that the receiver knows before the message comes. `x-dunnage-slot`: the layout's number.

use super::{Compiler, Schema, keywords::SLOT, number};
use crate::{SchemaError, Type, parse::Node};

/// The keyword, and the only thing that a receiver knows.
const KNOWN: &str = "x-dunnage-known";
const DEVICE: &str = "device";

impl<'a> Compiler<'a> {
    /// `kind`, marked when the schema says that it is the id of the device.
    pub(super) fn known(&mut self, schema: &Schema<'a>, kind: Type) -> Result<Type, SchemaError> {
        let Some(node) = schema.get(KNOWN) else { return Ok(kind) };
        if *node != Node::Text(DEVICE.to_owned()) {
            return Err(schema.error(KNOWN, format!("{KNOWN} must be {DEVICE:?}")));
        }
        if matches!(kind, Type::Nullable(_) | Type::Null) {
            return Err(schema.error(KNOWN, format!("{KNOWN} beside null, which is no device")));
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

/// The slot of the whole schema, 1 without the keyword.
pub(super) fn slot(root: &Node) -> Result<u8, SchemaError> {
    let Some(node) = root.get(SLOT) else { return Ok(1) };
    let n = number::exact(node).and_then(|n| n.scaled(0)).and_then(|n| u8::try_from(n).ok());
    n.filter(|n| (1..=63).contains(n))
        .ok_or_else(|| SchemaError::new("", SLOT, format!("{SLOT} must be a whole number from 1 to 63")))
}
