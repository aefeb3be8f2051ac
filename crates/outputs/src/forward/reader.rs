//! Decides what a forwarder reads from the buffer, one read at a time: new messages, messages that were unloaded from memory, and dead
//! letters to retry.

use super::{
    call::Target,
    retries::Retries,
    window::{Wanted, Window},
};
use crate::{Catalog, Message};
use dunnage_buffer::{Change, ReadError, Use};
use futures_util::future::BoxFuture;
use std::{
    sync::Arc,
    time::{Duration, Instant},
};
use tokio::task::Id;

/// Largest number of messages to read at a time. SQLite cannot shorten the log during a long read.
const READ: u32 = 256;
/// Delay after a failed read.
const RETRY_DELAY: Duration = Duration::from_millis(500);

/// The result of a read, in the order of the request; `None` for a message that is no longer in the buffer. It may end early.
pub type Found = Result<Vec<Option<Message>>, ReadError>;

/// What is being read.
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
    /// Whether the last read was one by IDs.
    loaded_last: bool,
    not_before: Option<Instant>,
}

impl Reader {
    /// Creates a reader that begins after the message ID `cursor`.
    pub fn new(target: Arc<Target>, cursor: i64) -> Reader {
        Reader {
            target,
            last: cursor,
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

    /// Retries dead letters.
    pub fn retry(&mut self, ids: Vec<i64>) {
        self.dead_letters.add(ids);
    }

    /// Returns the next read, unless one is in progress or there is nothing to read. `calls` is how many calls there may be at a time, 0
    /// while the breaker pauses the output. The caller spawns the read, and passes the task's ID to [`Reader::started`].
    pub fn next(
        &mut self,
        window: &mut Window,
        (calling, calls): (bool, usize),
        now: Instant,
    ) -> Option<BoxFuture<'static, Found>> {
        if self.reading.is_some() || self.not_before.is_some_and(|at| at > now) {
            return None;
        }
        let room = window.wants_more(calls);
        let reads_new = self.more && (calling || window.waiting() == 0) && room;
        // Alternate between new messages and reads by ID, so that neither holds up the other.
        if reads_new && self.loaded_last {
            return Some(self.read_new());
        }
        let wanted = if calling || window.is_idle() { window.want() } else { Wanted::new() };
        if !wanted.is_empty() {
            let ids: Vec<_> = wanted.iter().flat_map(|(_, ids)| ids).copied().collect();
            return Some(self.load(Request::Window(wanted), ids));
        }
        if !self.dead_letters.is_empty() && room {
            let ids = self.dead_letters.take(READ as usize);
            return Some(self.load(Request::DeadLetters(ids.clone()), ids));
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
        let failed = found.is_err();
        let found = found.unwrap_or_default();
        match self.reading.take() {
            Some(Request::New) => {
                self.more |= failed || !found.is_empty();
                for message in found.into_iter().flatten() {
                    self.last = message.id;
                    window.add(message, now);
                }
            }
            Some(Request::Window(wanted)) => {
                let gone = window.load(wanted, found, now);
                if gone > 0 {
                    tracing::warn!(output = %self.target.name, messages = gone, "messages left the buffer before they were delivered");
                }
            }
            Some(Request::DeadLetters(ids)) => {
                // Request those again that did not fit into the answer.
                self.dead_letters.put_back(&ids[found.len()..]);
                let gone = ids.iter().zip(&found).filter(|(_, found)| found.is_none());
                self.resolve(gone.map(|(id, _)| *id).collect());
                found.iter().flatten().for_each(|message| window.add_dead_letter(message, now));
            }
            None => {}
        }
    }

    /// Handles a panic of the task `id`. If that was the read, the read counts as failed and is repeated.
    pub fn panicked(&mut self, id: Id, window: &mut Window, now: Instant) {
        if self.task == Some(id) {
            self.ended(Err(ReadError), window, now);
        }
    }

    /// Reads the messages with these IDs.
    fn load(&mut self, request: Request, ids: Vec<i64>) -> BoxFuture<'static, Found> {
        (self.reading, self.loaded_last) = (Some(request), true);
        let source = self.target.outputs.source();
        let catalog = (source.catalog)();
        let read = source.readers.of(Use::Outputs).by_ids(ids);
        Box::pin(async move {
            let found = read.await?.into_iter();
            Ok(found.map(|found| found.map(|stored| with_catalog(stored, &*catalog))).collect())
        })
    }

    /// Reads the next new messages.
    fn read_new(&mut self) -> BoxFuture<'static, Found> {
        (self.reading, self.loaded_last, self.more) = (Some(Request::New), false, false);
        let source = self.target.outputs.source();
        let catalog = (source.catalog)();
        let read = source.readers.of(Use::Outputs).after(self.last, READ);
        Box::pin(async move {
            let found = read.await?.into_iter();
            Ok(found.map(|stored| Some(with_catalog(stored, &*catalog))).collect())
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
        let queue = self.target.outputs.source().queue.clone();
        tokio::spawn(async move { queue.change(Change::Resolved { output, message_ids: Some(ids) }).await });
    }
}

fn with_catalog(stored: dunnage_buffer::Message, catalog: &dyn Catalog) -> Message {
    Message { path: catalog.path(&stored.device), media_type: catalog.media_type(&stored.format), stored }
}
