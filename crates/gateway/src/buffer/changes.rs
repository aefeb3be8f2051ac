//! What is written beside messages: how far outputs have come, and what they refused.

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
}

impl Change {
    /// Makes the change.
    pub fn apply(&self, connection: &Connection) -> rusqlite::Result<()> {
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
        }
        Ok(())
    }
}

/// How far outputs have come: the last message that each is done with.
pub fn cursors(connection: &Connection) -> rusqlite::Result<HashMap<String, i64>> {
    let mut statement = connection.prepare("SELECT output, message_id FROM cursors")?;
    statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?.collect()
}
