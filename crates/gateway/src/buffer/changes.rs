//! What is written beside messages: how far outputs have come, and what they refused.

use super::quarantine;
use rusqlite::Connection;
use std::{collections::HashMap, sync::Arc};

/// A change, made in the transaction of a batch.
#[derive(Debug, Clone)]
pub enum Change {
    /// An output has delivered, or refused, every message up to this one.
    Cursor { output: Arc<str>, message_id: i64 },
    /// An output refused a message for good. `refused_at` is in microseconds since 1970.
    Undelivered { output: Arc<str>, message_id: i64, refused_at: i64, reason: String },
    /// What an output refused is delivered after all, or given up: these messages, or without them all.
    Settled { output: Arc<str>, message_ids: Option<Vec<i64>> },
    /// Messages of the quarantine are dropped.
    Discard { quarantine_ids: Vec<i64> },
}

impl Change {
    /// Makes the change. Answers what leaves the quarantine by it: messages, and their bytes.
    pub fn apply(&self, connection: &Connection) -> rusqlite::Result<(u64, u64)> {
        match self {
            Change::Cursor { output, message_id } => {
                let sql = "INSERT OR REPLACE INTO cursors VALUES (?, ?)";
                connection.prepare_cached(sql)?.execute((output, message_id))?;
            }
            Change::Undelivered { output, message_id, refused_at, reason } => {
                let sql = "INSERT OR REPLACE INTO undelivered VALUES (?, ?, ?, ?)";
                connection.prepare_cached(sql)?.execute((output, message_id, refused_at, reason))?;
            }
            Change::Settled { output, message_ids: None } => {
                connection.prepare_cached("DELETE FROM undelivered WHERE output = ?")?.execute([output])?;
            }
            Change::Settled { output, message_ids: Some(ids) } => {
                let sql = "DELETE FROM undelivered WHERE output = ? AND message_id = ?";
                let mut statement = connection.prepare_cached(sql)?;
                for id in ids {
                    statement.execute((output, id))?;
                }
            }
            Change::Discard { quarantine_ids } => {
                let mut gone = (0, 0);
                for id in quarantine_ids {
                    if let Some(bytes) = quarantine::remove(connection, *id)? {
                        gone = (gone.0 + 1, gone.1 + bytes);
                    }
                }
                return Ok(gone);
            }
        }
        Ok((0, 0))
    }
}

/// How far outputs have come: the last message that each is done with.
pub fn cursors(connection: &Connection) -> rusqlite::Result<HashMap<Arc<str>, i64>> {
    let mut statement = connection.prepare("SELECT output, message_id FROM cursors")?;
    statement.query_map([], |row| Ok((row.get::<_, String>(0)?.into(), row.get(1)?)))?.collect()
}
