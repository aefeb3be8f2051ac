//! Checks that the buffer's files are still where a restart will look for them.
//!
//! A process can write to a deleted file: SQLite commits, the disk synchronizes, and the message is lost at the restart. SQLite does not
//! notice. Therefore the writer compares the files at their paths with those that it opened, by device and inode, after every commit and
//! before it acknowledges. The check takes a few microseconds; a commit takes a hundred or more.

use super::damage::PAGE;
use rusqlite::Connection;
use std::{
    fmt,
    fs::{self, File},
    io,
    os::unix::fs::{FileExt, MetadataExt},
    path::{Path, PathBuf},
};

/// SQLite truncates a longer log to this many bytes (`journal_size_limit`).
pub const LOG_LIMIT: u64 = 64 << 20;
/// The first four bytes of a write-ahead log. The lowest bit, which is masked, tells the byte order of its checksums.
const LOG_MAGIC: u32 = 0x377f_0682;
/// Bytes of the header of a log, and of a frame with its page.
const LOG_HEADER: u64 = 32;
const FRAME: u64 = 24 + PAGE as u64;

/// A file's identity in the file system, independent of its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Identity {
    device: u64,
    inode: u64,
}

impl Identity {
    /// Returns the identity of the file at `path`.
    pub fn at(path: &Path) -> io::Result<Identity> {
        Ok(Identity::of(&fs::metadata(path)?))
    }

    fn of(about: &fs::Metadata) -> Identity {
        Identity { device: about.dev(), inode: about.ino() }
    }
}

/// A file of the buffer that is not as it should be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// The kind of change.
    pub kind: FaultKind,
    /// The file.
    pub part: Part,
    /// Its path.
    pub path: PathBuf,
}

/// A change to a file outside the gateway.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FaultKind {
    /// There is no file at its path, or the path cannot be searched.
    Gone,
    /// Another file is at its path.
    Replaced,
    /// It is shorter than before, or the log has lost its header.
    Cut,
    /// Its file system has become read-only.
    ReadOnly,
}

/// A file of the buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// The database.
    Database,
    /// Its write-ahead log.
    Log,
    /// The lock against other gateways.
    Lock,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = self.path.display();
        match self.kind {
            FaultKind::Gone => write!(f, "{path} was deleted or moved while the gateway was using it"),
            FaultKind::Replaced => write!(f, "{path} was replaced by another file"),
            FaultKind::Cut => write!(f, "{path} was truncated"),
            FaultKind::ReadOnly => write!(f, "{path} cannot be written: its file system is read-only"),
        }
    }
}

/// The files of an open buffer, as they were at the last check.
pub struct Files {
    database: PathBuf,
    database_is: Identity,
    database_bytes: u64,
    log: PathBuf,
    /// SQLite holds no locks on the log, so closing this handle releases none.
    log_file: File,
    /// The length of the log at the last check: at least what its frames took then.
    log_bytes: u64,
    lock: PathBuf,
    lock_is: Identity,
}

impl Files {
    /// Records the files of the database at `path`, which was just opened, with its `lock` at `lock_path`.
    pub fn of(path: &Path, lock_path: &Path, lock: &File) -> io::Result<Files> {
        // SQLite puts the log next to the target of a symbolic link.
        let mut log = fs::canonicalize(path)?.into_os_string();
        log.push("-wal");
        let about = fs::metadata(path)?;
        Ok(Files {
            database: wherever_we_are(path),
            database_is: Identity::of(&about),
            database_bytes: about.len(),
            log_file: File::open(&log)?,
            log: log.into(),
            log_bytes: 0,
            lock: wherever_we_are(lock_path),
            lock_is: Identity::of(&lock.metadata()?),
        })
    }

    /// Returns the identity of the database.
    pub fn database(&self) -> Identity {
        self.database_is
    }

    /// Compares the files at the paths with those that `connection` has open, and their sizes with those of the last check.
    pub fn check(&mut self, connection: &Connection) -> Result<(), Fault> {
        let about = look(Part::Database, &self.database, self.database_is)?;
        if about.len() < self.database_bytes {
            return Err(fault(FaultKind::Cut, Part::Database, &self.database));
        }
        self.database_bytes = about.len();
        let open = self.log_file.metadata().map_err(|_| fault(FaultKind::Gone, Part::Log, &self.log))?;
        look(Part::Log, &self.log, Identity::of(&open))?;
        let mut magic = [0; 4];
        let is_log =
            self.log_file.read_exact_at(&mut magic, 0).is_ok() && u32::from_be_bytes(magic) & !1 == LOG_MAGIC;
        // Another program may checkpoint the log and shorten it. Only a log that lacks frames which it should hold is damaged.
        let is_shorter = open.len() < self.log_bytes.min(LOG_LIMIT);
        if (!is_log && self.log_bytes > 0 || is_shorter)
            && frames_in_log(connection)
                .is_none_or(|frames| frames > 0 && (!is_log || open.len() < LOG_HEADER + frames * FRAME))
        {
            return Err(fault(FaultKind::Cut, Part::Log, &self.log));
        }
        self.log_bytes = open.len();
        look(Part::Lock, &self.lock, self.lock_is)?;
        Ok(())
    }

    /// Returns a fault if the buffer's file system is read-only.
    pub fn check_writable(&self) -> Result<(), Fault> {
        match File::options().write(true).open(&self.lock) {
            Err(e) if e.kind() == io::ErrorKind::ReadOnlyFilesystem => {
                Err(fault(FaultKind::ReadOnly, Part::Lock, &self.lock))
            }
            _ => Ok(()),
        }
    }

    /// Returns whether SQLite can create the log again: there is none at its path, or an empty one.
    pub fn log_is_missing(&self) -> bool {
        fs::metadata(&self.log).map_or_else(|e| e.kind() == io::ErrorKind::NotFound, |about| about.len() == 0)
    }
}

/// Returns the absolute path of `path`. A relative path would still lead to the file after the working directory was moved, but a restart
/// begins elsewhere. Returns `path` itself if the absolute path does not lead to the same file, for example because a parent directory may
/// not be searched.
fn wherever_we_are(path: &Path) -> PathBuf {
    let is = Identity::at(path);
    let absolute = std::path::absolute(path).ok();
    let same = |absolute: &PathBuf| is.is_ok_and(|is| Identity::at(absolute).is_ok_and(|there| there == is));
    absolute.filter(same).unwrap_or_else(|| path.to_owned())
}

/// Returns how many frames the log should hold, as SQLite knows from the memory that all its processes share, without reading the log.
fn frames_in_log(connection: &Connection) -> Option<u64> {
    connection.query_row("PRAGMA wal_checkpoint(NOOP)", [], |row| row.get(1)).ok()
}

fn look(part: Part, path: &Path, is: Identity) -> Result<fs::Metadata, Fault> {
    match fs::metadata(path) {
        Ok(about) if Identity::of(&about) == is => Ok(about),
        Ok(_) => Err(fault(FaultKind::Replaced, part, path)),
        // This includes a directory that may no longer be searched: the file in it is unknown.
        Err(_) => Err(fault(FaultKind::Gone, part, path)),
    }
}

fn fault(kind: FaultKind, part: Part, path: &Path) -> Fault {
    Fault { kind, part, path: path.to_owned() }
}
