//! NDJSON files: one for each day, `2026-01-31.BUFFER.ndjson`, with one JSON object per line.

use super::{
    Archive,
    growing::Growing,
    row::{Row, group, new_rows},
};
use dunnage_base::clock;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use std::{
    collections::HashMap,
    io::{self, Write},
    path::{Path, PathBuf},
};

/// Largest number of files whose state is cached.
const REMEMBERED: usize = 256;

/// A line.
#[derive(Serialize, Deserialize)]
pub struct Line<'a> {
    pub name: String,
    pub id: i64,
    pub device: String,
    /// RFC 3339 with microseconds.
    pub received_at: String,
    pub format: String,
    pub schema: Option<String>,
    pub link: Option<String>,
    pub request: String,
    #[serde(borrow)]
    pub value: &'a RawValue,
}

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
    fn write(&mut self, folder: &Path, rows: &[Row<'_>]) -> io::Result<()> {
        for ((day, buffer), rows) in group(rows, |row| (row.day.clone(), row.message.buffer.clone())) {
            let path = folder.join(format!("{day}.{buffer}.ndjson"));
            self.logs.append(path, || Ok(0), &rows)?;
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
    /// Appends the rows that are not yet in the file at `path`. If the last ID of the file is not cached, reads it from the file; `earlier`
    /// returns the last ID that was moved out of the file. Returns the size of the file in bytes.
    pub fn append(
        &mut self,
        path: PathBuf,
        earlier: impl FnOnce() -> io::Result<i64>,
        rows: &[&Row<'_>],
    ) -> io::Result<u64> {
        if self.0.len() > REMEMBERED {
            // The last ID can be read from the file again, but the length before a failed append cannot.
            self.0.retain(|_, log| log.file.is_torn());
        }
        let log = match self.0.remove(&path).filter(|log| log.file.is_as_left()) {
            Some(log) => log,
            None => Log::open(path.clone(), earlier()?)?,
        };
        let log = self.0.entry(path).or_insert(log);
        let rows = new_rows(rows, log.last_id, log.file.path());
        if let Some(last) = rows.last() {
            log.file.append(|to| write_lines(rows, to))?;
            log.last_id = last.message.id;
        }
        Ok(log.file.len())
    }

    /// Drops the cached state of the file at `path`.
    pub fn forget(&mut self, path: &Path) {
        self.0.remove(path);
    }
}

impl Log {
    fn open(path: PathBuf, earlier: i64) -> io::Result<Log> {
        let (file, last) = Growing::open(path, |line| identify(line).is_some())?;
        let last_id = last.as_deref().and_then(identify).unwrap_or_default();
        Ok(Log { file, last_id: last_id.max(earlier) })
    }
}

/// Returns the message ID of a line, or `None` if it is not a complete line.
pub fn identify(line: &[u8]) -> Option<i64> {
    serde_json::from_slice::<Identity>(line).ok().map(|line| line.id)
}

fn write_lines(rows: &[&Row<'_>], to: &mut dyn Write) -> io::Result<()> {
    for Row { message, value, .. } in rows {
        let line = Line {
            name: message.stable_id.clone(),
            id: message.id,
            device: message.device.clone(),
            received_at: clock::rfc3339_micros(message.received_at),
            format: message.format.clone(),
            schema: message.schema.clone(),
            link: message.link.clone(),
            request: message.request.clone(),
            value,
        };
        serde_json::to_writer(&mut *to, &line)?;
        to.write_all(b"\n")?;
    }
    Ok(())
}
