//! The rows that files are written from.

use crate::Message;
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

/// Returns the rows with IDs above `last_id`. The others are in the file already.
pub fn new_rows<'r, 'm>(rows: &'r [&'r Row<'m>], last_id: i64, file: &std::path::Path) -> &'r [&'r Row<'m>] {
    let there = rows.partition_point(|row| row.message.id <= last_id);
    if there > 0 {
        tracing::info!(file = %file.display(), messages = there, "messages were delivered again; the file already has them");
    }
    &rows[there..]
}
