//! The messages that records are written from.

use crate::{Failed, Message};
use dunnage_base::clock;
use serde_json::value::RawValue;
use std::collections::BTreeMap;

/// A message with its day, and its value as JSON.
pub struct Row<'m> {
    pub message: &'m Message,
    /// The day of its receipt in UTC, as `2026-01-31`.
    pub day: String,
    pub value: &'m RawValue,
}

impl<'m> Row<'m> {
    /// Creates the row of `message`. Returns an error if the message cannot be in a file.
    pub fn new(message: &'m Message) -> Result<Row<'m>, String> {
        let day = clock::day(message.received_at);
        let value = serde_json::from_str(&message.json).map_err(|e| format!("the JSON is invalid: {e}"))?;
        Ok(Row { message, day, value })
    }
}

/// Returns the rows of the messages up to the first that cannot be in a file, and the refusal of that one.
pub fn rows(messages: &[Message]) -> (Vec<Row<'_>>, Result<(), Failed>) {
    let mut rows = Vec::with_capacity(messages.len());
    for message in messages {
        match Row::new(message) {
            Ok(row) => rows.push(row),
            Err(reason) => {
                let refused = Failed::refused(reason).after(rows.len());
                return (rows, Err(refused));
            }
        }
    }
    (rows, Ok(()))
}

/// Groups `rows` by the key of their file, and keeps their order.
pub fn group<'r, 'm, K: Ord>(
    rows: &'r [Row<'m>],
    key: impl Fn(&Row<'m>) -> K,
) -> BTreeMap<K, Vec<&'r Row<'m>>> {
    let mut groups: BTreeMap<K, Vec<_>> = BTreeMap::new();
    for row in rows {
        groups.entry(key(row)).or_default().push(row);
    }
    groups
}
