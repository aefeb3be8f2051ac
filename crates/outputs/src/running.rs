//! The outputs of a running gateway, as the API sees them: what they do, and what they set aside.

use super::{Families, Forwarder, Meter, Named, Source, Status};
use dunnage_buffer::{Change, DeadLetter, Use};
use std::{
    sync::{Arc, PoisonError, RwLock},
    time::Duration,
};
use tokio::sync::{mpsc, watch};

/// Most messages that are tried again by one [`Outputs::retry`].
pub const RETRIES: usize = 100_000;

/// The outputs that run. It is there before they are, and is empty then.
pub struct Outputs {
    handles: RwLock<Vec<Handle>>,
    source: Source,
    metrics: Families,
    /// How long calls under way have to end when the gateway stops.
    drain: Duration,
}

/// One of them.
#[derive(Clone)]
pub struct Handle {
    name: Arc<str>,
    meter: Arc<Meter>,
    again: mpsc::Sender<Vec<i64>>,
}

/// Which of the messages that an output set aside.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Which {
    /// Every one.
    All,
    /// Those with these ids.
    Ids(Vec<i64>),
}

/// Why nothing was done with what was set aside.
#[derive(Debug, thiserror::Error)]
pub enum AsideError {
    /// There is no such output, now.
    #[error("there is no output {0:?}")]
    Unknown(String),
    /// The buffer cannot be read or written; the log has the reason.
    #[error("the buffer cannot be used")]
    Buffer,
}

impl Outputs {
    /// No output yet. Those to come read from `source` and count in `metrics`; at the stop, calls under way have the time `drain` to end.
    pub fn new(source: Source, metrics: Families, drain: Duration) -> Outputs {
        Outputs { handles: RwLock::default(), source, metrics, drain }
    }

    /// Makes the forwarder of an output, which goes on behind the message `cursor` and is seen here from now on. It is to be run until
    /// `stopping` says true.
    pub fn forwarder(
        self: &Arc<Self>,
        named: Named,
        cursor: i64,
        stopping: watch::Receiver<bool>,
    ) -> Forwarder {
        let meter = Arc::new(self.metrics.meter(&named.name));
        let (again, commands) = mpsc::channel(16);
        let handle = Handle { name: Arc::clone(&named.name), meter: Arc::clone(&meter), again };
        let mut handles = self.handles.write().unwrap_or_else(PoisonError::into_inner);
        handles.retain(|other| other.name != handle.name);
        handles.push(handle);
        drop(handles);
        Forwarder::new(named, cursor, Arc::clone(self), meter, commands, stopping)
    }

    /// Where messages come from.
    pub(crate) fn source(&self) -> &Source {
        &self.source
    }

    /// How long calls under way have to end when the gateway stops.
    pub(crate) fn drain(&self) -> Duration {
        self.drain
    }

    /// What each does, in the order of the configuration. `last` is the id of the last message stored.
    pub fn statuses(&self, last: i64) -> Vec<Status> {
        self.handles().iter().map(|handle| handle.meter.status(last)).collect()
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.handles.read().unwrap_or_else(PoisonError::into_inner).len()
    }

    /// Every message of the buffer up to this one is done with at all outputs. Without outputs, all are.
    pub fn delivered(&self) -> i64 {
        let handles = self.handles.read().unwrap_or_else(PoisonError::into_inner);
        handles.iter().map(|handle| handle.meter.cursor()).min().unwrap_or(i64::MAX)
    }

    /// Sets the gauges of all to what they are at this moment.
    pub fn gauge(&self, last: i64) {
        self.handles().iter().for_each(|handle| handle.meter.gauge(last));
    }

    /// What `output` set aside, the oldest message first: at most `limit`, with ids above `after`. It need not run.
    pub async fn set_aside(
        &self,
        output: &str,
        after: i64,
        limit: u32,
    ) -> Result<Vec<DeadLetter>, AsideError> {
        let readers = self.source.readers.of(Use::Outputs);
        readers.dead_letters(output.into(), after, limit).await.map_err(|_| AsideError::Buffer)
    }

    /// Has an output try again what it set aside, [`RETRIES`] of it at most. Answers how many messages; they leave the list
    /// as they are delivered, or are set aside anew.
    pub async fn retry(&self, output: &str, which: Which) -> Result<u64, AsideError> {
        let unknown = || AsideError::Unknown(output.into());
        let handle = self.handles().into_iter().find(|h| &*h.name == output).ok_or_else(unknown)?;
        let ids = self.ids(output, which, RETRIES).await?;
        let count = ids.len() as u64;
        handle.again.send(ids).await.map_err(|_| unknown())?;
        Ok(count)
    }

    /// Gives up what an output set aside; it need not run any more. Answers how many messages.
    pub async fn give_up(&self, output: &str, which: Which) -> Result<u64, AsideError> {
        let all = which == Which::All;
        let ids = self.ids(output, which, usize::MAX >> 1).await?;
        let count = ids.len() as u64;
        let change = Change::Resolved { output: output.into(), message_ids: (!all).then_some(ids) };
        self.source.queue.change(change).await.map_err(|_| AsideError::Buffer)?;
        tracing::warn!(output, messages = count, "messages that were set aside are given up");
        if let Some(handle) = self.handles().iter().find(|h| &*h.name == output) {
            handle.meter.dropped(count);
        }
        Ok(count)
    }

    fn handles(&self) -> Vec<Handle> {
        self.handles.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    async fn ids(&self, output: &str, which: Which, limit: usize) -> Result<Vec<i64>, AsideError> {
        let wanted = match which {
            Which::All => None,
            Which::Ids(ids) => Some(ids),
        };
        let readers = self.source.readers.of(Use::Outputs);
        readers.dead_letter_ids(output.into(), wanted, limit).await.map_err(|_| AsideError::Buffer)
    }
}
