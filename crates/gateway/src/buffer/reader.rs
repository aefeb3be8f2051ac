//! Connections for reading. They are separate from the writer's and used off the threads that serve requests.

use super::{Queue, damage::is_damage, file::open_to_read, in_place::Identity};
use rusqlite::{Connection, ffi};
use std::{
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
};
use tokio::sync::Semaphore;

/// Most reads at a time; others wait.
const CONNECTIONS: usize = 4;

/// Reads from the buffer. Clones share their connections.
#[derive(Clone)]
pub struct Readers(Arc<Inner>);

struct Inner {
    path: PathBuf,
    /// Which of the files that were at the path the connections are to: one takes another's place when that is damaged.
    file: AtomicU64,
    /// The file that the writer has open: another one at the path is not read.
    identity: Mutex<Identity>,
    idle: Mutex<Vec<Connection>>,
    queue: Queue,
    permits: Arc<Semaphore>,
}

impl Readers {
    /// Readers of the buffer at `path`, which is the file `identity`. They tell the writer, through `queue`, when it is damaged.
    pub fn new(path: PathBuf, identity: Identity, queue: Queue) -> Readers {
        let permits = Arc::new(Semaphore::new(CONNECTIONS));
        let (file, identity) = (AtomicU64::new(0), Mutex::new(identity));
        Readers(Arc::new(Inner { path, file, identity, idle: Mutex::default(), queue, permits }))
    }

    /// Runs a query. `None` means that it failed; the log has the reason.
    pub async fn read<T, F>(&self, query: F) -> Option<T>
    where
        T: Send + 'static,
        F: FnOnce(&Connection) -> rusqlite::Result<T> + Send + 'static,
    {
        let permit = Arc::clone(&self.0.permits).acquire_owned().await.ok()?;
        let inner = Arc::clone(&self.0);
        let read = tokio::task::spawn_blocking(move || {
            let _permit = permit;
            inner.read(query)
        });
        match read.await {
            Ok(Ok(found)) => Some(found),
            Ok(Err(e)) => {
                tracing::error!(error = %e, "the buffer cannot be read");
                None
            }
            Err(e) => {
                tracing::error!(error = %e, "a read from the buffer ended early");
                None
            }
        }
    }

    /// Bytes of the buffer's file, and of its write-ahead log.
    pub fn bytes(&self) -> (u64, u64) {
        let size = |path: &Path| std::fs::metadata(path).map_or(0, |about| about.len());
        let mut log = self.0.path.clone().into_os_string();
        log.push("-wal");
        (size(&self.0.path), size(Path::new(&log)))
    }

    /// Which file is read.
    pub fn file(&self) -> u64 {
        self.0.file.load(Ordering::Acquire)
    }

    /// The writer has opened the file anew, which is `identity`: it has taken the place of the one that was read, or has another log.
    pub fn renew(&self, identity: Identity) {
        *self.0.identity.lock().unwrap_or_else(PoisonError::into_inner) = identity;
        self.0.file.fetch_add(1, Ordering::AcqRel);
        if let Ok(mut idle) = self.0.idle.lock() {
            idle.clear();
        }
    }

    /// Refuses further reads, waits for those under way and closes the connections.
    pub async fn close(&self) {
        // An error means that it is closed already.
        let _ = self.0.permits.acquire_many(CONNECTIONS as u32).await.map(|permits| permits.forget());
        self.0.permits.close();
        if let Ok(mut idle) = self.0.idle.lock() {
            idle.clear();
        }
    }
}

impl Inner {
    fn open(&self) -> rusqlite::Result<Connection> {
        self.check_identity()?;
        let connection = open_to_read(&self.path)?;
        self.check_identity()?;
        Ok(connection)
    }

    /// Another file at the path may be a buffer, too, with other messages under the same ids.
    fn check_identity(&self) -> rusqlite::Result<()> {
        let expected = *self.identity.lock().unwrap_or_else(PoisonError::into_inner);
        if Identity::at(&self.path).is_ok_and(|found| found == expected) {
            return Ok(());
        }
        let message = format!("{} is not the file that the gateway writes", self.path.display());
        Err(rusqlite::Error::SqliteFailure(ffi::Error::new(ffi::SQLITE_CANTOPEN), Some(message)))
    }

    fn read<T>(&self, query: impl FnOnce(&Connection) -> rusqlite::Result<T>) -> rusqlite::Result<T> {
        let file = self.file.load(Ordering::Acquire);
        let read = || {
            let idle = self.idle.lock().ok().and_then(|mut idle| idle.pop());
            let connection = match idle {
                Some(connection) => connection,
                None => self.open()?,
            };
            Ok((query(&connection)?, connection))
        };
        match read() {
            Ok((found, connection)) => {
                if let Ok(mut idle) = self.idle.lock()
                    && file == self.file.load(Ordering::Acquire)
                {
                    idle.push(connection);
                }
                Ok(found)
            }
            Err(e) => {
                if is_damage(&e) {
                    self.queue.damaged(file, e.to_string());
                }
                Err(e)
            }
        }
    }
}
