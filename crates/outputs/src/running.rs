//! The outputs of a running gateway, for the API: their status and their dead letters.

use super::{
    Families, Forwarder, Meter, Named, Source, Status,
    replay::{ReplayAnswer, ReplayCommand, impossible},
};
use dunnage_buffer::{Change, DeadLetter, Position, Use};
use serde::Serialize;
use std::{
    sync::{Arc, PoisonError, RwLock},
    time::Duration,
};
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::CancellationToken;
use utoipa::ToSchema;

/// Largest number of dead letters that one [`Outputs::retry`] retries.
pub const RETRIES: usize = 100_000;

/// The running outputs. Created empty, before the outputs are started.
pub struct Outputs {
    handles: RwLock<Vec<Handle>>,
    source: Source,
    metrics: Families,
    /// How long calls in progress may take to end when the gateway stops.
    drain: Duration,
}

/// A running output.
#[derive(Clone)]
pub struct Handle {
    name: Arc<str>,
    pub(crate) meter: Arc<Meter>,
    pub(crate) commands: mpsc::Sender<Command>,
    /// Why it cannot have replays.
    pub(crate) no_replay: Option<&'static str>,
}

/// A command of an operator to a forwarder.
pub enum Command {
    /// Retry the dead letters with these message IDs.
    Retry(Vec<i64>),
    /// Begin or change a replay.
    Replay(ReplayCommand, ReplayAnswer),
    /// Return the messages that are retried, at most this many.
    Retried(usize, oneshot::Sender<Vec<RetriedMessage>>),
    /// Discard messages and dead letters that are retried. Return how many messages.
    Discard(Which, oneshot::Sender<u64>),
}

/// A message whose delivery failed and is retried. It holds up the later ones of its device.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct RetriedMessage {
    /// The message ID.
    pub id: i64,
    /// Its device; empty for an output that delivers messages of all devices in one order.
    pub device: String,
    /// When the last call failed, as RFC 3339.
    pub failed_at: String,
    /// How many calls have failed since the last success of its device.
    pub calls: u32,
    /// Why the last one failed.
    pub reason: String,
}

/// Selects dead letters of an output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Which {
    /// All of them.
    All,
    /// Those with these message IDs.
    Ids(Vec<i64>),
}

/// Why dead letters could not be read, retried or discarded.
#[derive(Debug, thiserror::Error)]
pub enum DeadLetterError {
    /// No output with this name is running.
    #[error("there is no output {0:?}")]
    Unknown(String),
    /// The buffer cannot be read or written. The log has the cause.
    #[error("the buffer cannot be read or written; the log has the cause")]
    Buffer,
}

impl Outputs {
    /// Creates an empty set. Outputs read from `source` and count in `metrics`. When the gateway stops, calls in progress have the time
    /// `drain` to end.
    pub fn new(source: Source, metrics: Families, drain: Duration) -> Outputs {
        Outputs { handles: RwLock::default(), source, metrics, drain }
    }

    /// Creates the forwarder of an output, which begins at `position`, and adds the output to this set. The caller runs the
    /// forwarder until `stopping` is cancelled.
    pub fn forwarder(
        self: &Arc<Self>,
        named: Named,
        position: Position,
        stopping: CancellationToken,
    ) -> Forwarder {
        let no_replay = impossible(named.output.shape().partitions, named.expressions.until.is_some());
        let meter = Arc::new(self.metrics.meter(&named.name, no_replay.is_none()));
        let (sender, commands) = mpsc::channel(16);
        let handle =
            Handle { name: Arc::clone(&named.name), meter: Arc::clone(&meter), commands: sender, no_replay };
        let mut handles = self.handles.write().unwrap_or_else(PoisonError::into_inner);
        handles.retain(|other| other.name != handle.name);
        handles.push(handle);
        drop(handles);
        Forwarder::new(named, position, Arc::clone(self), meter, commands, stopping)
    }

    /// Returns where outputs read messages.
    pub(crate) fn source(&self) -> &Source {
        &self.source
    }

    /// Returns how long calls in progress may take to end when the gateway stops.
    pub(crate) fn drain(&self) -> Duration {
        self.drain
    }

    /// Returns the status of each output, in the order in which they were started. `last` is the last message ID stored.
    pub fn statuses(&self, last: i64) -> Vec<Status> {
        self.handles().iter().map(|handle| handle.meter.status(last)).collect()
    }

    /// Returns how many outputs are running.
    pub fn count(&self) -> usize {
        self.handles.read().unwrap_or_else(PoisonError::into_inner).len()
    }

    /// Returns the last message ID before which all outputs have resolved everything. Without outputs, this is `i64::MAX`.
    pub fn delivered(&self) -> i64 {
        let handles = self.handles.read().unwrap_or_else(PoisonError::into_inner);
        handles.iter().map(|handle| handle.meter.cursor()).min().unwrap_or(i64::MAX)
    }

    /// Returns the name of each output, and its progress.
    pub(crate) fn positions(&self) -> Vec<(String, Position)> {
        self.handles().iter().map(|handle| (handle.name.to_string(), handle.meter.position())).collect()
    }

    /// Sets the gauges of all outputs to the current values.
    pub fn gauge(&self, last: i64) {
        self.handles().iter().for_each(|handle| handle.meter.gauge(last));
    }

    /// Returns the dead letters of `output` with message IDs above `after`, in ascending order, at most `limit`. The output need not be
    /// running.
    pub async fn dead_letters(
        &self,
        output: &str,
        after: i64,
        limit: u32,
    ) -> Result<Vec<DeadLetter>, DeadLetterError> {
        let readers = self.source.buffer.readers.of(Use::Outputs);
        readers.dead_letters(output.into(), after, limit).await.map_err(|_| DeadLetterError::Buffer)
    }

    /// Makes an output retry its dead letters, at most `RETRIES`. Returns how many. A dead letter leaves the list when it is delivered,
    /// and stays if it is refused again.
    pub async fn retry(&self, output: &str, which: Which) -> Result<u64, DeadLetterError> {
        let unknown = || DeadLetterError::Unknown(output.into());
        let handle = self.handle(output).ok_or_else(unknown)?;
        let ids = self.ids(output, which, RETRIES).await?;
        let count = ids.len() as u64;
        handle.commands.send(Command::Retry(ids)).await.map_err(|_| unknown())?;
        Ok(count)
    }

    /// Returns the messages of an output that are retried, the oldest first, at most `limit`: the first one of each device whose last call
    /// failed. None if the output is not running.
    pub async fn retried(&self, output: &str, limit: usize) -> Vec<RetriedMessage> {
        let Some(handle) = self.handle(output) else { return Vec::new() };
        let (answer, retried) = oneshot::channel();
        // An error means that the output has ended. The answer then fails, too.
        let _ = handle.commands.send(Command::Retried(limit, answer)).await;
        retried.await.unwrap_or_default()
    }

    /// Discards dead letters of an output, and messages that it retries if `which` has their IDs. The output need not be running. Returns how
    /// many. A message that is retried is never delivered once the position is saved, a fraction of a second later.
    pub async fn discard(&self, output: &str, which: Which) -> Result<u64, DeadLetterError> {
        let all = which == Which::All;
        let handle = self.handle(output);
        let (answer, retried) = oneshot::channel();
        if let Some(handle) = &handle {
            let _ = handle.commands.send(Command::Discard(which.clone(), answer)).await;
        }
        let ids = self.ids(output, which, usize::MAX >> 1).await?;
        let letters = ids.len() as u64;
        let change = Change::Resolved { output: output.into(), message_ids: (!all).then_some(ids) };
        self.source.buffer.queue.change(change).await.map_err(|_| DeadLetterError::Buffer)?;
        let retried = if handle.is_some() { retried.await.unwrap_or_default() } else { 0 };
        tracing::warn!(output, dead_letters = letters, retried, "messages were discarded");
        if let Some(handle) = handle {
            handle.meter.dropped(letters + retried);
        }
        Ok(letters + retried)
    }

    pub(crate) fn handle(&self, output: &str) -> Option<Handle> {
        self.handles().into_iter().find(|handle| &*handle.name == output)
    }

    fn handles(&self) -> Vec<Handle> {
        self.handles.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    async fn ids(&self, output: &str, which: Which, limit: usize) -> Result<Vec<i64>, DeadLetterError> {
        let wanted = match which {
            Which::All => None,
            Which::Ids(ids) => Some(ids),
        };
        let readers = self.source.buffer.readers.of(Use::Outputs);
        readers.dead_letter_ids(output.into(), wanted, limit).await.map_err(|_| DeadLetterError::Buffer)
    }
}
