//! What a failing disk does to the buffer's file.

use crate::{Failure, chain::Name};
use rusqlite::{Connection, OpenFlags};
use std::{collections::HashSet, fs::File, os::unix::fs::FileExt, path::Path};

/// The size of the buffer's pages.
const PAGE: u64 = 8192;

/// The buffer's file, with everything in it that was in its log.
pub struct Pages {
    connection: Connection,
    file: File,
}

impl Pages {
    /// Opens the buffer at `path`, whose gateway may run.
    pub fn open(path: &Path) -> Result<Pages, Failure> {
        let connection = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
        connection.busy_timeout(std::time::Duration::from_secs(20))?;
        connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))?;
        Ok(Pages { connection, file: File::options().read(true).write(true).open(path)? })
    }

    /// The pages of the tables' trees that hold no rows, but where the others are.
    pub fn inner(&self) -> Result<Vec<u64>, Failure> {
        let sql = "SELECT pageno FROM dbstat WHERE name = 'messages' AND pagetype = 'internal'";
        let mut statement = self.connection.prepare(sql)?;
        Ok(statement.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?)
    }

    /// A page in the midst of the messages, and those that stand in it.
    pub fn of_messages(&self) -> Result<(u64, HashSet<Name>), Failure> {
        let leaves = "SELECT pageno, sum(ncell) OVER (ORDER BY path) - ncell, ncell FROM dbstat
                      WHERE name = 'messages' AND pagetype = 'leaf' ORDER BY path";
        let mut statement = self.connection.prepare(leaves)?;
        let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
        let leaves = rows.collect::<Result<Vec<(u64, u64, u64)>, _>>()?;
        let (page, before, count) = leaves[leaves.len() / 2];
        let names = "SELECT device, json ->> 'n' FROM messages ORDER BY id LIMIT ? OFFSET ?";
        let mut statement = self.connection.prepare(names)?;
        let names = statement.query_map([count, before], |row| Ok((row.get(0)?, row.get(1)?)))?;
        Ok((page, names.collect::<Result<_, _>>()?))
    }

    /// Overwrites a page with what is no page.
    pub fn destroy(&self, page: u64) -> Result<(), Failure> {
        Ok(self.file.write_all_at(&[0xa5; PAGE as usize], (page - 1) * PAGE)?)
    }
}
