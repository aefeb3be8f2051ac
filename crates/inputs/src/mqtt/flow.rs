//! The messages of a client on their way to the disk. They are submitted one after the other, wait for their commits together, and are
//! written and acknowledged in the order of their arrival.
//!
//! When a batch of the writer fails, the later messages of the flow are refused as well. They are then submitted again, each after the
//! commit of the one before, and the flow takes no further message until all of them are on disk.

use crate::Environment;
use dunnage_buffer::{FailedBatches, Queue};
use dunnage_clients::mqtt::reason::{Reason, Refusal};
use dunnage_ingest::{Rejected, Submitted};
use futures_util::future::BoxFuture;
use mqtt_protocol_core::mqtt::packet::Qos;
use std::{
    collections::VecDeque,
    future::poll_fn,
    sync::Arc,
    task::{Context, Poll},
};

/// An idle connection keeps memory for at most this many messages.
const IDLE: usize = 8;

/// The packet identifier and the QoS that an acknowledgement refers to.
pub type To = (u16, Qos);
/// Resolves when a message has been submitted to the queue.
type Submitting = BoxFuture<'static, Result<Submitted, Rejected>>;
/// Resolves when a message is committed.
pub type Storing = BoxFuture<'static, Outcome>;

/// The result of a message.
#[derive(Debug)]
pub enum Outcome {
    /// It is on disk, perhaps since an earlier transmission.
    Stored,
    /// It is in the quarantine, or the client may not send it.
    Refused(Refusal),
    /// The gateway stopped before the message was on disk. Its sender still has it.
    Left,
}

impl From<Result<(), Rejected>> for Outcome {
    fn from(stored: Result<(), Rejected>) -> Outcome {
        match stored {
            Ok(()) => Outcome::Stored,
            Err(rejected) if rejected.is_temporary() => Outcome::Left,
            Err(rejected) => Outcome::Refused(Refusal::new(Reason::Payload, rejected.told())),
        }
    }
}

/// Counts a message that is stored already.
pub fn duplicate(env: &Arc<Environment>) -> Storing {
    let env = Arc::clone(env);
    Box::pin(async move {
        let ack = {
            let mut in_flight = env.ingest.receive();
            env.ingest.buffer.queue.duplicate(|| in_flight.queued())
        };
        if let Ok(ack) = ack {
            // An error does not matter here, because the message itself has been committed.
            let _ = ack.commit().await;
        }
        Outcome::Stored
    })
}

/// The pending messages of a client.
pub struct Flow<C> {
    submitting: Option<(To, Submitting)>,
    storing: VecDeque<(To, Storing)>,
    commit: C,
    most: usize,
    failed_batches: FailedBatches,
    /// The count of failed batches when the flow was last empty.
    failed_before: u64,
}

impl<C: Fn(Submitted) -> Storing> Flow<C> {
    /// Creates a flow of at most `most` messages at a time to `queue`. `commit` returns the wait for the commit of a message in the queue.
    pub fn new(queue: &Queue, most: usize, commit: C) -> Self {
        let failed_batches = queue.failed_batches().clone();
        let failed_before = failed_batches.count();
        Flow { submitting: None, storing: VecDeque::new(), commit, most, failed_batches, failed_before }
    }

    /// Returns whether there is room for another message.
    pub fn is_open(&self) -> bool {
        let in_order = self.storing.is_empty() || self.failed_batches.count() == self.failed_before;
        self.submitting.is_none() && self.storing.len() < self.most && in_order
    }

    pub fn is_empty(&self) -> bool {
        self.submitting.is_none() && self.storing.is_empty()
    }

    /// Returns the number of pending messages of QoS 1 and 2.
    pub fn unacknowledged(&self) -> usize {
        let all = self.submitting.iter().map(|(to, _)| to).chain(self.storing.iter().map(|(to, _)| to));
        all.filter(|(_, qos)| *qos != Qos::AtMostOnce).count()
    }

    /// Adds a message that is to be stored. `submit` gets the count of failed batches for [`dunnage_ingest::Ingest::submit_retrying`].
    pub fn submit<S>(&mut self, to: To, submit: impl FnOnce(u64) -> S)
    where
        S: Future<Output = Result<Submitted, Rejected>> + Send + 'static,
    {
        if self.is_empty() {
            self.failed_before = self.failed_batches.count();
        }
        self.submitting = Some((to, Box::pin(submit(self.failed_before))));
    }

    /// Adds another answer, to be sent in its turn.
    pub fn answer(&mut self, to: To, answer: Storing) {
        self.storing.push_back((to, answer));
    }

    /// Waits for progress. Returns the messages that are done, in the order of their arrival.
    pub async fn advance(&mut self) -> Vec<(To, Outcome)> {
        poll_fn(|context| self.poll(context)).await
    }

    fn poll(&mut self, context: &mut Context<'_>) -> Poll<Vec<(To, Outcome)>> {
        let mut done = Vec::new();
        let mut moved = false;
        if let Some((to, submitting)) = &mut self.submitting
            && let Poll::Ready(submitted) = submitting.as_mut().poll(context)
        {
            let storing = match submitted {
                Ok(submitted) => (self.commit)(submitted),
                Err(rejected) => Box::pin(std::future::ready(Outcome::from(Err(rejected)))),
            };
            self.storing.push_back((*to, storing));
            self.submitting = None;
            moved = true;
        }
        while let Some((to, storing)) = self.storing.front_mut()
            && let Poll::Ready(stored) = storing.as_mut().poll(context)
        {
            done.push((*to, stored));
            self.storing.pop_front();
        }
        if self.storing.is_empty() && self.storing.capacity() > IDLE {
            self.storing = VecDeque::new();
        }
        match moved || !done.is_empty() {
            true => Poll::Ready(done),
            false => Poll::Pending,
        }
    }
}
