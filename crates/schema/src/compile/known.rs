//! Compiles `x-dunnage-known` (text that the receiver knows before the message arrives), `x-dunnage-slot` (the slot of the layout) and
//! `x-dunnage-check` (the check behind packed messages).

use super::{
    Compiler, Schema, bound,
    keywords::{CHECK, SLOT, SLOT_FROM, STATISTICS},
};
use crate::{DEVICE, SchemaError, Type, parse::Node};
use std::ops::RangeInclusive;

/// The slots that a packed message can have.
const SLOTS: RangeInclusive<u8> = 1..=63;
const KNOWN: &str = "x-dunnage-known";
/// The maximum length of a name, in characters.
const MAX_NAME: usize = 64;

impl<'a> Compiler<'a> {
    /// Marks `kind` as known if the schema gives the name under which the receiver knows it.
    pub(super) fn known(&mut self, schema: &Schema<'a>, kind: Type) -> Result<Type, SchemaError> {
        let Some(node) = schema.get(KNOWN) else { return Ok(kind) };
        let name = match node {
            Node::Text(name) if is_name(name) => name.clone(),
            _ => {
                let message = format!(
                    "{KNOWN} must be {DEVICE:?} or another name: a letter, then up to {} letters, digits, - and _",
                    MAX_NAME - 1
                );
                return Err(schema.error(KNOWN, message));
            }
        };
        if kind.nullable().is_some() || kind == Type::Null {
            return Err(schema
                .error(KNOWN, format!("{KNOWN} requires a type without null: a known text is never null")));
        }
        let is_first = !self.known_seen.contains(&name);
        self.known_seen.push(name.clone());
        match schema.place.varies {
            false if is_first => {}
            false => {
                let message =
                    format!("{KNOWN}: {name:?} may stand once in a schema; give other values other names");
                return Err(schema.error(KNOWN, message));
            }
            true => {
                let message = format!(
                    "{KNOWN} needs a value that every message has exactly once: required, and not in an array or a choice"
                );
                return Err(schema.error(KNOWN, message));
            }
        }
        Ok(Type::Known(name, Box::new(kind)))
    }
}

fn is_name(name: &str) -> bool {
    let rest = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    name.len() <= MAX_NAME && name.starts_with(|c: char| c.is_ascii_alphabetic()) && name.chars().all(rest)
}

/// Returns the slot of the schema; 1 without the keyword.
pub(super) fn slot(root: &Node) -> Result<u8, SchemaError> {
    top(root, SLOT, SLOTS, 1)
}

/// Returns `slot` if a packed message can have it.
pub(crate) fn checked_slot(slot: u8) -> Result<u8, SchemaError> {
    within(SLOT, SLOTS, Some(slot))
}

/// Returns whether the slot is the port of the link.
pub(super) fn slot_from_port(root: &Node) -> Result<bool, SchemaError> {
    match root.get(SLOT_FROM) {
        None => Ok(false),
        Some(Node::Text(text)) if text == "port" => Ok(true),
        Some(_) => Err(SchemaError::new("", SLOT_FROM, format!("{SLOT_FROM} must be \"port\""))),
    }
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
    within(keyword, range, bound::exact(node).and_then(|n| n.scaled(0)).and_then(|n| u8::try_from(n).ok()))
}

/// Returns the number under `keyword` if it is in `range`.
fn within(keyword: &str, range: RangeInclusive<u8>, n: Option<u8>) -> Result<u8, SchemaError> {
    n.filter(|n| range.contains(n)).ok_or_else(|| {
        let message = format!("{keyword} must be a whole number from {} to {}", range.start(), range.end());
        SchemaError::new("", keyword, message)
    })
}
