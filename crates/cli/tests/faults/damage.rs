//! Damages the buffer's file as a failing disk would.

use crate::{Failure, chain::Name};
use rusqlite::{Connection, OpenFlags};
use std::{collections::HashSet, fs::File, os::unix::fs::FileExt, path::Path};

/// The page size of the buffer, in bytes.
const PAGE: u64 = 8192;

/// The pages of the buffer's file, with its write-ahead log checkpointed into it.
pub struct Pages {
    connection: Connection,
    file: File,
}

impl Pages {
    /// Opens the buffer at `path`. Its gateway may be running.
    pub fn open(path: &Path) -> Result<Pages, Failure> {
        let connection = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
        connection.busy_timeout(std::time::Duration::from_secs(20))?;
        connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))?;
        Ok(Pages { connection, file: File::options().read(true).write(true).open(path)? })
    }

    /// The interior pages of the `messages` table's tree, which hold no rows but only references to other pages.
    pub fn interior(&self) -> Result<Vec<u64>, Failure> {
        let sql = "SELECT pageno FROM dbstat WHERE name = 'messages' AND pagetype = 'internal'";
        let mut statement = self.connection.prepare(sql)?;
        Ok(statement.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?)
    }

    /// A page in the middle of the messages, and the messages in it.
    pub fn middle_page(&self) -> Result<(u64, HashSet<Name>), Failure> {
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

    /// Overwrites a page with bytes that are not a valid page.
    pub fn destroy(&self, page: u64) -> Result<(), Failure> {
        Ok(self.file.write_all_at(&[0xa5; PAGE as usize], (page - 1) * PAGE)?)
    }
}
