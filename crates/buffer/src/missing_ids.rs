//! Ids that no message has. Any other id that is missing is a sign of damage: a page of the tables' trees that points to the
//! wrong place leaves messages out, and SQLite does not notice.

use rusqlite::{Connection, ffi};

/// Makes sure that `ids`, which were read in ascending order behind `after`, leave nothing out that should be there, up to the
/// last of them or, if they ended there, up to `end`.
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
            let message = format!("messages between {expected} and {} are missing", id - 1);
            return Err(rusqlite::Error::SqliteFailure(ffi::Error::new(ffi::SQLITE_CORRUPT), Some(message)));
        }
        expected = expected.max(id + 1);
    }
    Ok(())
}

/// How many ids from `first` to `last` are known to be missing.
pub fn known(connection: &Connection, first: i64, last: i64) -> rusqlite::Result<i64> {
    let sql = "SELECT ifnull(sum(min(last, ?2) - max(first, ?1) + 1), 0) FROM gaps WHERE first <= ?2 AND last >= ?1";
    connection.prepare_cached(sql)?.query_row([first, last], |row| row.get(0))
}
