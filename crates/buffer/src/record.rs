//! The row of a message, with a checksum over all its columns. A row that the disk has changed is reported as damage.

use crate::message::NewMessage;
use rusqlite::{CachedStatement, Row, ffi};

/// The columns of the table `messages m`, in the order of [`Record::read`].
pub const COLUMNS: &str =
    "m.id, m.received_at, m.device, m.format, m.schema, m.link, m.previous, m.raw, m.json, m.key, m.request,
    m.\"check\", m.origin, m.name, m.place";

/// Inserts a message.
pub const INSERT: &str = "INSERT INTO messages VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";

/// A row of the table `messages`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Record<'a> {
    /// The message ID.
    pub id: i64,
    /// When the last byte arrived, in microseconds since 1970.
    pub received_at: i64,
    /// Its device.
    pub device: &'a str,
    /// The name of its format.
    pub format: &'a str,
    /// The name of its schema.
    pub schema: Option<&'a str>,
    /// The link that carried it.
    pub link: Option<&'a str>,
    /// The ID of the device's previous message.
    pub previous: Option<i64>,
    /// Its bytes as they arrived.
    pub raw: &'a [u8],
    /// The value, as compact JSON.
    pub json: &'a str,
    /// The sender's idempotency key.
    pub key: Option<&'a str>,
    /// The request ID.
    pub request: Option<&'a str>,
    /// The origin as reported by the input, as compact JSON.
    pub origin: Option<&'a str>,
    /// Its name, if later messages may refer to it.
    pub name: Option<u16>,
    /// Its place among the messages of its device, if retention keeps it as a reference.
    pub place: Option<i64>,
}

impl<'a> Record<'a> {
    /// Creates the row of `message`, the `nth` one of its device.
    pub fn new(id: i64, previous: Option<i64>, nth: u64, message: &'a NewMessage) -> Record<'a> {
        let from = &message.provenance;
        Record {
            id,
            received_at: from.received_at,
            device: &from.device,
            format: message.format,
            schema: from.schema.as_deref(),
            link: from.link.as_deref(),
            previous,
            raw: &message.raw,
            json: &message.json,
            key: from.key.as_deref(),
            request: Some(&from.request),
            origin: from.origin.as_deref(),
            name: message.reference.as_ref().map(|reference| reference.name),
            place: message.reference.as_ref().and_then(|reference| reference.place(&message.raw, nth)),
        }
    }

    /// Reads the columns from `first` on. Returns `SQLITE_CORRUPT` if the checksum is wrong.
    pub fn read(row: &'a Row<'_>, first: usize) -> rusqlite::Result<Record<'a>> {
        let text = |at: usize| -> rusqlite::Result<Option<&'a str>> {
            Ok(row.get_ref(first + at)?.as_str_or_null()?)
        };
        let record = Record {
            id: row.get(first)?,
            received_at: row.get(first + 1)?,
            device: row.get_ref(first + 2)?.as_str()?,
            format: row.get_ref(first + 3)?.as_str()?,
            schema: text(4)?,
            link: text(5)?,
            previous: row.get(first + 6)?,
            raw: row.get_ref(first + 7)?.as_blob()?,
            json: row.get_ref(first + 8)?.as_str()?,
            key: text(9)?,
            request: text(10)?,
            origin: text(12)?,
            name: row.get(first + 13)?,
            place: row.get(first + 14)?,
        };
        // Messages from before version 4 of the tables have no checksum.
        match row.get::<_, Option<i64>>(first + 11)? {
            Some(check) if check != i64::from(record.check()) => {
                let message = format!("message {} does not match its checksum", record.id);
                Err(rusqlite::Error::SqliteFailure(ffi::Error::new(ffi::SQLITE_CORRUPT), Some(message)))
            }
            _ => Ok(record),
        }
    }

    /// Writes the row with a statement of [`INSERT`].
    pub fn insert(&self, statement: &mut CachedStatement<'_>) -> rusqlite::Result<()> {
        statement.execute((
            self.id,
            self.received_at,
            self.device,
            self.format,
            self.schema,
            self.link,
            self.previous,
            self.raw,
            self.json,
            self.key,
            self.request,
            self.check(),
            self.origin,
            self.name,
            self.place,
        ))?;
        Ok(())
    }

    /// Returns the CRC-32 over all columns. Texts and bytes are preceded by their length; a missing value has the length -1. A missing
    /// `origin` or name is left out, so that the checksums from before these columns stay valid.
    pub fn check(&self) -> u32 {
        // One pass over a copy is cheaper: hashing two dozen pieces of a few bytes each takes half as many instructions again.
        let mut all = Vec::with_capacity(512 + self.raw.len() + self.json.len());
        let mut bytes = |bytes: Option<&[u8]>| {
            all.extend_from_slice(&bytes.map_or(-1, |bytes| bytes.len() as i64).to_le_bytes());
            all.extend_from_slice(bytes.unwrap_or_default());
        };
        bytes(Some(&self.id.to_le_bytes()));
        bytes(Some(&self.received_at.to_le_bytes()));
        bytes(Some(self.device.as_bytes()));
        bytes(Some(self.format.as_bytes()));
        bytes(self.schema.map(str::as_bytes));
        bytes(self.link.map(str::as_bytes));
        bytes(self.previous.map(i64::to_le_bytes).as_ref().map(|id| &id[..]));
        bytes(Some(self.raw));
        bytes(Some(self.json.as_bytes()));
        bytes(self.key.map(str::as_bytes));
        bytes(self.request.map(str::as_bytes));
        if let Some(origin) = self.origin {
            bytes(Some(origin.as_bytes()));
        }
        if let Some(name) = self.name {
            bytes(Some(&name.to_le_bytes()));
            bytes(self.place.map(i64::to_le_bytes).as_ref().map(|place| &place[..]));
        }
        crc32fast::hash(&all)
    }
}
