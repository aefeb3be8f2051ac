//! Recovery: moves a damaged buffer aside and makes a new one from what can be read.
//!
//! The damaged file is read page by page, without SQLite (`pages.rs`, `wal.rs`). A row is found wherever its page is, and recognized by its
//! shape (`rows.rs`), so that only the rows in damaged pages are lost. The new file is complete and on disk before the old one is moved. If
//! the process ends in between, the next start continues.
//!
//! A recovery returns at least what SQLite would return from the same files. SQLite reads the log up to the first damaged frame; later
//! frames add rows but replace none. A frame is valid if its checksum matches. From all other states of a page, only messages are
//! recovered, because only their rows have checksums of their own. A last transaction that a power failure cut short was never
//! acknowledged, so it does not count as damage: SQLite ignores it.

mod pages;
mod remains;
mod rows;
mod salvage;
#[cfg(test)]
mod tests;
mod wal;

use super::{Formats, Totals};
use dunnage_base::{clock, folders};
use rusqlite::ErrorCode;
use std::{
    collections::HashMap,
    fs::{self, File},
    io,
    os::unix::fs::FileExt,
    path::{Path, PathBuf},
    sync::Arc,
};

/// The page size in bytes, the same for all buffers.
pub const PAGE: usize = 8192;

/// The state that the writer keeps in memory about its buffer, independent of the file.
pub struct Known {
    /// The totals of the last commit.
    pub totals: Totals,
    /// The cursors of the last commit.
    pub cursors: HashMap<Arc<str>, i64>,
}

/// The result of a recovery.
#[derive(Debug)]
pub struct Salvaged {
    /// Messages that were read.
    pub messages: u64,
    /// Messages that were stored and could not be read.
    pub lost: u64,
    /// Ranges of IDs that are missing.
    pub gaps: usize,
    /// How many of those ranges contain IDs that at least one output has not resolved.
    pub undelivered_gaps: usize,
}

/// Returns whether an error means that the file's content is not what SQLite wrote.
pub fn is_damage(error: &rusqlite::Error) -> bool {
    use rusqlite::Error::{FromSqlConversionFailure, IntegralValueOutOfRange, InvalidColumnType, Utf8Error};
    match error {
        rusqlite::Error::SqliteFailure(e, _) => match e.code {
            ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase => true,
            ErrorCode::SystemIoFailure => matches!(
                e.extended_code,
                rusqlite::ffi::SQLITE_IOERR_READ
                    | rusqlite::ffi::SQLITE_IOERR_SHORT_READ
                    | rusqlite::ffi::SQLITE_IOERR_CORRUPTFS
            ),
            _ => false,
        },
        FromSqlConversionFailure(..)
        | IntegralValueOutOfRange(..)
        | InvalidColumnType(..)
        | Utf8Error(..) => true,
        _ => false,
    }
}

/// Returns whether SQLite would lose committed transactions of the log at `path`: because the log is damaged, or because the database is
/// missing or empty, in which case SQLite would delete the log.
pub fn log_is_damaged(path: &Path) -> bool {
    let wal = wal::read(&beside(path, "-wal"));
    let empty = fs::metadata(path).map_or(0, |about| about.len()) == 0;
    wal.damaged || empty && !wal.frames.is_empty()
}

/// Makes a new buffer from everything that can be read of the damaged one at `path`, and moves the damaged one aside. Returns what was
/// read, and the path of the damaged buffer.
pub fn recover(
    path: &Path,
    name: Option<String>,
    known: Option<&Known>,
    formats: Formats,
) -> Result<(Salvaged, PathBuf), io::Error> {
    let (log, unfinished) = (beside(path, "-wal"), beside(path, ".salvaging"));
    remove(&unfinished)?;
    let wal = wal::read(&log);
    let uncertain = wal.damaged;
    let pages = pages::Pages::open(path, &log, wal);
    super::private::make_private(&unfinished)?;
    let salvaged =
        salvage::salvage(pages, &unfinished, uncertain, name, known, formats).map_err(io::Error::other)?;
    File::open(&unfinished)?.sync_all()?;
    fs::rename(&unfinished, beside(path, ".salvaged"))?;
    let aside = finish(path)?.unwrap_or_else(|| path.to_owned());
    Ok((salvaged, aside))
}

/// Moves a complete new buffer to `path`, if there is one. Returns the path to which the damaged one was moved.
pub fn finish(path: &Path) -> Result<Option<PathBuf>, io::Error> {
    let complete = beside(path, ".salvaged");
    if !complete.exists() {
        return Ok(None);
    }
    let stamp = clock::rfc3339(clock::now()).replace(':', "-");
    let aside = beside(path, &format!(".damaged-{stamp}"));
    for (from, to) in [(beside(path, "-wal"), beside(&aside, "-wal")), (path.to_owned(), aside.clone())] {
        if from.exists() {
            fs::rename(from, to)?;
        }
    }
    remove(&beside(path, "-shm"))?;
    // SQLite must not find the old log next to the new file, not even after a power failure: it would apply the log to the new file.
    folders::sync_above(path)?;
    fs::rename(complete, path)?;
    folders::sync_above(path)?;
    Ok(Some(aside))
}

fn remove(path: &Path) -> Result<(), io::Error> {
    match fs::remove_file(path) {
        Err(e) if e.kind() != io::ErrorKind::NotFound => Err(e),
        _ => Ok(()),
    }
}

/// Appends a suffix to the file name of `path`.
fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

/// Reads as much as possible at `at`. Leaves the rest of `bytes` unchanged.
fn read_at(file: &File, bytes: &mut [u8], at: u64) {
    let mut done = 0;
    while done < bytes.len() {
        match file.read_at(&mut bytes[done..], at + done as u64) {
            Ok(0) => break,
            Ok(more) => done += more,
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => break,
        }
    }
}
