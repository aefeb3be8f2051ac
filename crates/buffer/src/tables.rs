//! The tables of the database, and their migration from older versions.

use super::{alarms, position, register, replays, waypoints};
use rusqlite::Connection;

/// The version of the tables, as `PRAGMA user_version`.
pub const VERSION: i64 = 12;

/// Version 1. `raw` holds the raw bytes of a message and `json` its value. Times are microseconds since 1970 (UTC). IDs ascend and are
/// never reused; `totals` keeps the last one. `previous` is the ID of the device's previous message. It makes a device's messages a list
/// without an index: an index by device would write a page for nearly every message.
const TABLES: &str = "
CREATE TABLE messages (
    id INTEGER PRIMARY KEY,
    received_at INTEGER NOT NULL,
    device TEXT NOT NULL,
    format TEXT NOT NULL,
    schema TEXT,
    link TEXT,
    previous INTEGER,
    raw BLOB NOT NULL,
    json TEXT NOT NULL
) STRICT;
CREATE TABLE quarantine (
    id INTEGER PRIMARY KEY,
    received_at INTEGER NOT NULL,
    device TEXT NOT NULL,
    schema TEXT,
    link TEXT,
    content_type TEXT NOT NULL,
    kind TEXT NOT NULL,
    \"offset\" INTEGER,
    reason TEXT NOT NULL,
    raw BLOB NOT NULL
) STRICT;
CREATE TABLE devices (
    device TEXT PRIMARY KEY,
    messages INTEGER NOT NULL,
    bytes INTEGER NOT NULL,
    last_id INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE formats (
    format TEXT PRIMARY KEY,
    messages INTEGER NOT NULL,
    bytes INTEGER NOT NULL,
    json_bytes INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE totals (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    last_message_id INTEGER NOT NULL,
    last_quarantine_id INTEGER NOT NULL,
    stored INTEGER NOT NULL,
    quarantined INTEGER NOT NULL,
    refused INTEGER NOT NULL,
    devices INTEGER NOT NULL
) STRICT;
INSERT INTO totals VALUES (1, 0, 0, 0, 0, 0, 0);
";

/// Version 2 adds the packed layouts that messages were decoded with, one for each slot of a schema.
const LAYOUTS: &str = "
CREATE TABLE layouts (
    schema TEXT NOT NULL,
    slot INTEGER NOT NULL,
    fingerprint BLOB NOT NULL,
    PRIMARY KEY (schema, slot)
) STRICT, WITHOUT ROWID;
";

/// Version 3 adds the cursors and dead letters of outputs, and the parts of a stable ID. `key` is the sender's idempotency key, and
/// `request` the request ID. `name` is the buffer ID, which tells the messages of two buffers apart.
const OUTPUTS: &str = "
ALTER TABLE messages ADD COLUMN key TEXT;
ALTER TABLE messages ADD COLUMN request TEXT;
ALTER TABLE quarantine ADD COLUMN key TEXT;
ALTER TABLE quarantine ADD COLUMN request TEXT;
ALTER TABLE totals ADD COLUMN name TEXT NOT NULL DEFAULT '';
ALTER TABLE totals ADD COLUMN duplicates INTEGER NOT NULL DEFAULT 0;
UPDATE totals SET name = lower(hex(randomblob(4)));
CREATE TABLE cursors (
    output TEXT PRIMARY KEY,
    message_id INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE undelivered (
    output TEXT NOT NULL,
    message_id INTEGER NOT NULL,
    refused_at INTEGER NOT NULL,
    reason TEXT NOT NULL,
    PRIMARY KEY (output, message_id)
) STRICT, WITHOUT ROWID;
";

/// Version 4 adds checksums (`check`, see `record.rs`), retention and recovery. Retention has dropped `dropped` messages, all with IDs up
/// to `dropped_to`. `lost` messages could not be read after the file was damaged, `damages` times in all. `gaps` holds their IDs, and
/// others that will not be used.
const CARE: &str = "
ALTER TABLE messages ADD COLUMN \"check\" INTEGER;
ALTER TABLE totals ADD COLUMN dropped INTEGER NOT NULL DEFAULT 0;
ALTER TABLE totals ADD COLUMN dropped_to INTEGER NOT NULL DEFAULT 0;
ALTER TABLE totals ADD COLUMN lost INTEGER NOT NULL DEFAULT 0;
ALTER TABLE totals ADD COLUMN damages INTEGER NOT NULL DEFAULT 0;
CREATE TABLE gaps (
    first INTEGER PRIMARY KEY,
    last INTEGER NOT NULL
) STRICT;
";

/// Version 5 adds the origin of a message as reported by its input: an object, as compact JSON.
const ORIGIN: &str = "
ALTER TABLE messages ADD COLUMN origin TEXT;
ALTER TABLE quarantine ADD COLUMN origin TEXT;
";

/// Version 7 adds the name of a message, and its place among the messages of its device, from 1, if retention keeps it as a reference.
const REFERENCES: &str = "
ALTER TABLE messages ADD COLUMN name INTEGER;
ALTER TABLE messages ADD COLUMN place INTEGER;
";

/// Version 8 adds whether the sender of a message in the quarantine knows that it is there.
const ANSWERED: &str = "ALTER TABLE quarantine ADD COLUMN answered INTEGER;";

/// Version 10 adds when the first message of a device was received. It stays when retention drops that message. NULL means that the
/// message was dropped before this version.
const FIRST: &str = "
ALTER TABLE devices ADD COLUMN first_at INTEGER;
UPDATE devices SET first_at = first.at
    FROM (SELECT device, min(received_at) AS at FROM messages WHERE previous IS NULL GROUP BY device) AS first
    WHERE first.device = devices.device;
";

/// Creates the tables of an empty file, or migrates those of an older version.
pub fn make_tables(transaction: &Connection) -> rusqlite::Result<()> {
    let version = |c: &Connection| c.pragma_query_value(None, "user_version", |row| row.get::<_, i64>(0));
    let empty: bool =
        transaction.query_row("SELECT count(*) = 0 FROM sqlite_schema", [], |row| row.get(0))?;
    if version(transaction)? == 0 && empty {
        transaction.execute_batch(TABLES)?;
        transaction.pragma_update(None, "user_version", 1)?;
    }
    if version(transaction)? == 1 {
        transaction.execute_batch(LAYOUTS)?;
        transaction.pragma_update(None, "user_version", 2)?;
    }
    if version(transaction)? == 2 {
        transaction.execute_batch(OUTPUTS)?;
        transaction.pragma_update(None, "user_version", 3)?;
    }
    if version(transaction)? == 3 {
        transaction.execute_batch(CARE)?;
        transaction.pragma_update(None, "user_version", 4)?;
    }
    if version(transaction)? == 4 {
        transaction.execute_batch(ORIGIN)?;
        transaction.pragma_update(None, "user_version", 5)?;
    }
    if version(transaction)? == 5 {
        transaction.execute_batch(waypoints::TABLE)?;
        waypoints::fill(transaction)?;
        transaction.pragma_update(None, "user_version", 6)?;
    }
    if version(transaction)? == 6 {
        transaction.execute_batch(REFERENCES)?;
        transaction.pragma_update(None, "user_version", 7)?;
    }
    if version(transaction)? == 7 {
        transaction.execute_batch(ANSWERED)?;
        transaction.execute_batch(position::TABLE)?;
        transaction.pragma_update(None, "user_version", 8)?;
    }
    if version(transaction)? == 8 {
        transaction.execute_batch(register::TABLE)?;
        transaction.pragma_update(None, "user_version", 9)?;
    }
    if version(transaction)? == 9 {
        transaction.execute_batch(FIRST)?;
        transaction.pragma_update(None, "user_version", 10)?;
    }
    if version(transaction)? == 10 {
        transaction.execute_batch(alarms::TABLE)?;
        transaction.pragma_update(None, "user_version", 11)?;
    }
    if version(transaction)? == 11 {
        transaction.execute_batch(replays::TABLE)?;
        transaction.pragma_update(None, "user_version", VERSION)?;
    }
    Ok(())
}
