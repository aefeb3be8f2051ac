//! A pool of read-only connections, separate from the writer's. Queries run on threads for blocking work, not on those that serve requests.

use super::{Opened, Queue, damage::is_damage, file::open_to_read, in_place::Identity};
use rusqlite::{Connection, ffi};
use std::{
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
};
use tokio::sync::Semaphore;

/// Concurrent reads of each use. Further reads wait.
const CONNECTIONS: usize = 4;
/// How many steps SQLite's virtual machine makes between two checks whether the caller still waits: a few tenths of a millisecond.
const STEPS: i32 = 10_000;

/// The buffer could not be read. The log has the cause.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the buffer cannot be read; the log has the cause")]
pub struct ReadError;

/// The purpose of a read. Each has connections of its own, so that no read waits for the queries of another use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Use {
    /// The API and its page, for all clients that may read.
    Api,
    /// Outputs, for the messages that they deliver.
    Outputs,
    /// The operator and Prometheus.
    Admin,
    /// Inputs, for the messages to which new ones refer.
    Ingest,
}

/// Reads from the buffer. Clones share the connections.
#[derive(Clone)]
pub struct Readers {
    inner: Arc<Inner>,
    of: Use,
}

struct Inner {
    path: PathBuf,
    /// The buffer ID.
    buffer: Arc<str>,
    /// Counts how often the writer has reopened the file. Connections from before are not reused.
    file: AtomicU64,
    /// The file that the writer has open. Another file at the path is not read.
    identity: Mutex<Identity>,
    pools: [Pool; 4],
    queue: Queue,
}

/// The connections of one use.
struct Pool {
    idle: Mutex<Vec<Connection>>,
    permits: Arc<Semaphore>,
}

/// Sets its flag when the future of a read is dropped, so that the query ends.
struct Asker(Arc<AtomicBool>);

impl Drop for Asker {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

impl Readers {
    /// Creates readers of the buffer `opened`. They report damage to the writer through `queue`.
    pub fn new(opened: &Opened, queue: Queue) -> Readers {
        let (path, identity) = opened.identity();
        Readers::of_file(path.to_owned(), identity, Arc::clone(&opened.totals().name), queue)
    }

    fn of_file(path: PathBuf, identity: Identity, buffer: Arc<str>, queue: Queue) -> Readers {
        let pool = |_| Pool { idle: Mutex::default(), permits: Arc::new(Semaphore::new(CONNECTIONS)) };
        let pools = [Use::Api, Use::Outputs, Use::Admin, Use::Ingest].map(pool);
        let (file, identity) = (AtomicU64::new(0), Mutex::new(identity));
        Readers { inner: Arc::new(Inner { path, buffer, file, identity, pools, queue }), of: Use::Api }
    }

    /// Returns a handle that uses the connections for another use.
    pub fn of(&self, of: Use) -> Readers {
        Readers { inner: Arc::clone(&self.inner), of }
    }

    /// Returns the queue to the writer.
    pub(super) fn queue(&self) -> &Queue {
        &self.inner.queue
    }

    /// Returns the buffer ID.
    pub(super) fn buffer(&self) -> Arc<str> {
        Arc::clone(&self.inner.buffer)
    }

    /// Runs a query. The query ends when its future is dropped, for example because the client has disconnected.
    pub(super) fn read<T, F>(&self, query: F) -> impl Future<Output = Result<T, ReadError>> + Send + use<T, F>
    where
        T: Send + 'static,
        F: FnOnce(&Connection) -> rusqlite::Result<T> + Send + 'static,
    {
        let readers = self.clone();
        async move {
            let permit = Arc::clone(&readers.pool().permits).acquire_owned().await.map_err(|_| ReadError)?;
            let asker = Asker(Arc::default());
            let left = Arc::clone(&asker.0);
            let read = tokio::task::spawn_blocking(move || {
                let _permit = permit;
                readers.read_now(query, left)
            });
            match read.await {
                Ok(Ok(found)) => Ok(found),
                Ok(Err(e)) => {
                    tracing::error!(error = %e, "the buffer cannot be read");
                    Err(ReadError)
                }
                Err(e) => {
                    tracing::error!(error = %e, "a task that reads the buffer failed");
                    Err(ReadError)
                }
            }
        }
    }

    fn pool(&self) -> &Pool {
        &self.inner.pools[self.of as usize]
    }

    /// Returns the size in bytes of the database and of its write-ahead log.
    pub fn bytes(&self) -> (u64, u64) {
        let size = |path: &Path| std::fs::metadata(path).map_or(0, |about| about.len());
        let mut log = self.inner.path.clone().into_os_string();
        log.push("-wal");
        (size(&self.inner.path), size(Path::new(&log)))
    }

    /// Returns the count of reopenings, which identifies the file that is read.
    pub(super) fn file(&self) -> u64 {
        self.inner.file.load(Ordering::Acquire)
    }

    /// Switches to the file `identity`, which the writer has reopened after a recovery or with a new log. Drops the connections to the old
    /// one.
    pub(super) fn renew(&self, identity: Identity) {
        *self.inner.identity.lock().unwrap_or_else(PoisonError::into_inner) = identity;
        self.inner.file.fetch_add(1, Ordering::AcqRel);
        self.inner.pools.iter().for_each(Pool::clear);
    }

    /// Refuses further reads, waits for those in progress, and closes the connections.
    pub async fn close(&self) {
        for pool in &self.inner.pools {
            // An error means that the pool is closed already.
            let _ = pool.permits.acquire_many(CONNECTIONS as u32).await.map(|permits| permits.forget());
            pool.permits.close();
            pool.clear();
        }
    }

    fn read_now<T>(
        &self,
        query: impl FnOnce(&Connection) -> rusqlite::Result<T>,
        left: Arc<AtomicBool>,
    ) -> rusqlite::Result<T> {
        let file = self.file();
        let read = || {
            let idle = self.pool().idle.lock().ok().and_then(|mut idle| idle.pop());
            let mut connection = match idle {
                Some(connection) => connection,
                None => self.inner.open()?,
            };
            connection.progress_handler(STEPS, Some(move || left.load(Ordering::Relaxed)))?;
            Ok((query(&connection)?, connection))
        };
        match read() {
            Ok((found, connection)) => {
                if let Ok(mut idle) = self.pool().idle.lock()
                    && file == self.file()
                {
                    idle.push(connection);
                }
                Ok(found)
            }
            Err(e) => {
                if is_damage(&e) {
                    self.inner.queue.damaged(file, e.to_string());
                }
                Err(e)
            }
        }
    }
}

impl Pool {
    fn clear(&self) {
        if let Ok(mut idle) = self.idle.lock() {
            idle.clear();
        }
    }
}

impl Inner {
    fn open(&self) -> rusqlite::Result<Connection> {
        self.check_identity()?;
        let connection = open_to_read(&self.path)?;
        // Another file may have taken its place before it was opened.
        self.check_identity()?;
        Ok(connection)
    }

    /// Rejects another file at the path: it may be another buffer, with other messages under the same IDs.
    fn check_identity(&self) -> rusqlite::Result<()> {
        let expected = *self.identity.lock().unwrap_or_else(PoisonError::into_inner);
        if Identity::at(&self.path).is_ok_and(|found| found == expected) {
            return Ok(());
        }
        let message = format!("{} is not the file that the gateway opened", self.path.display());
        Err(rusqlite::Error::SqliteFailure(ffi::Error::new(ffi::SQLITE_CANTOPEN), Some(message)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Shares;
    use std::time::Duration;

    /// A query that does not terminate.
    const ENDLESS: &str =
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n";

    #[tokio::test]
    async fn a_query_ends_when_nobody_waits_for_it_and_holds_up_no_other_use() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("b");
        Connection::open(&path).unwrap().execute_batch("CREATE TABLE t (a)").unwrap();
        let (queue, _receiver) = Queue::new(1, Shares::of(100, 1));
        let readers = Readers::of_file(path.clone(), Identity::at(&path).unwrap(), "0a1b2c3d".into(), queue);
        let number = |c: &Connection| c.query_row("SELECT 7", [], |row| row.get::<_, i64>(0));
        let endless = |readers: Readers| async move {
            readers.read(|c| c.query_row(ENDLESS, [], |row| row.get::<_, i64>(0))).await
        };
        let asked: Vec<_> = (0..CONNECTIONS).map(|_| tokio::spawn(endless(readers.clone()))).collect();
        tokio::time::sleep(Duration::from_millis(100)).await;
        assert_eq!(readers.pool().permits.available_permits(), 0, "the API's are in use");
        for other in [Use::Outputs, Use::Admin, Use::Ingest] {
            assert_eq!(readers.of(other).read(number).await, Ok(7));
        }
        for task in asked {
            task.abort();
        }
        // Without the interruption, the four queries would never end.
        let read = tokio::time::timeout(Duration::from_secs(60), readers.read(number)).await;
        assert_eq!(read.expect("the others have ended"), Ok(7));
    }
}
