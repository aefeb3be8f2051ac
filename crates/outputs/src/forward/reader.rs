//! Decides what a forwarder reads from the buffer, one read at a time: new messages, messages that were dropped from memory, and dead
//! letters to retry.

use super::{call::Target, load::Wanted, partition::Part, retries::Retries, window::Window};
use crate::{Message, Which};
use dunnage_buffer::{Change, ReadError, Use};
use futures_util::future::BoxFuture;
use std::{sync::Arc, time::Duration};
use tokio::{task::Id, time::Instant};

/// Largest number of messages to read at a time. SQLite cannot shorten the log during a long read.
const READ: u32 = 256;
/// Delay after a failed read.
const RETRY_DELAY: Duration = Duration::from_millis(500);

/// The result of a read.
pub type Found = Result<Read, ReadError>;

/// The result of a read.
pub enum Read {
    /// New messages, and the last message ID that was stored before the read.
    New(Vec<Message>, i64),
    /// Messages by their IDs, in the order of the request; `None` for one that is no longer in the buffer. It may end early.
    ByIds(Vec<Option<Message>>),
    /// Messages of partitions, in the order of the request. It may end early.
    Rest(Vec<Part>),
}

/// The read in progress.
enum Request {
    /// New messages, after the last one.
    New,
    /// Messages that the window asked for.
    Window(Wanted),
    /// Dead letters to retry, by their IDs.
    DeadLetters(Vec<i64>),
}

/// The reads of a forwarder.
pub struct Reader {
    target: Arc<Target>,
    /// The last message ID that was read as new.
    last: i64,
    /// Whether there may be more new messages.
    more: bool,
    dead_letters: Retries,
    /// The read in progress, and its task.
    reading: Option<Request>,
    task: Option<Id>,
    /// Whether the last read was one of messages that the window asked for.
    loaded_last: bool,
    not_before: Option<Instant>,
}

impl Reader {
    /// Creates a reader of new messages after the message ID `last`.
    pub fn new(target: Arc<Target>, last: i64) -> Reader {
        Reader {
            target,
            last,
            more: true,
            dead_letters: Retries::default(),
            reading: None,
            task: None,
            loaded_last: false,
            not_before: None,
        }
    }

    /// Returns the last message ID that was read as new.
    pub fn last(&self) -> i64 {
        self.last
    }

    /// Returns when reading continues after a failure.
    pub fn not_before(&self) -> Option<Instant> {
        self.not_before
    }

    /// Tells the reader that the buffer has new messages.
    pub fn notify(&mut self) {
        self.more = true;
    }

    /// Delivers messages again: dead letters, and messages of a replay.
    pub fn retry(&mut self, ids: Vec<i64>) {
        self.dead_letters.add(ids);
    }

    /// Returns whether no read is in progress, and no message waits to be delivered again.
    pub fn is_idle(&self) -> bool {
        self.reading.is_none() && self.dead_letters.is_empty()
    }

    /// Returns whether a message waits to be delivered again, and has not reached the window.
    pub fn retries(&self, id: i64) -> bool {
        let reading = matches!(&self.reading, Some(Request::DeadLetters(ids)) if ids.contains(&id));
        reading || self.dead_letters.has(id)
    }

    /// Forgets dead letters that were to be retried.
    pub fn discard(&mut self, which: &Which) {
        self.dead_letters.discard(which);
    }

    /// Returns whether a read is in progress, or would be of messages of partitions that do not fail. While the breaker pauses the output,
    /// a probe waits for these.
    pub fn may_find_others(&self, window: &Window) -> bool {
        self.reading.is_some() || window.is_thin() || self.reads_new(window, (false, 1))
    }

    /// Returns whether to read new messages. While the breaker pauses the output, that is until one of them can be the next probe.
    fn reads_new(&self, window: &Window, (calling, calls): (bool, usize)) -> bool {
        self.more && window.wants_more(calls) && (calling || !window.is_ready(false))
    }

    /// Returns the next read, unless one is in progress or there is nothing to read. `calling` is whether the breaker is closed, and `calls`
    /// how many calls there may be at a time. The caller spawns the read, and passes the task's ID to [`Reader::started`].
    pub fn next(
        &mut self,
        window: &mut Window,
        (calling, calls): (bool, usize),
        now: Instant,
    ) -> Option<BoxFuture<'static, Found>> {
        if self.reading.is_some() || self.not_before.is_some_and(|at| at > now) {
            return None;
        }
        let reads_new = self.reads_new(window, (calling, calls));
        // Alternate between new messages and others, so that neither holds up the other.
        if reads_new && self.loaded_last {
            return Some(self.read_new());
        }
        if (calling || window.is_idle() || window.is_thin())
            && let Some(wanted) = window.want()
        {
            return Some(self.load(wanted));
        }
        if !self.dead_letters.is_empty() && window.wants_more(calls) {
            let ids = self.dead_letters.take(READ as usize);
            return Some(self.by_ids(Request::DeadLetters(ids.clone()), ids));
        }
        reads_new.then(|| self.read_new())
    }

    /// Records that the task `id` runs the last read.
    pub fn started(&mut self, id: Id) {
        self.task = Some(id);
    }

    /// Adds the messages of the read that has ended to `window`. After a failure, the same is read again, after a pause.
    pub fn ended(&mut self, found: Found, window: &mut Window, now: Instant) {
        self.task = None;
        self.not_before = found.is_err().then_some(now + RETRY_DELAY);
        match (self.reading.take(), found) {
            (Some(Request::New), Ok(Read::New(found, stored))) => {
                self.more |= !found.is_empty();
                if found.is_empty() {
                    // The IDs in between were lost, or are left out after a recovery.
                    self.last = self.last.max(stored);
                }
                for message in found {
                    self.last = message.id;
                    window.add(message, now);
                }
            }
            (Some(Request::New), _) => self.more = true,
            (Some(Request::Window(Wanted::DeadLetters(wanted))), found) => {
                let found = if let Ok(Read::ByIds(found)) = found { found } else { Vec::new() };
                let gone = window.load_dead_letters(wanted, found, now);
                if gone > 0 {
                    tracing::warn!(output = %self.target.name, messages = gone, "dead letters left the buffer before they were delivered");
                }
            }
            (Some(Request::Window(Wanted::Rest(wanted, _))), found) => {
                let found = if let Ok(Read::Rest(found)) = found { found } else { Vec::new() };
                window.load_rest(wanted, found, now);
            }
            (Some(Request::DeadLetters(ids)), found) => {
                let found = if let Ok(Read::ByIds(found)) = found { found } else { Vec::new() };
                // Request those again that did not fit into the answer.
                self.dead_letters.put_back(&ids[found.len()..]);
                let gone = ids.iter().zip(&found).filter(|(_, found)| found.is_none());
                self.resolve(gone.map(|(id, _)| *id).collect());
                found.iter().flatten().for_each(|message| window.add_dead_letter(message, now));
            }
            (None, _) => {}
        }
    }

    /// Handles a panic of the task `id`. If that was the read, the read counts as failed and is repeated.
    pub fn panicked(&mut self, id: Id, window: &mut Window, now: Instant) {
        if self.task == Some(id) {
            self.ended(Err(ReadError), window, now);
        }
    }

    /// Reads the messages that the window wants.
    fn load(&mut self, wanted: Wanted) -> BoxFuture<'static, Found> {
        let (devices, limit) = match &wanted {
            Wanted::DeadLetters(partitions) => {
                let ids = partitions.iter().flat_map(|(_, ids)| ids).copied().collect();
                return self.by_ids(Request::Window(wanted), ids);
            }
            Wanted::Rest(partitions, limit) => (partitions.clone(), *limit),
        };
        (self.reading, self.loaded_last) = (Some(Request::Window(wanted)), true);
        let (source, last) = (self.target.outputs.source(), self.last);
        let (readers, catalog) = (source.buffer.readers.of(Use::Outputs), (source.catalog)());
        let target = Arc::clone(&self.target);
        let all = move |found: Vec<dunnage_buffer::Message>| -> Vec<Message> {
            found.into_iter().map(|stored| Message::with(stored, &*catalog)).collect()
        };
        // The partition without a name has the messages of all devices.
        if let [(name, after)] = &devices[..]
            && name.is_empty()
        {
            let read = readers.after(*after, u32::try_from(limit).unwrap_or(u32::MAX));
            return Box::pin(async move {
                let mut found = read.await?;
                found.retain(|message| message.id <= last);
                let more = found.last().is_some_and(|message| message.id < last);
                let mut found = all(found);
                judge(&target, found.iter_mut()).await?;
                Ok(Read::Rest(vec![(found, more)]))
            });
        }
        let read = readers.of_devices(devices, last, limit);
        Box::pin(async move {
            let parts = read.await?.into_iter();
            let mut parts: Vec<_> = parts.map(|(found, more)| (all(found), more)).collect();
            judge(&target, parts.iter_mut().flat_map(|(found, _)| found)).await?;
            Ok(Read::Rest(parts))
        })
    }

    /// Reads the messages with these IDs.
    fn by_ids(&mut self, request: Request, ids: Vec<i64>) -> BoxFuture<'static, Found> {
        (self.reading, self.loaded_last) = (Some(request), true);
        let source = self.target.outputs.source();
        let catalog = (source.catalog)();
        let (read, target) = (source.buffer.readers.of(Use::Outputs).by_ids(ids), Arc::clone(&self.target));
        Box::pin(async move {
            let found = read.await?.into_iter();
            let mut found: Vec<_> =
                found.map(|found| found.map(|stored| Message::with(stored, &*catalog))).collect();
            judge(&target, found.iter_mut().flatten()).await?;
            Ok(Read::ByIds(found))
        })
    }

    /// Reads the next new messages.
    fn read_new(&mut self) -> BoxFuture<'static, Found> {
        (self.reading, self.loaded_last, self.more) = (Some(Request::New), false, false);
        let source = self.target.outputs.source();
        let catalog = (source.catalog)();
        let last = source.buffer.stats.totals().last_message_id;
        let read = source.buffer.readers.of(Use::Outputs).after(self.last, READ);
        let target = Arc::clone(&self.target);
        Box::pin(async move {
            let found = read.await?.into_iter();
            let mut found: Vec<_> = found.map(|stored| Message::with(stored, &*catalog)).collect();
            judge(&target, found.iter_mut()).await?;
            Ok(Read::New(found, last))
        })
    }

    /// Resolves dead letters that are no longer in the buffer.
    fn resolve(&self, ids: Vec<i64>) {
        if ids.is_empty() {
            return;
        }
        let output = Arc::clone(&self.target.name);
        tracing::warn!(%output, messages = ids.len(), "dead letters are no longer in the buffer");
        self.target.meter.dropped(ids.len() as u64);
        let queue = self.target.outputs.source().buffer.queue.clone();
        tokio::spawn(async move { queue.change(Change::Resolved { output, message_ids: Some(ids) }).await });
    }
}

/// Evaluates the expressions of the output, if it has any. If that is impossible, the messages are read again later.
async fn judge(target: &Target, messages: impl Iterator<Item = &mut Message>) -> Result<(), ReadError> {
    let Some(selection) = &target.selection else { return Ok(()) };
    let judged = selection.judge(messages).await;
    // It is tried again twice a second.
    match (&judged, selection.fails(judged.is_err())) {
        (Err(error), false) => {
            tracing::error!(output = %target.name, %error, "the expressions of the output cannot be evaluated");
        }
        (Ok(()), true) => {
            tracing::info!(output = %target.name, "the expressions of the output are evaluated again");
        }
        _ => {}
    }
    judged.map_err(|_| ReadError)
}
