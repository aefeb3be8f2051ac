//! The one thread that writes. Whatever waits in the queue becomes one transaction.

use super::{
    Change, Readers, Totals, changes,
    damage::{Known, is_damage},
    duplicates::Duplicates,
    file::{BufferError, BufferFile},
    layouts, quarantine,
    queue::{Entry, Ticket},
    record::{self, Record},
    retention::{self, Retention},
};
use crate::{clock, config::Config, reading::Reject, slots::LayoutKey};
use rusqlite::{
    CachedStatement, Connection, ErrorCode, OptionalExtension, TransactionBehavior, config::DbConfig,
};
use std::{
    collections::{HashMap, HashSet, hash_map},
    sync::Arc,
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
    /// How many messages are remembered, and how many were forgotten early, to tell which come again.
    fn remembered(&mut self, messages: usize, forgotten: u64);
    /// A batch of so many messages could not be written.
    fn failed(&mut self, messages: usize, error: &rusqlite::Error);
}

/// Writes what comes out of the queue.
pub struct Writer<O> {
    file: BufferFile,
    loaded: Loaded,
    window: Duration,
    readers: Readers,
    queue: Receiver<Entry>,
    observer: O,
    retention: Retention,
    runtime: Handle,
    batch_messages: usize,
    quarantine_limit: Kept,
    /// Messages in a batch of late: the most, falling by an eighth with every batch.
    usual: usize,
    /// When mending failed last.
    unmended: Option<Instant>,
}

/// A buffer that was opened.
pub struct Opened {
    file: BufferFile,
    loaded: Loaded,
    window: Duration,
}

impl Opened {
    /// How much it holds.
    pub fn totals(&self) -> &Totals {
        &self.loaded.totals
    }

    /// The packed layouts that its messages were decoded with.
    pub fn layouts(&self) -> &HashSet<Arc<LayoutKey>> {
        &self.loaded.layouts
    }

    /// How far outputs have come: the last message that each is done with.
    pub fn cursors(&self) -> &HashMap<Arc<str>, i64> {
        &self.loaded.cursors
    }
}

/// A buffer's file, and what is kept of it in memory.
struct Loaded {
    connection: Connection,
    totals: Totals,
    kept: Kept,
    /// The packed layouts that the buffer remembers.
    layouts: HashSet<Arc<LayoutKey>>,
    /// How far outputs have come.
    cursors: HashMap<Arc<str>, i64>,
    duplicates: Duplicates,
}

/// What a transaction made of the buffer.
struct Written {
    totals: Totals,
    kept: Kept,
    retained: retention::Kept,
    /// Which entries of the batch were stored already.
    again: Vec<usize>,
}

/// How much the quarantine holds.
#[derive(Clone, Copy)]
struct Kept {
    messages: u64,
    bytes: u64,
}

impl Kept {
    /// So many messages, with so many bytes, are no longer kept.
    fn less(&mut self, (messages, bytes): (u64, u64)) {
        self.messages = self.messages.saturating_sub(messages);
        self.bytes = self.bytes.saturating_sub(bytes);
    }
}

/// A device with what a batch has added so far.
#[derive(Clone, Copy, Default)]
struct DeviceTally {
    messages: u64,
    bytes: u64,
    last_id: Option<i64>,
}

/// Opens the buffer that `config` names; a damaged one is set aside, and what can be read of it goes on in a new one. `by_bytes`
/// says which devices' messages are the same when their bytes are.
pub fn open(config: &Config, by_bytes: &dyn Fn(&str) -> bool) -> Result<Opened, BufferError> {
    let window = Duration::from_secs(config.buffer.duplicate_window_seconds);
    let file = BufferFile::lock(&config.buffer.path)?;
    if let Some(reason) = file.check()? {
        file.mend(reason, None)?;
    }
    let loaded = match load(&file, window, by_bytes) {
        Err(BufferError::Sqlite { source, .. }) if is_damage(&source) || is_incomplete(&source) => {
            file.mend(&source.to_string(), None)?;
            load(&file, window, by_bytes)
        }
        other => other,
    }?;
    file.remember(&loaded.totals.name)?;
    Ok(Opened { file, loaded, window })
}

/// Whether tables or their rows are missing.
fn is_incomplete(error: &rusqlite::Error) -> bool {
    use rusqlite::Error::{QueryReturnedNoRows, SqlInputError};
    matches!(error, QueryReturnedNoRows | SqlInputError { .. })
        || error.sqlite_error_code() == Some(ErrorCode::Unknown)
}

/// Opens the file and reads what the writer keeps in memory.
fn load(file: &BufferFile, window: Duration, by_bytes: &dyn Fn(&str) -> bool) -> Result<Loaded, BufferError> {
    let connection = file.open()?;
    let read = || -> rusqlite::Result<_> {
        let totals = Totals::load(&connection)?;
        let layouts = layouts::load(&connection)?;
        let cursors = changes::cursors(&connection)?;
        let sql = "SELECT count(*), ifnull(sum(length(raw)), 0) FROM quarantine";
        let kept =
            connection.query_row(sql, [], |row| Ok(Kept { messages: row.get(0)?, bytes: row.get(1)? }))?;
        let mut duplicates = Duplicates::new(window);
        duplicates.load(&connection, clock::now(), by_bytes)?;
        Ok((totals, layouts, cursors, kept, duplicates))
    };
    let (totals, layouts, cursors, kept, duplicates) = read().map_err(|source| file.failed(source))?;
    Ok(Loaded { connection, totals, layouts, cursors, kept, duplicates })
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
            if let Some(reason) = damaged {
                self.mend(&reason);
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
        let mut written = self.transact(batch);
        if let Err(e) = &written
            && is_damage(e)
            && self.mend(&e.to_string())
        {
            written = self.transact(batch);
        }
        match written {
            Ok(Written { totals, kept, retained, again }) => {
                self.retention.keep(retained);
                self.observer.full(retained.full);
                let loaded = &mut self.loaded;
                self.observer.remembered(loaded.duplicates.remembered(), loaded.duplicates.forgotten());
                again.into_iter().for_each(|at| batch[at].make_duplicate());
                self.observer.committed(batch, &loaded.totals, &totals, begun.elapsed());
                (loaded.totals, loaded.kept) = (totals, kept);
                loaded.layouts.extend(layouts_of(batch).cloned());
                loaded.cursors.extend(cursors_of(batch));
                true
            }
            Err(e) => {
                // What came out of the quarantine is still there.
                let messages = |entry: &&Entry| match entry {
                    Entry::Message(_, ticket) => ticket.requeued.is_none(),
                    entry => matches!(entry, Entry::Reject(..)),
                };
                self.observer.failed(batch.iter().filter(messages).count(), &e);
                if !self.loaded.connection.is_autocommit() {
                    self.reopen();
                }
                false
            }
        }
    }

    fn transact(&mut self, batch: &[Entry]) -> rusqlite::Result<Written> {
        self.loaded.duplicates.begin();
        let written = self.loaded.transact(batch, &self.observer, self.quarantine_limit, &self.retention);
        if written.is_err() {
            self.loaded.duplicates.take_back();
        }
        written
    }

    /// Makes a new buffer of the damaged one. Answers whether there is one now.
    fn mend(&mut self, reason: &str) -> bool {
        if self.unmended.is_some_and(|last| last.elapsed() < MEND_AGAIN) {
            return false;
        }
        let known = Known { totals: self.loaded.totals.clone(), cursors: self.loaded.cursors.clone() };
        let mended = self.file.mend(reason, Some(&known)).and_then(|()| {
            self.readers.renew();
            load(&self.file, self.window, &|device| self.observer.by_bytes(device))
        });
        match mended {
            Ok(loaded) => {
                self.loaded = loaded;
                self.retention.forget();
                self.observer.mended(&self.loaded.totals);
                self.unmended = None;
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
        match self.file.open() {
            Ok(connection) => self.loaded.connection = connection,
            Err(e) => tracing::error!(error = %e, "the buffer cannot be opened again"),
        }
    }
}

impl Loaded {
    fn transact<O: Observer>(
        &mut self,
        batch: &[Entry],
        observer: &O,
        quarantine_limit: Kept,
        retention: &Retention,
    ) -> rusqlite::Result<Written> {
        let transaction = self.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let mut totals = self.totals.clone();
        let mut kept = self.kept;
        let mut again = Vec::new();
        let mut devices: HashMap<&str, DeviceTally> = HashMap::new();
        {
            let mut message = transaction.prepare_cached(record::INSERT)?;
            let mut reject = transaction
                .prepare_cached("INSERT INTO quarantine VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)")?;
            for (at, entry) in batch.iter().enumerate() {
                if let Entry::Message(_, Ticket { requeued: Some(id), .. }) = entry {
                    let Some(bytes) = quarantine::remove(&transaction, *id)? else {
                        // It was dropped since it was read, and stays so.
                        again.push(at);
                        continue;
                    };
                    kept.less((1, bytes));
                    totals.quarantined = totals.quarantined.saturating_sub(1);
                }
                match entry {
                    Entry::Message(reading, _) if self.duplicates.is_known(reading) => {
                        totals.duplicates += 1;
                        again.push(at);
                    }
                    Entry::Message(reading, _) => {
                        totals.last_message_id += 1;
                        totals.stored += 1;
                        totals.formats[reading.format as usize].add(reading.raw.len(), reading.json.len());
                        let device = match devices.entry(&reading.provenance.device) {
                            hash_map::Entry::Occupied(known) => known.into_mut(),
                            hash_map::Entry::Vacant(new) => {
                                let device = find_device(&transaction, new.key())?;
                                totals.devices += u64::from(device.last_id.is_none());
                                new.insert(device)
                            }
                        };
                        let id = totals.last_message_id;
                        Record::new(id, device.last_id, reading).insert(&mut message)?;
                        device.messages += 1;
                        device.bytes += reading.raw.len() as u64;
                        device.last_id = Some(totals.last_message_id);
                    }
                    Entry::Reject(rejected, _) => {
                        totals.last_quarantine_id += 1;
                        totals.quarantined += 1;
                        insert_reject(&mut reject, totals.last_quarantine_id, rejected)?;
                        kept.messages += 1;
                        kept.bytes += rejected.raw.len() as u64;
                    }
                    Entry::Change(change, _) => kept.less(change.apply(&transaction)?),
                    Entry::Duplicate(_) | Entry::Damaged(..) | Entry::Tidy | Entry::Stop => {}
                }
            }
        }
        save_devices(&transaction, &devices)?;
        let new: HashSet<_> = layouts_of(batch).filter(|layout| !self.layouts.contains(*layout)).collect();
        layouts::save(&transaction, new)?;
        trim_quarantine(&transaction, &mut kept, quarantine_limit)?;
        let mut cursors = self.cursors.clone();
        cursors.extend(cursors_of(batch));
        let retained = retention.apply(&transaction, &mut totals, &cursors, batch.len())?;
        totals.refused = observer.refused();
        totals.save(&self.totals, &transaction)?;
        transaction.commit()?;
        Ok(Written { totals, kept, retained, again })
    }
}

/// The layouts of a batch's messages.
fn layouts_of(batch: &[Entry]) -> impl Iterator<Item = &Arc<LayoutKey>> {
    batch.iter().filter_map(|entry| match entry {
        Entry::Message(reading, _) => reading.layout.as_ref(),
        _ => None,
    })
}

/// How far outputs have come with a batch.
fn cursors_of(batch: &[Entry]) -> impl Iterator<Item = (Arc<str>, i64)> {
    batch.iter().filter_map(|entry| match entry {
        Entry::Change(Change::Cursor { output, message_id }, _) => Some((Arc::clone(output), *message_id)),
        _ => None,
    })
}

/// Tells the requests of a batch whether their messages are durable.
fn answer(batch: Vec<Entry>, durable: bool) {
    for entry in batch {
        let answer = match entry {
            Entry::Message(_, ticket) | Entry::Reject(_, ticket) | Entry::Duplicate(ticket) => ticket.answer,
            Entry::Change(_, answer) => answer,
            Entry::Damaged(..) | Entry::Tidy | Entry::Stop => continue,
        };
        // An error means that the client has left; its message is what it is nevertheless.
        let _ = answer.send(durable);
    }
}

fn insert_reject(statement: &mut CachedStatement<'_>, id: i64, reject: &Reject) -> rusqlite::Result<()> {
    let from = &reject.provenance;
    statement.execute((
        id,
        from.received_at,
        &from.device,
        &from.schema,
        &from.link,
        &reject.content_type,
        reject.kind,
        reject.offset.map(|offset| i64::try_from(offset).unwrap_or(i64::MAX)),
        &reject.reason,
        &reject.raw[..],
        &from.key,
        &from.request,
    ))?;
    Ok(())
}

/// What the buffer has of a device; nothing of a new one.
fn find_device(connection: &Connection, device: &str) -> rusqlite::Result<DeviceTally> {
    let found = connection
        .prepare_cached("SELECT messages, bytes, last_id FROM devices WHERE device = ?")?
        .query_row([device], |row| {
            Ok(DeviceTally { messages: row.get(0)?, bytes: row.get(1)?, last_id: row.get(2)? })
        })
        .optional()?;
    Ok(found.unwrap_or_default())
}

fn save_devices(connection: &Connection, devices: &HashMap<&str, DeviceTally>) -> rusqlite::Result<()> {
    let mut statement = connection.prepare_cached("INSERT OR REPLACE INTO devices VALUES (?, ?, ?, ?)")?;
    for (device, tally) in devices {
        statement.execute((device, tally.messages, tally.bytes, tally.last_id))?;
    }
    Ok(())
}

/// Lets the oldest go until the quarantine is within its limit.
fn trim_quarantine(connection: &Connection, kept: &mut Kept, limit: Kept) -> rusqlite::Result<()> {
    let mut oldest = connection.prepare_cached(
        "DELETE FROM quarantine WHERE id = (SELECT min(id) FROM quarantine) RETURNING length(raw)",
    )?;
    while kept.messages > 0 && (kept.messages > limit.messages || kept.bytes > limit.bytes) {
        let bytes: u64 = oldest.query_row([], |row| row.get(0))?;
        kept.messages -= 1;
        kept.bytes = kept.bytes.saturating_sub(bytes);
    }
    Ok(())
}
