//! The SQLite file: its lock, its mode, its version, and how connections to it are opened.

use super::{
    Formats,
    damage::{self, Known, Salvaged},
    in_place::{Files, LOG_LIMIT},
    private::{MODE, make_private},
    tables::{VERSION, make_tables},
};
use dunnage_base::folders;
use rusqlite::{Connection, OpenFlags, config::DbConfig};
use std::{
    fs::{File, Permissions, TryLockError},
    io,
    os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt, PermissionsExt},
    path::{Path, PathBuf},
};

/// The buffer cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum BufferError {
    /// Another gateway has the buffer open.
    #[error("{0}: another gateway is using this buffer")]
    InUse(PathBuf),
    /// A folder or file of the buffer cannot be created or written.
    #[error("{path}: {source}")]
    Io {
        /// The folder or file.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// The file has more than one name.
    #[error(
        "{path}: the file has {names} names (hard links). SQLite keeps a log beside each name, so messages would be lost: \
         remove the other names, or copy the file instead of linking it"
    )]
    Linked {
        /// The file.
        path: PathBuf,
        /// How many names it has.
        names: u64,
    },
    /// The file is another program's database.
    #[error("{0}: this file is not a buffer and was not changed; set [buffer] path to another file")]
    Foreign(PathBuf),
    /// A newer version of this program has written the buffer.
    #[error("{path}: the buffer has version {found}, this program reads up to {VERSION}; update the program")]
    Layout {
        /// The file.
        path: PathBuf,
        /// The version of its tables.
        found: i64,
    },
    /// The buffer is damaged, and recovery failed.
    #[error("{path}: the buffer is damaged and could not be recovered: {source}")]
    Damaged {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// SQLite reports an error.
    #[error("{path}: {source}")]
    Sqlite {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: rusqlite::Error,
    },
}

/// The buffer's file, locked against other gateways until this is dropped or the process ends.
pub struct BufferFile {
    /// Where the configuration says it is.
    path: PathBuf,
    /// Where it is, if `path` is a symbolic link: SQLite puts the log there, and another link leads to the same lock.
    target: PathBuf,
    lock_path: PathBuf,
    /// The lock file contains the buffer ID, for recovery if the database has lost it.
    lock: File,
    /// The formats that messages may have.
    formats: Formats,
}

impl BufferFile {
    /// Locks the file at `path`, after creating its folder if it does not exist. Messages may have `formats`.
    pub fn lock(path: &Path, formats: Formats) -> Result<BufferFile, BufferError> {
        if let Some(folder) = path.parent() {
            folders::create(folder).map_err(|source| BufferError::Io { path: folder.to_owned(), source })?;
        }
        let target = resolve(path);
        let mut lock_path = target.clone().into_os_string();
        lock_path.push(".lock");
        let lock_path = PathBuf::from(lock_path);
        match std::fs::metadata(&target) {
            Ok(about) if about.nlink() > 1 => {
                return Err(BufferError::Linked { path: path.to_owned(), names: about.nlink() });
            }
            _ => {}
        }
        let lock = lock_at(path, &lock_path)?;
        restrict(&target);
        Ok(BufferFile { path: path.to_owned(), target, lock_path, lock, formats })
    }

    /// Creates and locks the lock file again after somebody deleted it. Fails if another gateway has locked it first.
    pub fn lock_again(&mut self, name: &str) -> Result<(), BufferError> {
        self.lock = lock_at(&self.path, &self.lock_path)?;
        self.remember(name)
    }

    /// Opens the file for writing, and creates or migrates its tables.
    pub fn open(&self) -> Result<Connection, BufferError> {
        let failed = |source| self.failed(source);
        let found = self.version().map_err(failed)?;
        match found {
            None => return Err(BufferError::Foreign(self.path.clone())),
            Some(found) if found > VERSION => {
                return Err(BufferError::Layout { path: self.path.clone(), found });
            }
            Some(_) => {}
        }
        make_private(&self.path).map_err(|source| BufferError::Io { path: self.path.clone(), source })?;
        let mut connection = Connection::open(&self.path).map_err(failed)?;
        prepare(&mut connection).map_err(failed)?;
        Ok(connection)
    }

    /// Returns the path of the database.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the identities of the files that [`BufferFile::open`] has just opened.
    pub fn files(&self) -> Result<Files, BufferError> {
        Files::of(&self.path, &self.lock_path, &self.lock)
            .map_err(|source| BufferError::Io { path: self.path.clone(), source })
    }

    /// Adds the path to an error of SQLite.
    pub fn failed(&self, source: rusqlite::Error) -> BufferError {
        BufferError::Sqlite { path: self.path.clone(), source }
    }

    /// Returns the version of the tables: 0 for an empty or missing file, `None` for another program's database. Changes nothing.
    fn version(&self) -> rusqlite::Result<Option<i64>> {
        if !self.path.exists() {
            return Ok(Some(0));
        }
        let connection = open_to_read(&self.path)?;
        let version: i64 = connection.pragma_query_value(None, "user_version", |row| row.get(0))?;
        let sql = "SELECT count(*), ifnull(sum(name IN ('messages', 'quarantine', 'totals')), 0) FROM sqlite_schema";
        let (all, ours): (i64, i64) = connection.query_row(sql, [], |row| Ok((row.get(0)?, row.get(1)?)))?;
        let known = if all == 0 { version == 0 } else { ours == 3 };
        Ok(known.then_some(version))
    }

    /// Writes the buffer ID to the lock file.
    pub fn remember(&self, name: &str) -> Result<(), BufferError> {
        if self.name().as_deref() == Some(name) {
            return Ok(());
        }
        let written = self.lock.set_len(0).and_then(|()| self.lock.write_all_at(name.as_bytes(), 0));
        written.map_err(|source| BufferError::Io { path: self.path.clone(), source })
    }

    /// Returns the buffer ID from the lock file.
    fn name(&self) -> Option<String> {
        let mut bytes = [0; 8];
        self.lock.read_exact_at(&mut bytes, 0).ok()?;
        let name = String::from_utf8(bytes.into()).ok()?;
        name.bytes().all(|byte| byte.is_ascii_hexdigit()).then_some(name)
    }

    /// Finishes a recovery that was interrupted after its new file was complete. Then returns what is wrong with the write-ahead log, if
    /// anything: SQLite would silently skip its damaged part.
    pub fn check(&self) -> Result<Option<&'static str>, BufferError> {
        damage::finish(&self.target)
            .map_err(|source| BufferError::Damaged { path: self.path.clone(), source })?;
        Ok(damage::log_is_damaged(&self.target).then_some("the write-ahead log is damaged"))
    }

    /// Recovers the damaged buffer: moves it aside and makes a new one from what can be read.
    pub fn recover(&self, reason: &str, known: Option<&Known>) -> Result<(), BufferError> {
        let path = self.path.display();
        tracing::error!(%path, reason, "the buffer is damaged; recovering what can be read into a new one");
        let recovered = damage::recover(&self.target, self.name(), known, self.formats);
        let (salvaged, aside) =
            recovered.map_err(|source| BufferError::Damaged { path: self.path.clone(), source })?;
        let Salvaged { messages, lost, gaps, undelivered_gaps } = salvaged;
        let aside = aside.display();
        tracing::error!(messages, lost, gaps, undelivered_gaps, %aside, "the buffer was recovered; the damaged one was moved aside");
        Ok(())
    }
}

/// Returns the path without symbolic links. A link whose target is missing is followed as well, because SQLite creates its target.
fn resolve(path: &Path) -> PathBuf {
    const MAX_LINKS: usize = 40;
    let mut path = path.to_owned();
    for _ in 0..MAX_LINKS {
        let Ok(target) = std::fs::read_link(&path) else { break };
        path = path.parent().map_or_else(|| target.clone(), |folder| folder.join(&target));
    }
    std::fs::canonicalize(&path).unwrap_or(path)
}

/// Sets the mode of the files at `path` to 0600. Older versions created them with the mode of the umask.
fn restrict(path: &Path) {
    for suffix in ["", "-wal", "-shm"] {
        let mut file = path.as_os_str().to_owned();
        file.push(suffix);
        match std::fs::set_permissions(&file, Permissions::from_mode(MODE)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                let file = Path::new(&file).display();
                tracing::warn!(%file, %error, "the file's mode cannot be set to 0600; other users may be able to read its messages");
            }
            _ => {}
        }
    }
}

fn lock_at(path: &Path, lock_path: &Path) -> Result<File, BufferError> {
    let failed = |source| BufferError::Io { path: lock_path.to_owned(), source };
    let mut options = File::options();
    options.create(true).truncate(false).read(true).write(true).mode(MODE);
    let lock = options.open(lock_path).map_err(failed)?;
    match lock.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => return Err(BufferError::InUse(path.to_owned())),
        Err(TryLockError::Error(source)) => return Err(failed(source)),
    }
    restrict(lock_path);
    Ok(lock)
}

/// Opens the buffer at `path` read-only.
pub fn open_to_read(path: &Path) -> rusqlite::Result<Connection> {
    let connection = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
    connection.busy_timeout(std::time::Duration::from_secs(5))?;
    Ok(connection)
}

/// Sets the pragmas, and creates or migrates the tables.
fn prepare(connection: &mut Connection) -> rusqlite::Result<()> {
    // If the file turns out to be damaged, closing it must not copy the log over it.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
    // With FULL, a commit returns after the WAL is on disk. Each page in the WAL costs two writes, so large pages are better: 8 KiB. The
    // WAL is copied into the file every 2048 pages (16 MiB), so that a page that changes often is copied once.
    connection.execute_batch(&format!(
        "PRAGMA page_size = 8192; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 2048;
         PRAGMA journal_size_limit = {LOG_LIMIT}; PRAGMA cache_size = -16384; PRAGMA temp_store = MEMORY;",
    ))?;
    let transaction = connection.transaction()?;
    make_tables(&transaction)?;
    transaction.commit()
}
