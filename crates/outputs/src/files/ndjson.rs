//! NDJSON files: one for each day, `2026-01-31.BUFFER.ndjson`, with one JSON object per line.

use super::{
    Archive,
    growing::{Growing, Lines},
    new_rows,
};
use crate::records::{
    ndjson::{Line, write},
    row::{Row, group},
};
use serde::Deserialize;
use std::{
    collections::HashMap,
    io,
    path::{Path, PathBuf},
};

/// Largest number of files whose state is cached.
const REMEMBERED: usize = 256;

/// The part of a line that identifies its message.
#[derive(Deserialize)]
struct Identity {
    id: i64,
}

/// The archive.
#[derive(Default)]
pub struct Ndjson {
    logs: Logs,
}

impl Archive for Ndjson {
    fn write(&mut self, folder: &Path, rows: &[Row<'_>], durable_to: i64) -> io::Result<()> {
        for ((day, buffer), rows) in group(rows, |row| (row.day.clone(), row.message.buffer.clone())) {
            let path = folder.join(format!("{day}.{buffer}.ndjson"));
            self.logs.append(path, durable_to, || Ok(0), &rows)?;
        }
        Ok(())
    }
}

/// Files of lines, with the cached state of each.
#[derive(Default)]
pub struct Logs(HashMap<PathBuf, Log>);

struct Log {
    file: Growing,
    last_id: i64,
}

impl Logs {
    /// Appends the rows that are not yet in the file at `path`. If the last ID of the file is not cached, reads it from the file, whose lines
    /// up to the ID `durable_to` were synchronized; `earlier` returns the last ID that was moved out of the file.
    pub fn append(
        &mut self,
        path: PathBuf,
        durable_to: i64,
        earlier: impl FnOnce() -> io::Result<i64>,
        rows: &[&Row<'_>],
    ) -> io::Result<()> {
        if self.0.len() > REMEMBERED {
            // The last ID can be read from the file again, but the length before a failed append cannot.
            self.0.retain(|_, log| log.file.is_torn());
        }
        let log = match self.0.remove(&path).filter(|log| log.file.is_as_left()) {
            Some(log) => log,
            None => Log::open(path.clone(), durable_to, earlier()?)?,
        };
        let log = self.0.entry(path).or_insert(log);
        let rows = new_rows(rows, log.last_id, log.file.path());
        if let Some(last) = rows.last() {
            log.file.append(|to| write(rows, to))?;
            log.last_id = last.message.id;
        }
        Ok(())
    }

    /// Drops the cached state of the file at `path`.
    pub fn forget(&mut self, path: &Path) {
        self.0.remove(path);
    }
}

impl Log {
    fn open(path: PathBuf, durable_to: i64, earlier: i64) -> io::Result<Log> {
        let (file, last) = open(path, durable_to)?;
        Ok(Log { file, last_id: last.unwrap_or_default().max(earlier) })
    }
}

/// Opens the file of lines at `path`, whose lines up to the ID `durable_to` were synchronized. Returns its last ID.
pub fn open(path: PathBuf, durable_to: i64) -> io::Result<(Growing, Option<i64>)> {
    let whole = |line: &[u8]| serde_json::from_slice::<Line<'_>>(line).ok().map(|line| line.id);
    Growing::open(path, &Lines { durable_to, id_of: identify, whole })
}

/// Returns the message ID of a line, or `None` if it is not a complete line.
pub fn identify(line: &[u8]) -> Option<i64> {
    serde_json::from_slice::<Identity>(line).ok().map(|line| line.id)
}
