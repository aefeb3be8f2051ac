//! The outputs of a running gateway, as the API sees them: what they do, and what they set aside.

use super::{Forwarder, Meter, Named, Status};
use crate::{
    buffer::{
        Change, Use,
        undelivered::{self, Undelivered},
    },
    shared::Shared,
};
use std::{
    sync::{Arc, PoisonError, RwLock},
    time::Duration,
};
use tokio::sync::{mpsc, watch};

/// Most messages that are tried again by one [`Outputs::retry`].
pub const RETRIES: usize = 100_000;

/// The outputs that run. It is there before they are, and is empty then.
#[derive(Default)]
pub struct Outputs(RwLock<Vec<Handle>>);

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
    /// Makes the forwarder of an output, which goes on behind the message `cursor` and is seen here from now on.
    pub fn forwarder(
        &self,
        named: Named,
        cursor: i64,
        shared: &Arc<Shared>,
        stopping: watch::Receiver<bool>,
    ) -> Forwarder {
        let meter = Arc::new(shared.metrics.outputs.meter(&named.name));
        let (again, commands) = mpsc::channel(16);
        let handle = Handle { name: Arc::clone(&named.name), meter: Arc::clone(&meter), again };
        let mut handles = self.0.write().unwrap_or_else(PoisonError::into_inner);
        handles.retain(|other| other.name != handle.name);
        handles.push(handle);
        drop(handles);
        let drain = Duration::from_secs(shared.http.drain_timeout_seconds);
        Forwarder::new(named, cursor, (Arc::clone(shared), meter), commands, stopping, drain)
    }

    /// What each does, in the order of the configuration. `last` is the id of the last message stored.
    pub fn statuses(&self, last: i64) -> Vec<Status> {
        self.handles().iter().map(|handle| handle.meter.status(last)).collect()
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.0.read().unwrap_or_else(PoisonError::into_inner).len()
    }

    /// Every message of the buffer up to this one is done with at all outputs. Without outputs, all are.
    pub fn delivered(&self) -> i64 {
        let handles = self.0.read().unwrap_or_else(PoisonError::into_inner);
        handles.iter().map(|handle| handle.meter.cursor()).min().unwrap_or(i64::MAX)
    }

    /// Sets the gauges of all to what they are at this moment.
    pub fn gauge(&self, last: i64) {
        self.handles().iter().for_each(|handle| handle.meter.gauge(last));
    }

    /// What `output` set aside, the oldest message first: at most `limit`, with ids above `after`. It need not run.
    pub async fn set_aside(
        &self,
        shared: &Shared,
        output: &str,
        after: i64,
        limit: u32,
    ) -> Result<Vec<Undelivered>, AsideError> {
        let output = output.to_owned();
        let list = shared.readers.of(Use::Outputs).read(move |c| undelivered::list(c, &output, after, limit));
        list.await.ok_or(AsideError::Buffer)
    }

    /// Has an output try again what it set aside, [`RETRIES`] of it at most. Answers how many messages; they leave the list
    /// as they are delivered, or are set aside anew.
    pub async fn retry(&self, shared: &Shared, output: &str, which: Which) -> Result<u64, AsideError> {
        let unknown = || AsideError::Unknown(output.into());
        let handle = self.handles().into_iter().find(|h| &*h.name == output).ok_or_else(unknown)?;
        let ids = ids(shared, output, which, RETRIES).await?;
        let count = ids.len() as u64;
        handle.again.send(ids).await.map_err(|_| unknown())?;
        Ok(count)
    }

    /// Gives up what an output set aside; it need not run any more. Answers how many messages.
    pub async fn give_up(&self, shared: &Shared, output: &str, which: Which) -> Result<u64, AsideError> {
        let all = which == Which::All;
        let ids = ids(shared, output, which, usize::MAX >> 1).await?;
        let count = ids.len() as u64;
        let change = Change::Settled { output: output.into(), message_ids: (!all).then_some(ids) };
        shared.queue.change(change).await.map_err(|_| AsideError::Buffer)?;
        tracing::warn!(output, messages = count, "messages that were set aside are given up");
        if let Some(handle) = self.handles().iter().find(|h| &*h.name == output) {
            handle.meter.dropped(count);
        }
        Ok(count)
    }

    fn handles(&self) -> Vec<Handle> {
        self.0.read().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

async fn ids(shared: &Shared, output: &str, which: Which, limit: usize) -> Result<Vec<i64>, AsideError> {
    let output = output.to_owned();
    let wanted = match which {
        Which::All => None,
        Which::Ids(ids) => Some(ids),
    };
    let read =
        shared.readers.of(Use::Outputs).read(move |c| undelivered::ids(c, &output, wanted.as_deref(), limit));
    read.await.ok_or(AsideError::Buffer)
}
