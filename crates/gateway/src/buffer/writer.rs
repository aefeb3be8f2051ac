//! The one thread that writes. Whatever waits in the queue becomes one transaction.

use super::{
    Readers, Totals,
    damage::{Known, is_damage},
    duplicates::Duplicates,
    file::BufferFile,
    find::Found,
    in_place::Fault,
    opened::{Kept, Loaded, Opened, load},
    queue::Entry,
    retention::Retention,
    transact::{Written, cursors_of, layouts_of},
};
use crate::config::Config;
use rusqlite::config::DbConfig;
use std::{
    fmt::{self, Display},
    time::{Duration, Instant},
};
use tokio::{runtime::Handle, sync::mpsc::Receiver};

/// How long the writer waits at a time for more messages, and how often at most.
const GATHER_STEP: Duration = Duration::from_micros(200);
const GATHER_STEPS: usize = 10;
/// How long a damaged buffer is left alone that could not be mended.
const MEND_AGAIN: Duration = Duration::from_secs(10);

/// What is told about every batch, before its requests are answered.
pub trait Observer: Send {
    /// Messages refused over the life of the buffer, to be written with the next batch.
    fn refused(&self) -> u64;
    /// A batch is durable. `before` are the totals without it, `now` those with it; ids continue from `before`.
    fn committed(&mut self, batch: &[Entry], before: &Totals, now: &Totals, took: Duration);
    /// Whether a device's messages without a key are the same when their bytes are.
    fn by_bytes(&self, device: &str) -> bool;
    /// Whether there is no room for more messages.
    fn full(&mut self, full: bool);
    /// The buffer was damaged and made anew.
    fn mended(&mut self, totals: &Totals);
    /// What is remembered, to tell which messages come again.
    fn remembered(&mut self, duplicates: &Duplicates);
    /// A batch of so many messages could not be written, or without a batch: none could be.
    fn failed(&mut self, messages: Option<usize>, error: &dyn Display);
}

/// Writes what comes out of the queue.
pub struct Writer<O> {
    pub(super) file: BufferFile,
    pub(super) loaded: Loaded,
    pub(super) window: (Duration, usize),
    pub(super) readers: Readers,
    queue: Receiver<Entry>,
    pub(super) observer: O,
    pub(super) retention: Retention,
    runtime: Handle,
    batch_messages: usize,
    quarantine_limit: Kept,
    /// Messages in a batch of late: the most, falling by an eighth with every batch.
    usual: usize,
    /// When mending failed last.
    unmended: Option<Instant>,
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
    /// A writer on an opened buffer, for requests that run on the runtime it is called in.
    pub fn new(
        config: &Config,
        opened: Opened,
        queue: Receiver<Entry>,
        readers: Readers,
        observer: O,
    ) -> Self {
        Writer {
            retention: Retention::new(config, &opened.loaded.cursors),
            file: opened.file,
            loaded: opened.loaded,
            window: opened.window,
            readers,
            queue,
            observer,
            runtime: Handle::current(),
            batch_messages: config.buffer.batch_messages,
            quarantine_limit: Kept {
                messages: config.quarantine.messages as u64,
                bytes: config.quarantine.bytes as u64,
            },
            usual: 0,
            unmended: None,
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
            if let Some(at) = batch.iter().position(|entry| matches!(entry, Entry::Stop)) {
                batch.truncate(at);
                stop = true;
            }
            let damaged = batch.iter().find_map(|entry| match entry {
                Entry::Damaged(file, reason) if *file == self.readers.file() => Some(reason.clone()),
                _ => None,
            });
            // A log that was deleted looks like damage to readers, and nothing is lost yet.
            if let Some(reason) = damaged
                && self.find_files().is_ok_and(|found| found == Found::InPlace)
            {
                self.mend(&reason);
            }
            let only_check = !stop && batch.iter().all(|entry| matches!(entry, Entry::Check));
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
    fn gather(&mut self, batch: &mut Vec<Entry>) {
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
    fn write(&mut self, batch: &mut [Entry]) -> bool {
        let begun = Instant::now();
        let committed = self.commit(batch);
        self.failed = committed.is_err();
        match committed {
            Ok(Written { totals, kept, retained, again }) => {
                self.retention.keep(retained);
                self.observer.full(retained.full);
                let loaded = &mut self.loaded;
                self.observer.remembered(&loaded.duplicates);
                again.into_iter().for_each(|at| batch[at].make_duplicate());
                self.observer.committed(batch, &loaded.totals, &totals, begun.elapsed());
                (loaded.totals, loaded.kept) = (totals, kept);
                loaded.layouts.extend(layouts_of(batch).cloned());
                loaded.cursors.extend(cursors_of(batch));
            }
            Err(e) => {
                // What came out of the quarantine is still there.
                let messages = |entry: &&Entry| match entry {
                    Entry::Message(_, ticket) => ticket.requeued.is_none(),
                    entry => matches!(entry, Entry::Reject(..) | Entry::Duplicate(_)),
                };
                let is_batch = batch.iter().any(|entry| !matches!(entry, Entry::Check));
                self.observer.failed(is_batch.then(|| batch.iter().filter(messages).count()), &e);
                if !self.loaded.connection.is_autocommit() {
                    self.reopen();
                }
            }
        }
        !self.failed
    }

    /// Commits a batch to the files that a restart would find.
    fn commit(&mut self, batch: &[Entry]) -> Result<Written, NotDurable> {
        self.find_files()?;
        let mut written = self.transact(batch);
        if let Err(e) = &written
            && is_damage(e)
            && self.mend(&e.to_string())
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

    fn transact(&mut self, batch: &[Entry]) -> rusqlite::Result<Written> {
        self.loaded.duplicates.begin();
        let written =
            self.loaded.transact(batch, self.observer.refused(), self.quarantine_limit, &self.retention);
        if written.is_err() {
            self.loaded.duplicates.take_back();
            self.loaded.devices.forget();
        }
        written
    }

    /// Makes a new buffer of the damaged one. Answers whether there is one now.
    pub(super) fn mend(&mut self, reason: &str) -> bool {
        if self.unmended.is_some_and(|last| last.elapsed() < MEND_AGAIN) {
            return false;
        }
        let known = Known { totals: self.loaded.totals.clone(), cursors: self.loaded.cursors.clone() };
        let mended = self.file.mend(reason, Some(&known)).and_then(|()| {
            let loaded = load(&self.file, self.window, &|device| self.observer.by_bytes(device))?;
            self.readers.renew(loaded.files.database());
            Ok(loaded)
        });
        match mended {
            Ok(loaded) => {
                self.loaded = loaded;
                self.retention.forget();
                self.observer.mended(&self.loaded.totals);
                (self.unmended, self.fault) = (None, None);
            }
            Err(e) => {
                tracing::error!(error = %e, "messages are refused until the buffer can be made anew");
                self.unmended = Some(Instant::now());
            }
        }
        self.unmended.is_none()
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
fn answer(batch: Vec<Entry>, durable: bool) {
    for entry in batch {
        let answer = match entry {
            Entry::Message(_, ticket) | Entry::Reject(_, ticket) | Entry::Duplicate(ticket) => ticket.answer,
            Entry::Change(_, answer) => answer,
            Entry::Damaged(..) | Entry::Tidy | Entry::Check | Entry::Stop => continue,
        };
        // An error means that the client has left; its message is what it is nevertheless.
        let _ = answer.send(durable);
    }
}
