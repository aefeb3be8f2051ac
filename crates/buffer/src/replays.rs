//! The replays of outputs, and the messages that a replay selects.
//!
//! This crate does not read the state of a replay. Without it, a restart would end the replay.

use super::messages::{Times, ids_after};
use dunnage_base::name::fits;
use rusqlite::{Connection, OptionalExtension};

/// Version 12 adds the replays: the state of the last one of each output, as JSON. Both columns are BLOBs, because recovery recognizes rows
/// by the types of their columns, and does without these.
pub const TABLE: &str = "
CREATE TABLE replays (
    output BLOB PRIMARY KEY,
    state BLOB NOT NULL
) STRICT, WITHOUT ROWID;
";

/// After how many messages a search among those of all devices ends early.
const EXAMINED: usize = 100_000;

/// Replaces the state of the replay of `output`, or removes it.
pub fn save(connection: &Connection, output: &str, state: Option<&str>) -> rusqlite::Result<()> {
    let output = output.as_bytes();
    match state {
        Some(state) => connection
            .prepare_cached("INSERT OR REPLACE INTO replays VALUES (?, ?)")?
            .execute((output, state.as_bytes()))?,
        None => connection.prepare_cached("DELETE FROM replays WHERE output = ?")?.execute([output])?,
    };
    Ok(())
}

/// Returns the state of the replay of `output`, if it has one.
pub fn load(connection: &Connection, output: &str) -> rusqlite::Result<Option<String>> {
    let sql = "SELECT CAST(state AS TEXT) FROM replays WHERE output = ?";
    connection.prepare_cached(sql)?.query_row([output.as_bytes()], |row| row.get(0)).optional()
}

/// Message IDs above `after` and up to `up_to`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IdRange {
    /// The ID before the first one.
    pub after: i64,
    /// The last one.
    pub up_to: i64,
}

impl IdRange {
    /// Returns the IDs of the messages that were received at `times`, as far as there are any.
    pub(super) fn at(connection: &Connection, times: Times) -> rusqlite::Result<IdRange> {
        let last = "SELECT last_message_id FROM totals";
        let last: i64 = connection.prepare_cached(last)?.query_row([], |row| row.get(0))?;
        let ids = times.ids(connection)?;
        Ok(IdRange { after: ids.start - 1, up_to: last.min(ids.end - 1) })
    }
}

/// Returns the IDs of the next messages in `range`, in ascending order, of the devices that the pattern `device` names, or of all: those that
/// `is_chosen` chooses by ID and device. Also returns up to which ID it has searched. Ends early with about `most` IDs, or after a long
/// search.
pub fn ids(
    connection: &Connection,
    range: IdRange,
    device: Option<&str>,
    is_chosen: impl Fn(i64, &str) -> bool,
    most: usize,
) -> rusqlite::Result<(Vec<i64>, i64)> {
    let IdRange { after, up_to } = range;
    if let Some(device) = device.filter(|device| !device.contains('*')) {
        let (mut ids, more) = ids_after(connection, device, (after, up_to))?;
        let reached = ids.last().copied().filter(|_| more).unwrap_or(up_to);
        ids.retain(|id| is_chosen(*id, device));
        return Ok((ids, reached));
    }
    let sql = "SELECT id, device FROM messages WHERE id > ? AND id <= ? ORDER BY id LIMIT ?";
    let mut statement = connection.prepare_cached(sql)?;
    let mut rows = statement.query((after, up_to, EXAMINED))?;
    let (mut ids, mut examined, mut last) = (Vec::new(), 0, up_to);
    while let Some(row) = rows.next()? {
        let (id, sender): (i64, &str) = (row.get(0)?, row.get_ref(1)?.as_str()?);
        if device.is_none_or(|pattern| fits(pattern, sender)) && is_chosen(id, sender) {
            ids.push(id);
        }
        examined += 1;
        if ids.len() == most || examined == EXAMINED {
            last = id;
            break;
        }
    }
    Ok((ids, last))
}

/// Returns how many messages [`ids`] finds in `range`.
pub fn count(
    connection: &Connection,
    mut range: IdRange,
    device: Option<&str>,
    is_chosen: impl Fn(i64, &str) -> bool,
) -> rusqlite::Result<u64> {
    let mut count = 0;
    while range.after < range.up_to {
        let (ids, reached) = ids(connection, range, device, &is_chosen, EXAMINED)?;
        count += ids.len() as u64;
        range.after = reached;
    }
    Ok(count)
}

#[cfg(test)]
mod tests {
    use super::{super::tables::make_tables, *};

    #[test]
    fn the_state_stays_until_it_is_replaced_or_removed() {
        let connection = Connection::open_in_memory().unwrap();
        make_tables(&connection).unwrap();
        let state = |output| load(&connection, output).unwrap();
        assert_eq!(state("a"), None);
        save(&connection, "a", Some("{}")).unwrap();
        save(&connection, "é", Some("1")).unwrap();
        save(&connection, "a", Some("{\"ü\":1}")).unwrap();
        assert_eq!((state("a").as_deref(), state("é").as_deref()), (Some("{\"ü\":1}"), Some("1")));
        save(&connection, "a", None).unwrap();
        assert_eq!((state("a"), state("é").as_deref()), (None, Some("1")));
    }
}
