//! Writes other than messages: the cursors of outputs, dead letters, and discarded messages of the quarantine.

use super::{
    Position, Totals, alarms,
    quarantine::{self, Left},
    register, replays,
};
use rusqlite::Connection;
use std::{collections::HashMap, sync::Arc};

/// A write other than a message. It becomes durable with the next batch.
#[derive(Debug, Clone)]
pub enum Change {
    /// An output has resolved these messages: each was delivered, became a dead letter or was discarded.
    Position {
        /// The output's name.
        output: Arc<str>,
        /// How far it is.
        position: Position,
    },
    /// The receiver of an output has permanently rejected a message.
    DeadLetter {
        /// The output's name.
        output: Arc<str>,
        /// The message ID.
        message_id: i64,
        /// When the output refused it, in microseconds since 1970.
        refused_at: i64,
        /// The reason, for people.
        reason: String,
    },
    /// Dead letters of an output were delivered in a retry, or discarded.
    Resolved {
        /// The output's name.
        output: Arc<str>,
        /// The message IDs; `None` for all of them.
        message_ids: Option<Vec<i64>>,
    },
    /// An alarm of a device begins or ends.
    Alarm {
        /// The output's name.
        output: Arc<str>,
        /// The device.
        device: Arc<str>,
        /// Identifies the condition; `None` if the alarm ends.
        condition: Option<i64>,
    },
    /// A replay of an output has begun, moved or ended.
    Replay {
        /// The output's name.
        output: Arc<str>,
        /// The state of the replay, which this crate does not read; `None` to forget it.
        state: Option<String>,
    },
    /// Messages of the quarantine are discarded.
    Discard {
        /// Their IDs in the quarantine.
        quarantine_ids: Vec<i64>,
    },
    /// Devices of the register get new records, or leave it: all of them, or none.
    Register {
        /// Device IDs and records, as JSON; `None` to remove a device.
        rows: Vec<(String, Option<String>)>,
    },
}

impl Change {
    /// Applies the change to the database and to `totals`. Adds the messages that it removes from the quarantine to `left`.
    pub(super) fn apply(
        &self,
        connection: &Connection,
        totals: &mut Totals,
        left: &mut Left,
    ) -> rusqlite::Result<()> {
        match self {
            Change::Position { output, position } => position.save(connection, output)?,
            Change::DeadLetter { output, message_id, refused_at, reason } => {
                let row = (output, message_id, refused_at, reason);
                // Count a dead letter once: one that is refused again after a retry only replaces its row.
                let sql = "INSERT OR IGNORE INTO undelivered VALUES (?, ?, ?, ?)";
                if connection.prepare_cached(sql)?.execute(row)? == 1 {
                    totals.dead_letters_by(output, 1);
                } else {
                    let sql = "REPLACE INTO undelivered VALUES (?, ?, ?, ?)";
                    connection.prepare_cached(sql)?.execute(row)?;
                }
            }
            Change::Resolved { output, message_ids: None } => {
                let sql = "DELETE FROM undelivered WHERE output = ?";
                let gone = connection.prepare_cached(sql)?.execute([output])?;
                totals.dead_letters_by(output, -(gone as i64));
            }
            Change::Resolved { output, message_ids: Some(ids) } => {
                let sql = "DELETE FROM undelivered WHERE output = ? AND message_id = ?";
                let mut statement = connection.prepare_cached(sql)?;
                for id in ids {
                    let gone = statement.execute((output, id))?;
                    totals.dead_letters_by(output, -(gone as i64));
                }
            }
            Change::Alarm { output, device, condition } => {
                alarms::save(connection, output, device, *condition)?;
            }
            Change::Replay { output, state } => replays::save(connection, output, state.as_deref())?,
            Change::Discard { quarantine_ids } => {
                for id in quarantine_ids {
                    quarantine::remove(connection, *id, left)?;
                }
            }
            Change::Register { rows } => register::save(connection, rows)?,
        }
        Ok(())
    }
}

/// Returns the cursor of each output: the message ID up to and including which it has resolved every message.
pub fn cursors(connection: &Connection) -> rusqlite::Result<HashMap<Arc<str>, i64>> {
    let mut statement = connection.prepare("SELECT output, message_id FROM cursors")?;
    statement.query_map([], |row| Ok((row.get::<_, String>(0)?.into(), row.get(1)?)))?.collect()
}

#[cfg(test)]
mod tests {
    use super::{
        super::{dead_letters, tables::make_tables},
        *,
    };

    #[test]
    fn totals_count_what_outputs_refused_as_the_table_does() {
        let connection = Connection::open_in_memory().unwrap();
        make_tables(&connection).unwrap();
        let mut totals = Totals::load(&connection).unwrap();
        let refused = |output: &str, message_id| Change::DeadLetter {
            output: output.into(),
            message_id,
            refused_at: message_id,
            reason: "no".into(),
        };
        let settled = |output: &str, message_ids: Option<&[i64]>| Change::Resolved {
            output: output.into(),
            message_ids: message_ids.map(<[i64]>::to_vec),
        };
        let changes = [
            refused("a", 1),
            refused("a", 2),
            // Refused again after a retry.
            refused("a", 1),
            refused("b", 1),
            settled("a", Some(&[1, 7])),
            settled("none", Some(&[1])),
            settled("b", None),
            refused("c", 9),
        ];
        for change in changes {
            change.apply(&connection, &mut totals, &mut Left::default()).unwrap();
            assert_eq!(*totals.dead_letters, dead_letters::counts(&connection).unwrap(), "{change:?}");
        }
        assert_eq!(*totals.dead_letters, [("a".to_owned(), 1), ("c".to_owned(), 1)].into());
        assert_eq!(Totals::load(&connection).unwrap().dead_letters, totals.dead_letters);
    }
}
