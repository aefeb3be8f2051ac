//! A damaged buffer is set aside, and what can be read of it goes on in a new one.
//!
//! The damaged file is read page by page, without SQLite (`pages.rs`, `wal.rs`): a row is found wherever its page is,
//! and taken for what it looks like (`rows.rs`). So only what stands in damaged pages is lost, whichever they are. The
//! new file is complete and on the disk before the old one is moved; an end in between goes on at the next start.

mod pages;
mod remains;
mod rows;
mod salvage;
mod wal;

use super::{Formats, Totals};
use dunnage_base::clock;
use rusqlite::ErrorCode;
use std::{
    collections::HashMap,
    fs::{self, File},
    io,
    os::unix::fs::FileExt,
    path::{Path, PathBuf},
    sync::Arc,
};

/// Bytes of a page; all buffers have the same.
const PAGE: usize = 8192;

/// What a writer knows of its buffer, whatever the file says.
pub struct Known {
    /// As they were committed.
    pub totals: Totals,
    /// As they were committed.
    pub cursors: HashMap<Arc<str>, i64>,
}

/// What became of a damaged buffer.
#[derive(Debug)]
pub struct Salvaged {
    /// Messages that could be read.
    pub messages: u64,
    /// Messages that were there and could not.
    pub lost: u64,
    /// In how many pieces ids are missing.
    pub gaps: usize,
    /// In how many of them are messages that an output has not delivered.
    pub undelivered_gaps: usize,
}

/// Whether an error says that the file is not what was written to it.
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

/// Whether the log at `path` was damaged, so that SQLite would take an older state for the last one. Beside an
/// empty or missing file it would delete the log.
pub fn log_is_damaged(path: &Path) -> bool {
    let wal = wal::read(&beside(path, "-wal"));
    let empty = fs::metadata(path).map_or(0, |about| about.len()) == 0;
    wal.damaged || empty && !wal.pages.is_empty()
}

/// Makes a new buffer of the damaged one at `path`, and sets that one aside. The new one has everything that can be read.
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

/// Puts a new buffer that is complete into its place. Answers where the damaged one is then.
pub fn finish(path: &Path) -> Result<Option<PathBuf>, io::Error> {
    let complete = beside(path, ".salvaged");
    if !complete.exists() {
        return Ok(None);
    }
    let stamp = clock::rfc3339(clock::now()).replace(':', "-");
    let aside = beside(path, &format!(".damaged-{stamp}"));
    // The log first: it must not stand beside the new file.
    for (from, to) in [(beside(path, "-wal"), beside(&aside, "-wal")), (path.to_owned(), aside.clone())] {
        if from.exists() {
            fs::rename(from, to)?;
        }
    }
    remove(&beside(path, "-shm"))?;
    fs::rename(complete, path)?;
    if let Some(folder) = path.parent() {
        let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
        File::open(folder)?.sync_all()?;
    }
    Ok(Some(aside))
}

fn remove(path: &Path) -> Result<(), io::Error> {
    match fs::remove_file(path) {
        Err(e) if e.kind() != io::ErrorKind::NotFound => Err(e),
        _ => Ok(()),
    }
}

/// `path` with something behind its name.
fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

/// Reads what can be read at `at`; the rest of `bytes` stays what it is.
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
