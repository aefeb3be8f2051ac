//! Whether the buffer's files are still where a restart would look for them.
//!
//! A process can write to a file that was deleted: SQLite commits, the disk synchronizes, and nobody ever finds the message again.
//! SQLite does not notice. So the writer compares the files at their paths with those that it opened, by device and inode,
//! after every commit and before it acknowledges. That takes a few microseconds, where a commit takes a hundred or more.

use std::{
    fmt,
    fs::{self, File},
    io,
    os::unix::fs::{FileExt, MetadataExt},
    path::{Path, PathBuf},
};

/// To how many bytes SQLite itself shortens a log that is longer.
pub const LOG_LIMIT: u64 = 64 << 20;
/// The first bytes of a write-ahead log, but for the lowest bit, which says how its checksums are made.
const LOG_MAGIC: u32 = 0x377f_0682;

/// A file as the file system knows it, whatever its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Identity {
    device: u64,
    inode: u64,
}

impl Identity {
    /// The file at `path`.
    pub fn at(path: &Path) -> io::Result<Identity> {
        Ok(Identity::of(&fs::metadata(path)?))
    }

    fn of(about: &fs::Metadata) -> Identity {
        Identity { device: about.dev(), inode: about.ino() }
    }
}

/// What is wrong with the buffer's files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// What happened.
    pub kind: FaultKind,
    /// Which file.
    pub part: Part,
    /// Its path.
    pub path: PathBuf,
}

/// What happened to a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FaultKind {
    /// Nothing is at its path.
    Gone,
    /// Another file is at its path.
    Replaced,
    /// Somebody has shortened it.
    Cut,
    /// It can no longer be opened for writing.
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
            FaultKind::Gone => write!(f, "{path} was deleted or moved while the gateway uses it"),
            FaultKind::Replaced => write!(f, "another file has taken the place of {path}"),
            FaultKind::Cut => write!(f, "{path} was cut off"),
            FaultKind::ReadOnly => {
                write!(f, "{path} cannot be written any more: its file system is read-only")
            }
        }
    }
}

/// The files of an open buffer.
pub struct Files {
    database: PathBuf,
    database_is: Identity,
    database_bytes: u64,
    log: PathBuf,
    /// SQLite does not lock the log, so this handle may be closed without giving up a lock of SQLite's.
    log_file: File,
    log_has_begun: bool,
    log_bytes: u64,
    lock: PathBuf,
    lock_is: Identity,
}

impl Files {
    /// The files of the database at `path`, which was just opened, with its `lock` at `lock_path`.
    pub fn of(path: &Path, lock_path: &Path, lock: &File) -> io::Result<Files> {
        // SQLite puts the log beside the file that a symbolic link leads to.
        let mut log = fs::canonicalize(path)?.into_os_string();
        log.push("-wal");
        let about = fs::metadata(path)?;
        Ok(Files {
            database: wherever_we_are(path),
            database_is: Identity::of(&about),
            database_bytes: about.len(),
            log_file: File::open(&log)?,
            log: log.into(),
            log_has_begun: false,
            log_bytes: 0,
            lock: wherever_we_are(lock_path),
            lock_is: Identity::of(&lock.metadata()?),
        })
    }

    /// The database.
    pub fn database(&self) -> Identity {
        self.database_is
    }

    /// Compares the files at the paths with those that are open.
    pub fn check(&mut self) -> Result<(), Fault> {
        let about = look(Part::Database, &self.database, self.database_is)?;
        if about.len() < self.database_bytes {
            return Err(fault(FaultKind::Cut, Part::Database, &self.database));
        }
        self.database_bytes = about.len();
        let open = self.log_file.metadata().map_err(|_| fault(FaultKind::Gone, Part::Log, &self.log))?;
        look(Part::Log, &self.log, Identity::of(&open))?;
        let mut magic = [0; 4];
        // Too few bytes are no magic either.
        let read = self.log_file.read_exact_at(&mut magic, 0);
        let is_log = read.is_ok() && u32::from_be_bytes(magic) & !1 == LOG_MAGIC;
        if self.log_has_begun && !is_log {
            return Err(fault(FaultKind::Cut, Part::Log, &self.log));
        }
        if open.len() < self.log_bytes.min(LOG_LIMIT) {
            return Err(fault(FaultKind::Cut, Part::Log, &self.log));
        }
        (self.log_has_begun, self.log_bytes) = (is_log, open.len());
        look(Part::Lock, &self.lock, self.lock_is)?;
        Ok(())
    }

    /// Whether files can be opened for writing where the buffer is. A file system that was made read-only lets nobody.
    pub fn check_writable(&self) -> Result<(), Fault> {
        match File::options().write(true).open(&self.lock) {
            Err(e) if e.kind() == io::ErrorKind::ReadOnlyFilesystem => {
                Err(fault(FaultKind::ReadOnly, Part::Lock, &self.lock))
            }
            _ => Ok(()),
        }
    }

    /// Whether the log can be made anew: there is none, or an empty one that nobody has written to.
    pub fn log_is_missing(&self) -> bool {
        fs::metadata(&self.log).map_or_else(|e| e.kind() == io::ErrorKind::NotFound, |about| about.len() == 0)
    }
}

/// The path from the root to what is at `path` now. A relative one leads to the same file when the working folder is moved, but whoever
/// starts the gateway again does not begin there. Where the way from the root may not be searched, it stays relative.
fn wherever_we_are(path: &Path) -> PathBuf {
    let is = Identity::at(path);
    let absolute = std::path::absolute(path).ok();
    let same = |absolute: &PathBuf| is.is_ok_and(|is| Identity::at(absolute).is_ok_and(|there| there == is));
    absolute.filter(same).unwrap_or_else(|| path.to_owned())
}

fn look(part: Part, path: &Path, is: Identity) -> Result<fs::Metadata, Fault> {
    match fs::metadata(path) {
        Ok(about) if Identity::of(&about) == is => Ok(about),
        Ok(_) => Err(fault(FaultKind::Replaced, part, path)),
        // Also a folder that may not be searched any more: what is there cannot be known.
        Err(_) => Err(fault(FaultKind::Gone, part, path)),
    }
}

fn fault(kind: FaultKind, part: Part, path: &Path) -> Fault {
    Fault { kind, part, path: path.to_owned() }
}
