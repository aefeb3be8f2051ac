//! Queries for a list of devices: their counts, and what their last messages say.

use rusqlite::{Connection, OptionalExtension, Row};

/// Longest JSON of a message that is read, in bytes.
const JSON_BYTES: usize = 64 << 10;

/// The counts of a device.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Counted {
    /// The device's ID.
    pub device: String,
    /// How many messages it has stored.
    pub messages: u64,
    /// Their raw bytes.
    pub bytes: u64,
    /// The ID of the last one.
    pub last_id: i64,
    /// When the first one was received, in microseconds since 1970, if that is known.
    pub first_at: Option<i64>,
}

/// The fields of a device's last message that the list of devices shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LastMessage {
    /// The message ID.
    pub id: i64,
    /// When it was received, in microseconds since 1970.
    pub received_at: i64,
    /// The name of its format.
    pub format: String,
    /// The name of its schema.
    pub schema: Option<String>,
    /// The link that carried it.
    pub link: Option<String>,
    /// Size of its raw bytes.
    pub bytes: u32,
    /// Its value, as compact JSON; `None` for one of more than 64 KiB.
    pub json: Option<String>,
    /// The origin as reported by the input, as compact JSON.
    pub origin: Option<String>,
}

/// Returns the counts of the `most` devices that sent last, the last one first. Reads the whole table of devices.
pub fn counted(connection: &Connection, most: usize) -> rusqlite::Result<Vec<Counted>> {
    let sql = "SELECT device, messages, bytes, last_id, first_at FROM devices ORDER BY last_id DESC LIMIT ?";
    connection.prepare_cached(sql)?.query_map([most as i64], read_counted)?.collect()
}

/// Returns the counts of one device.
pub fn counted_of(connection: &Connection, device: String) -> rusqlite::Result<Option<Counted>> {
    let sql = "SELECT device, messages, bytes, last_id, first_at FROM devices WHERE device = ?";
    connection.prepare_cached(sql)?.query_row([device], read_counted).optional()
}

fn read_counted(row: &Row<'_>) -> rusqlite::Result<Counted> {
    Ok(Counted {
        device: row.get(0)?,
        messages: row.get(1)?,
        bytes: row.get(2)?,
        last_id: row.get(3)?,
        first_at: row.get(4)?,
    })
}

/// Returns the list's fields of the messages with these IDs. Messages that are no longer in the buffer are left out.
pub fn last_messages(connection: &Connection, ids: &[i64]) -> rusqlite::Result<Vec<LastMessage>> {
    let sql = format!(
        "SELECT id, received_at, format, schema, link, octet_length(raw),
             CASE WHEN octet_length(json) <= {JSON_BYTES} THEN json END, origin
         FROM messages WHERE id = ?"
    );
    let mut statement = connection.prepare_cached(&sql)?;
    let mut found = Vec::with_capacity(ids.len());
    for id in ids {
        let read = |row: &Row<'_>| {
            Ok(LastMessage {
                id: row.get(0)?,
                received_at: row.get(1)?,
                format: row.get(2)?,
                schema: row.get(3)?,
                link: row.get(4)?,
                bytes: row.get(5)?,
                json: row.get(6)?,
                origin: row.get(7)?,
            })
        };
        found.extend(statement.query_row([id], read).optional()?);
    }
    Ok(found)
}

/// Returns when the newest `most` messages of a device were received, newest first. Follows its list of messages.
pub fn newest_times(connection: &Connection, device: &str, most: usize) -> rusqlite::Result<Vec<i64>> {
    let last = "SELECT last_id FROM devices WHERE device = ?";
    let mut next = connection.prepare_cached(last)?.query_row([device], |row| row.get(0)).optional()?;
    let mut statement =
        connection.prepare_cached("SELECT received_at, previous FROM messages WHERE id = ?")?;
    let mut times = Vec::with_capacity(most);
    while times.len() < most
        && let Some(id) = next
    {
        let read = |row: &Row<'_>| Ok((row.get(0)?, row.get::<_, Option<i64>>(1)?));
        // Retention may have dropped the messages before it.
        let Some((time, previous)) = statement.query_row([id], read).optional()? else { break };
        times.push(time);
        next = previous;
    }
    Ok(times)
}
