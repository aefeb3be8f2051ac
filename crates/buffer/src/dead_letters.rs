//! Queries for dead letters.

use crate::message::DeadLetter;
use rusqlite::{Connection, Row, ToSql};
use std::collections::BTreeMap;

/// Returns the dead letters of `output` with message IDs above `after`, in ascending order, at most `limit`.
pub fn list(
    connection: &Connection,
    output: &str,
    after: i64,
    limit: u32,
) -> rusqlite::Result<Vec<DeadLetter>> {
    let sql = "SELECT u.message_id, m.device, length(m.raw), u.refused_at, u.reason
               FROM undelivered u LEFT JOIN messages m ON m.id = u.message_id
               WHERE u.output = ? AND u.message_id > ? ORDER BY u.message_id LIMIT ?";
    let read = |row: &Row<'_>| {
        Ok(DeadLetter {
            message_id: row.get(0)?,
            device: row.get(1)?,
            bytes: row.get(2)?,
            refused_at: row.get(3)?,
            reason: row.get(4)?,
        })
    };
    connection.prepare_cached(sql)?.query_map((output, after, limit), read)?.collect()
}

/// Returns which of `ids` are dead letters of `output`, or without `ids` all of its dead letters: message IDs in ascending order, at most
/// `limit`.
pub fn ids(
    connection: &Connection,
    output: &str,
    ids: Option<&[i64]>,
    limit: usize,
) -> rusqlite::Result<Vec<i64>> {
    let Some(ids) = ids else {
        let sql = "SELECT message_id FROM undelivered WHERE output = ? ORDER BY message_id LIMIT ?";
        return connection.prepare_cached(sql)?.query_map((output, limit), |row| row.get(0))?.collect();
    };
    let mut statement =
        connection.prepare_cached("SELECT 1 FROM undelivered WHERE output = ? AND message_id = ?")?;
    let mut found = Vec::new();
    for id in ids {
        if found.len() < limit && statement.exists([&output as &dyn ToSql, id])? {
            found.push(*id);
        }
    }
    found.sort_unstable();
    found.dedup();
    Ok(found)
}

/// Returns the number of dead letters by output. Counts all rows; [`super::Totals`] keeps the counts.
pub fn counts(connection: &Connection) -> rusqlite::Result<BTreeMap<String, u64>> {
    let sql = "SELECT output, count(*) FROM undelivered GROUP BY output";
    let read = |row: &Row<'_>| Ok((row.get(0)?, row.get(1)?));
    connection.prepare_cached(sql)?.query_map([], read)?.collect()
}
