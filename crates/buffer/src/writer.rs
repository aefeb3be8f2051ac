//! The one thread that writes. Whatever waits in the queue becomes one transaction.

use super::{
    BufferStats, Readers, Totals,
    damage::{Known, is_damage},
    duplicates::Duplicates,
    file::BufferFile,
    find::Found,
    in_place::Fault,
    opened::{Kept, Loaded, Opened, load},
    queue::WriteOp,
    retention::Retention,
    transact::{Written, cursors_of, layouts_of},
};
use rusqlite::config::DbConfig;
use std::{
    fmt::{self, Display},
    sync::Arc,
    time::{Duration, Instant},
};
use tokio::{runtime::Handle, sync::mpsc::Receiver};

/// How long the writer waits at a time for more messages, and how often at most.
const GATHER_STEP: Duration = Duration::from_micros(200);
const GATHER_STEPS: usize = 10;
/// How long a damaged buffer is left alone that could not be recovered.
const RECOVER_AGAIN: Duration = Duration::from_secs(10);

/// Follows what the writer does, for metrics and streams of events. `()` ignores all of it.
pub trait Observer: Send {
    /// A batch is durable; its senders are answered afterwards. `before` are the totals without it, `now` those with it; IDs continue
    /// from `before`.
    fn committed(&mut self, _batch: &[WriteOp], _before: &Totals, _now: &Totals, _took: Duration) {}

    /// A batch could not be written.
    fn failed(&mut self) {}

    /// What is remembered, to recognize duplicates.
    fn remembered(&mut self, _duplicates: &Duplicates) {}

    /// Whether messages of a device without a key are duplicates when their bytes are equal.
    fn dedup_by_payload(&self, _device: &str) -> bool {
        false
    }
}

impl Observer for () {}

/// Writes what comes out of the queue.
pub struct Writer<O> {
    pub(super) file: BufferFile,
    pub(super) loaded: Loaded,
    pub(super) window: (Duration, usize),
    pub(super) readers: Readers,
    queue: Receiver<WriteOp>,
    pub(super) stats: Arc<BufferStats>,
    pub(super) observer: O,
    pub(super) retention: Retention,
    runtime: Handle,
    batch_messages: usize,
    quarantine_limit: Kept,
    /// Messages in a batch of late: the most, falling by an eighth with every batch.
    usual: usize,
    /// When recovery failed last.
    unrecovered: Option<Instant>,
    /// What is wrong with the files, if something is.
    pub(super) fault: Option<Fault>,
    /// Whether the last batch could not be written.
    pub(super) failed: bool,
}

/// Why a batch is not durable.
#[derive(Debug)]
enum NotDurable {
    /// SQLite could not write it.
    Sqlite(rusqlite::Error),
    /// The files are not where a restart would look for them.
    Astray(Fault),
}

impl Display for NotDurable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NotDurable::Sqlite(error) => error.fmt(f),
            NotDurable::Astray(fault) => fault.fmt(f),
        }
    }
}

impl From<rusqlite::Error> for NotDurable {
    fn from(error: rusqlite::Error) -> NotDurable {
        NotDurable::Sqlite(error)
    }
}

impl From<Fault> for NotDurable {
    fn from(fault: Fault) -> NotDurable {
        NotDurable::Astray(fault)
    }
}

impl<O: Observer> Writer<O> {
    /// A writer on an opened buffer, for senders that run on the runtime it is called in. It keeps `stats` up to date.
    pub fn new(
        opened: Opened,
        queue: Receiver<WriteOp>,
        readers: Readers,
        stats: Arc<BufferStats>,
        observer: O,
    ) -> Self {
        let Opened { file, loaded, window, retention, batch_messages, quarantine_limit } = opened;
        Writer {
            retention,
            file,
            loaded,
            window,
            readers,
            queue,
            stats,
            observer,
            runtime: Handle::current(),
            batch_messages,
            quarantine_limit,
            usual: 0,
            unrecovered: None,
            fault: None,
            failed: false,
        }
    }

    /// Writes until the queue says stop, then copies the WAL into the file and closes it.
    pub fn run(mut self) {
        let mut stop = false;
        while !stop {
            let mut batch = Vec::new();
            if self.queue.blocking_recv_many(&mut batch, self.batch_messages) == 0 {
                break;
            }
            self.gather(&mut batch);
            if let Some(at) = batch.iter().position(|entry| matches!(entry, WriteOp::Stop)) {
                batch.truncate(at);
                stop = true;
            }
            let damaged = batch.iter().find_map(|entry| match entry {
                WriteOp::Damaged(file, reason) if *file == self.readers.file() => Some(reason.clone()),
                _ => None,
            });
            // A log that was deleted looks like damage to readers, and nothing is lost yet.
            if let Some(reason) = damaged
                && self.find_files().is_ok_and(|found| found == Found::InPlace)
            {
                self.recover(&reason);
            }
            let only_check = !stop && batch.iter().all(|entry| matches!(entry, WriteOp::CheckFiles));
            if only_check && self.is_well() {
                continue;
            }
            // At the stop there may be nothing but refusals to write.
            let durable = self.write(&mut batch);
            // Waking hundreds of requests from outside the runtime takes longer than from one of its own tasks.
            self.runtime.spawn(async move { answer(batch, durable) });
        }
        let connection = &self.loaded.connection;
        let close = connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, false);
        if let Err(e) = close.and_then(|_| connection.execute_batch("PRAGMA wal_checkpoint(TRUNCATE)")) {
            tracing::warn!(error = %e, "the write-ahead log stays beside the buffer; the next start reads it");
        }
    }

    /// Waits a little for more, when batches were much larger a moment ago and more keep coming: senders that were
    /// answered together come back one after the other, and a commit for each of the first would cost all of them.
    fn gather(&mut self, batch: &mut Vec<WriteOp>) {
        let enough = (self.usual / 2).min(self.batch_messages);
        for _ in 0..GATHER_STEPS {
            let before = batch.len();
            if before >= enough {
                break;
            }
            std::thread::sleep(GATHER_STEP);
            while batch.len() < self.batch_messages
                && let Ok(entry) = self.queue.try_recv()
            {
                batch.push(entry);
            }
            if batch.len() == before {
                break;
            }
        }
        self.usual = batch.len().max(self.usual - self.usual.div_ceil(8));
    }

    /// Writes a batch and tells the observer. Answers whether it is durable.
    fn write(&mut self, batch: &mut [WriteOp]) -> bool {
        let begun = Instant::now();
        let committed = self.commit(batch);
        self.failed = committed.is_err();
        match committed {
            Ok(Written { totals, kept, retained, again }) => {
                self.retention.keep(retained);
                self.set_full(retained.full);
                let loaded = &mut self.loaded;
                self.observer.remembered(&loaded.duplicates);
                again.into_iter().for_each(|at| batch[at].make_duplicate());
                self.stats.show(&totals);
                if !self.stats.set_writable(true) {
                    tracing::info!("the buffer can be written again");
                }
                self.observer.committed(batch, &loaded.totals, &totals, begun.elapsed());
                (loaded.totals, loaded.kept) = (totals, kept);
                loaded.layouts.extend(layouts_of(batch).cloned());
                loaded.cursors.extend(cursors_of(batch));
            }
            Err(e) => {
                // What came out of the quarantine is still there.
                let messages = |entry: &&WriteOp| match entry {
                    WriteOp::Message(_, ticket) => ticket.requeued.is_none(),
                    entry => matches!(entry, WriteOp::Quarantine(..) | WriteOp::Duplicate(_)),
                };
                let is_batch = batch.iter().any(|entry| !matches!(entry, WriteOp::CheckFiles));
                self.note_failure(is_batch.then(|| batch.iter().filter(messages).count()), &e);
                if !self.loaded.connection.is_autocommit() {
                    self.reopen();
                }
            }
        }
        !self.failed
    }

    fn set_full(&self, full: bool) {
        match (self.readers.queue().set_buffer_full(full), full) {
            (false, true) => tracing::error!(
                "the buffer is at [buffer] limit_bytes; messages are refused until there is room"
            ),
            (true, false) => tracing::info!("the buffer has room for messages again"),
            _ => {}
        }
    }

    /// Notes that a batch of so many messages could not be written, or without a batch, that none could be.
    pub(super) fn note_failure(&mut self, messages: Option<usize>, error: &dyn Display) {
        if let Some(messages) = messages {
            self.stats.refuse(messages as u64);
            self.observer.failed();
        }
        if self.stats.set_writable(false) {
            tracing::error!(%error, "the buffer cannot be written; messages are refused until it can");
        }
    }

    /// Commits a batch to the files that a restart would find.
    fn commit(&mut self, batch: &[WriteOp]) -> Result<Written, NotDurable> {
        self.find_files()?;
        let mut written = self.transact(batch);
        if let Err(e) = &written
            && is_damage(e)
            && self.recover(&e.to_string())
        {
            written = self.transact(batch);
        }
        let written = written?;
        // Between the first look and the commit somebody may have deleted them. Then the batch is in them, and what is
        // kept in memory has to be read again.
        if let Err(fault) = self.loaded.files.check() {
            self.loaded.duplicates.take_back();
            self.loaded.devices.forget();
            self.note(&fault);
            return Err(fault.into());
        }
        Ok(written)
    }

    fn transact(&mut self, batch: &[WriteOp]) -> rusqlite::Result<Written> {
        self.loaded.duplicates.begin();
        let written =
            self.loaded.transact(batch, self.stats.refused(), self.quarantine_limit, &self.retention);
        if written.is_err() {
            self.loaded.duplicates.take_back();
            self.loaded.devices.forget();
        }
        written
    }

    /// Makes a new buffer of the damaged one. Answers whether there is one now.
    pub(super) fn recover(&mut self, reason: &str) -> bool {
        if self.unrecovered.is_some_and(|last| last.elapsed() < RECOVER_AGAIN) {
            return false;
        }
        let known = Known { totals: self.loaded.totals.clone(), cursors: self.loaded.cursors.clone() };
        let recovered = self.file.recover(reason, Some(&known)).and_then(|()| {
            let loaded = load(&self.file, self.window, &|device| self.observer.dedup_by_payload(device))?;
            self.readers.renew(loaded.files.database());
            Ok(loaded)
        });
        match recovered {
            Ok(loaded) => {
                self.loaded = loaded;
                self.retention.forget();
                self.stats.show(&self.loaded.totals);
                (self.unrecovered, self.fault) = (None, None);
            }
            Err(e) => {
                tracing::error!(error = %e, "messages are refused until the buffer can be made anew");
                self.unrecovered = Some(Instant::now());
            }
        }
        self.unrecovered.is_none()
    }

    /// After a rollback that failed, the connection is of no use.
    fn reopen(&mut self) {
        // Nor is another file, or a new one.
        if self.loaded.files.check().is_err() {
            return;
        }
        match self.file.open() {
            Ok(connection) => self.loaded.connection = connection,
            Err(e) => tracing::error!(error = %e, "the buffer cannot be opened again"),
        }
    }
}

/// Tells the requests of a batch whether their messages are durable.
fn answer(batch: Vec<WriteOp>, durable: bool) {
    for entry in batch {
        let answer = match entry {
            WriteOp::Message(_, ticket) | WriteOp::Quarantine(_, ticket) | WriteOp::Duplicate(ticket) => {
                ticket.answer
            }
            WriteOp::Change(_, answer) => answer,
            WriteOp::Damaged(..) | WriteOp::EnforceRetention | WriteOp::CheckFiles | WriteOp::Stop => {
                continue;
            }
        };
        // An error means that the client has left; its message is what it is nevertheless.
        let _ = answer.send(durable);
    }
}
