//! The outputs of a running gateway, for the API: their status and their dead letters.

use super::{Families, Forwarder, Meter, Named, Source, Status};
use dunnage_buffer::{Change, DeadLetter, Use};
use std::{
    sync::{Arc, PoisonError, RwLock},
    time::Duration,
};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

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
    meter: Arc<Meter>,
    again: mpsc::Sender<Vec<i64>>,
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

    /// Creates the forwarder of an output, which begins after the message ID `cursor`, and adds the output to this set. The caller runs the
    /// forwarder until `stopping` is cancelled.
    pub fn forwarder(self: &Arc<Self>, named: Named, cursor: i64, stopping: CancellationToken) -> Forwarder {
        let meter = Arc::new(self.metrics.meter(&named.name));
        let (again, commands) = mpsc::channel(16);
        let handle = Handle { name: Arc::clone(&named.name), meter: Arc::clone(&meter), again };
        let mut handles = self.handles.write().unwrap_or_else(PoisonError::into_inner);
        handles.retain(|other| other.name != handle.name);
        handles.push(handle);
        drop(handles);
        Forwarder::new(named, cursor, Arc::clone(self), meter, commands, stopping)
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

    /// Returns the name of each output, and the last message ID before which it has resolved everything.
    pub(crate) fn cursors(&self) -> Vec<(String, i64)> {
        self.handles().iter().map(|handle| (handle.name.to_string(), handle.meter.cursor())).collect()
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
        let readers = self.source.readers.of(Use::Outputs);
        readers.dead_letters(output.into(), after, limit).await.map_err(|_| DeadLetterError::Buffer)
    }

    /// Makes an output retry its dead letters, at most `RETRIES`. Returns how many. A dead letter leaves the list when it is delivered,
    /// and stays if it is refused again.
    pub async fn retry(&self, output: &str, which: Which) -> Result<u64, DeadLetterError> {
        let unknown = || DeadLetterError::Unknown(output.into());
        let handle = self.handles().into_iter().find(|h| &*h.name == output).ok_or_else(unknown)?;
        let ids = self.ids(output, which, RETRIES).await?;
        let count = ids.len() as u64;
        handle.again.send(ids).await.map_err(|_| unknown())?;
        Ok(count)
    }

    /// Discards dead letters of an output, which need not be running. Returns how many.
    pub async fn discard(&self, output: &str, which: Which) -> Result<u64, DeadLetterError> {
        let all = which == Which::All;
        let ids = self.ids(output, which, usize::MAX >> 1).await?;
        let count = ids.len() as u64;
        let change = Change::Resolved { output: output.into(), message_ids: (!all).then_some(ids) };
        self.source.queue.change(change).await.map_err(|_| DeadLetterError::Buffer)?;
        tracing::warn!(output, messages = count, "dead letters were discarded");
        if let Some(handle) = self.handles().iter().find(|h| &*h.name == output) {
            handle.meter.dropped(count);
        }
        Ok(count)
    }

    fn handles(&self) -> Vec<Handle> {
        self.handles.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    async fn ids(&self, output: &str, which: Which, limit: usize) -> Result<Vec<i64>, DeadLetterError> {
        let wanted = match which {
            Which::All => None,
            Which::Ids(ids) => Some(ids),
        };
        let readers = self.source.readers.of(Use::Outputs);
        readers.dead_letter_ids(output.into(), wanted, limit).await.map_err(|_| DeadLetterError::Buffer)
    }
}
