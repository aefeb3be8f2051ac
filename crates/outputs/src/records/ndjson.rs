//! Lines of NDJSON: one JSON object for each message.

use super::row::Row;
use dunnage_base::clock;
use dunnage_register::Tags;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use std::io::{self, Write};

/// A line.
#[derive(Serialize, Deserialize)]
pub struct Line<'a> {
    pub name: String,
    pub id: i64,
    pub device: String,
    /// The name of the device in the register when the line was written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device_name: Option<String>,
    /// Its tags.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tags: Option<Tags>,
    /// RFC 3339 with microseconds.
    pub received_at: String,
    pub format: String,
    pub schema: Option<String>,
    pub link: Option<String>,
    pub request: String,
    /// What the input knows about its arrival, such as the topic.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<&'a RawValue>,
    #[serde(borrow)]
    pub value: &'a RawValue,
}

/// Writes a line for each of `rows`.
pub fn write(rows: &[&Row<'_>], to: &mut dyn Write) -> io::Result<()> {
    for Row { message, value, .. } in rows {
        let line = Line {
            name: message.stable_id.clone(),
            id: message.id,
            device: message.device.clone(),
            device_name: message.device_name().map(str::to_owned),
            tags: message.tags().cloned(),
            received_at: clock::rfc3339_micros(message.received_at),
            format: message.format.clone(),
            schema: message.schema.clone(),
            link: message.link.clone(),
            request: message.request.clone(),
            origin: message.origin.as_deref().and_then(|origin| serde_json::from_str(origin).ok()),
            value,
        };
        serde_json::to_writer(&mut *to, &line)?;
        to.write_all(b"\n")?;
    }
    Ok(())
}
