//! Message IDs that are missing.
//!
//! IDs in the table `gaps`, and those that retention has dropped, are known to be missing. Any other missing ID means that the file is
//! damaged: a page of a B-tree that points to the wrong place hides messages, and SQLite does not notice.

use rusqlite::{Connection, ffi};

/// Checks that no message is missing among `ids`, which were read in ascending order after `after`. Checks up to the last of `ids`, and
/// with `end` also up to the ID before `end` or the last one stored. Returns `SQLITE_CORRUPT` for a missing message.
pub fn check(
    connection: &Connection,
    after: i64,
    ids: impl Iterator<Item = i64>,
    end: Option<i64>,
) -> rusqlite::Result<()> {
    let (last, dropped_to): (i64, i64) = connection
        .prepare_cached("SELECT last_message_id, dropped_to FROM totals")?
        .query_row([], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let mut expected = after.max(dropped_to) + 1;
    for id in ids.chain(end.map(|end| end.min(last + 1))) {
        if id > expected && known(connection, expected, id - 1)? < id - expected {
            let message = format!("messages {expected} to {} are missing", id - 1);
            return Err(rusqlite::Error::SqliteFailure(ffi::Error::new(ffi::SQLITE_CORRUPT), Some(message)));
        }
        expected = expected.max(id + 1);
    }
    Ok(())
}

/// Returns how many IDs from `first` to `last` are known to be missing.
pub fn known(connection: &Connection, first: i64, last: i64) -> rusqlite::Result<i64> {
    let sql = "SELECT ifnull(sum(min(last, ?2) - max(first, ?1) + 1), 0) FROM gaps WHERE first <= ?2 AND last >= ?1";
    connection.prepare_cached(sql)?.query_row([first, last], |row| row.get(0))
}
