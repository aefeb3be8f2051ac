//! The thread that writes. Everything that waits in the queue becomes one transaction, so that many messages share one synchronization with
//! the disk.
//!
//! A message is acknowledged after the commit, and after a check that the commit went to the files that a restart will open.

use super::{
    BufferStats, Readers, Totals,
    damage::{Known, is_damage},
    devices::Devices,
    duplicates::Duplicates,
    file::BufferFile,
    find::Found,
    in_place::Fault,
    message::Sent,
    opened::{Kept, Loaded, Opened, load},
    quarantine::InQuarantine,
    queue::WriteOp,
    retention::Retention,
    transact::{Written, cursors_of, layouts_of},
};
use rusqlite::config::DbConfig;
use std::{
    collections::HashMap,
    fmt::{self, Display},
    sync::Arc,
    time::{Duration, Instant},
};
use tokio::{runtime::Handle, sync::mpsc::Receiver};

/// How long the writer waits at a time for more messages, and how often at most.
const GATHER_STEP: Duration = Duration::from_micros(200);
const GATHER_STEPS: usize = 10;
/// Time between two attempts to recover a damaged buffer.
const RECOVER_AGAIN: Duration = Duration::from_secs(10);

/// Observes the writer, for metrics and streams of events. `()` ignores everything.
pub trait Observer: Send {
    /// Called after a batch became durable, before its senders are answered. `before` are the totals without it and `now` those with it.
    /// The IDs of its messages continue from `before`.
    fn committed(&mut self, _batch: &[WriteOp], _before: &Totals, _now: &Totals, _took: Duration) {}

    /// Called after a batch became durable, with the counts of its devices, and with the device of each message that has left the
    /// quarantine.
    fn counted(&mut self, _batch: &[WriteOp], _devices: &Devices, _left: &[String]) {}

    /// Called after the file was read again, with the quarantine counts of each device. The file may have lost messages and devices.
    fn reopened(&mut self, _quarantined: HashMap<String, InQuarantine>) {}

    /// Called after a batch could not be written.
    fn failed(&mut self) {}

    /// Called after a batch with the messages that are remembered to detect duplicates.
    fn remembered(&mut self, _duplicates: &Duplicates) {}

    /// Returns whether messages of a device and with an origin, but without a key, are duplicates when their bytes are equal.
    fn dedup_by_payload(&self, (_device, _origin): Sent<'_>) -> bool {
        false
    }
}

impl Observer for () {}

/// Writes the items of the queue.
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
    /// The recent size of a batch: the maximum, which decays by an eighth with every batch.
    usual: usize,
    /// When recovery failed last.
    unrecovered: Option<Instant>,
    /// The fault of the files, if they have one.
    pub(super) fault: Option<Fault>,
    /// Whether the last batch could not be written.
    pub(super) failed: bool,
}

/// Why a batch is not durable.
#[derive(Debug)]
enum NotDurable {
    /// SQLite could not write it.
    Sqlite(rusqlite::Error),
    /// The files are not where a restart will look for them.
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
    /// Creates a writer for an open buffer. It keeps `stats` up to date, and answers senders in the runtime of the caller.
    pub fn new(
        opened: Opened,
        queue: Receiver<WriteOp>,
        readers: Readers,
        stats: Arc<BufferStats>,
        observer: O,
    ) -> Self {
        let Opened { file, loaded, window, retention, batch_messages, quarantine_limit, .. } = opened;
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

    /// Writes until the queue is stopped or closed. Then copies the WAL into the database and closes it.
    pub fn run(mut self) {
        let mut stop = false;
        while !stop {
            let mut batch = Vec::new();
            if self.queue.blocking_recv_many(&mut batch, self.batch_messages) == 0 {
                break;
            }
            self.gather(&mut batch);
            self.readers.queue().taken(&batch);
            if let Some(at) = batch.iter().position(|entry| matches!(entry, WriteOp::Stop)) {
                batch.truncate(at);
                stop = true;
            }
            let damaged = batch.iter().find_map(|entry| match entry {
                WriteOp::Damaged(file, reason) if *file == self.readers.file() => Some(reason.clone()),
                _ => None,
            });
            // To readers, a deleted log looks like damage, but nothing is lost yet. Recover only if the files are in place.
            if let Some(reason) = damaged
                && self.find_files().is_ok_and(|found| found == Found::InPlace)
            {
                self.recover(&reason);
            }
            let only_check = !stop && batch.iter().all(|entry| matches!(entry, WriteOp::CheckFiles));
            if only_check && self.is_well() {
                continue;
            }
            // At the stop, an empty batch may still have a count of refused messages to write.
            self.refuse_out_of_order(&mut batch);
            let durable = self.write(&mut batch);
            // Waking hundreds of requests takes longer from outside the runtime than from one of its own tasks.
            self.runtime.spawn(async move { answer(batch, durable) });
        }
        let connection = &self.loaded.connection;
        let close = connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, false);
        if let Err(e) = close.and_then(|_| connection.execute_batch("PRAGMA wal_checkpoint(TRUNCATE)")) {
            tracing::warn!(error = %e, "the write-ahead log could not be checkpointed; the next start reads it");
        }
    }

    /// Waits briefly for more messages if recent batches were much larger and more keep coming. Senders that were answered together return
    /// one after the other, and a commit for each of the first would delay all of them.
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

    /// Writes a batch and tells the observer. Returns whether the batch is durable.
    fn write(&mut self, batch: &mut [WriteOp]) -> bool {
        let begun = Instant::now();
        let committed = self.commit(batch);
        self.failed = committed.is_err();
        match committed {
            Ok(Written { totals, kept, retained, again, left }) => {
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
                self.observer.counted(batch, &loaded.devices, &left.devices);
                (loaded.totals, loaded.kept) = (totals, kept);
                loaded.layouts.extend(layouts_of(batch).cloned());
                loaded.cursors.extend(cursors_of(batch));
            }
            Err(e) => {
                // A message that was to leave the quarantine is still there, so it is not counted as refused.
                let messages = |entry: &&WriteOp| match entry {
                    WriteOp::Message(_, ticket) => ticket.requeued.is_none(),
                    entry => matches!(entry, WriteOp::Quarantine(..) | WriteOp::Duplicate(_)),
                };
                let is_batch = batch.iter().any(|entry| !matches!(entry, WriteOp::CheckFiles));
                self.readers.queue().note_failed_batch();
                self.note_failure(is_batch.then(|| batch.iter().filter(messages).count()), &e);
                if !self.loaded.connection.is_autocommit() {
                    self.reopen();
                }
            }
        }
        !self.failed
    }

    /// Takes the messages from `batch` whose predecessors could not be written, and refuses them.
    fn refuse_out_of_order(&self, batch: &mut Vec<WriteOp>) {
        let failed = self.readers.queue().failed_batches().count();
        let refused: Vec<_> = batch
            .extract_if(.., |entry| match entry {
                WriteOp::Message(_, ticket) | WriteOp::Quarantine(_, ticket) => {
                    ticket.is_out_of_order(failed)
                }
                _ => false,
            })
            .collect();
        if !refused.is_empty() {
            self.stats.refuse(refused.len() as u64);
            self.runtime.spawn(async move { answer(refused, false) });
        }
    }

    fn set_full(&self, full: bool) {
        match (self.readers.queue().set_buffer_full(full), full) {
            (false, true) => tracing::error!(
                "the buffer has reached [buffer] limit_bytes; messages are refused until there is room"
            ),
            (true, false) => tracing::info!("the buffer has room for messages again"),
            _ => {}
        }
    }

    /// Records that a batch with this many messages could not be written, or, without a batch, that the buffer is not writable.
    pub(super) fn note_failure(&mut self, messages: Option<usize>, error: &dyn Display) {
        if let Some(messages) = messages {
            self.stats.refuse(messages as u64);
            self.observer.failed();
        }
        if self.stats.set_writable(false) {
            tracing::error!(%error, "the buffer cannot be written; messages are refused until it can be");
        }
    }

    /// Commits a batch to the files that a restart will open.
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
        // Somebody may have deleted the files between the first check and the commit. The batch is then in the deleted files, and the
        // cached state has to be reloaded.
        if let Err(fault) = self.loaded.check_files() {
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

    /// Recovers the damaged buffer. Returns whether it succeeded. Does nothing if the last attempt failed less than [`RECOVER_AGAIN`] ago.
    pub(super) fn recover(&mut self, reason: &str) -> bool {
        if self.unrecovered.is_some_and(|last| last.elapsed() < RECOVER_AGAIN) {
            return false;
        }
        let known = Known { totals: self.loaded.totals.clone(), cursors: self.loaded.cursors.clone() };
        let recovered = self.file.recover(reason, Some(&known)).and_then(|()| {
            let loaded = load(&self.file, self.window, &|sent| self.observer.dedup_by_payload(sent))?;
            self.readers.renew(loaded.files.database());
            Ok(loaded)
        });
        match recovered {
            Ok(loaded) => {
                self.loaded = loaded;
                self.observer.reopened(std::mem::take(&mut self.loaded.quarantined));
                self.retention.forget();
                self.stats.show(&self.loaded.totals);
                (self.unrecovered, self.fault) = (None, None);
            }
            Err(e) => {
                tracing::error!(error = %e, "the buffer cannot be recovered; messages are refused until it can be");
                self.unrecovered = Some(Instant::now());
            }
        }
        self.unrecovered.is_none()
    }

    /// Reopens the database, because the connection is unusable after a failed rollback.
    fn reopen(&mut self) {
        // Do not open another file, or create a new one.
        if self.loaded.check_files().is_err() {
            return;
        }
        match self.file.open() {
            Ok(connection) => self.loaded.connection = connection,
            Err(e) => tracing::error!(error = %e, "the buffer cannot be reopened"),
        }
    }
}

/// Answers the requests of a batch.
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
        // An error means that the client has disconnected. Its message is durable or refused all the same.
        let _ = answer.send(durable);
    }
}
