//! The messages of a client on their way to the disk. They enter the queue one after the other, wait for their commits together, and are
//! acknowledged in the order of their arrival.

use crate::{
    inputs::incoming::Entered,
    problem::Problem,
    shared::{InFlight, Shared},
};
use dunnage_clients::mqtt::reason::{Reason, Refusal};
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
/// Resolves when a message has its place in the queue.
pub type Entering = BoxFuture<'static, Result<Entered, Problem>>;
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

impl From<Result<(), Problem>> for Outcome {
    fn from(stored: Result<(), Problem>) -> Outcome {
        match stored {
            Ok(()) => Outcome::Stored,
            Err(problem) if problem.is_temporary() => Outcome::Left,
            Err(problem) => Outcome::Refused(Refusal::new(Reason::Payload, problem.detail)),
        }
    }
}

/// Counts a message that is stored already.
pub fn duplicate(shared: &Arc<Shared>) -> Storing {
    let shared = Arc::clone(shared);
    Box::pin(async move {
        let durable = {
            let mut arrival = InFlight::new(&shared.stats);
            shared.queue.duplicate(|| arrival.queued())
        };
        if let Ok(durable) = durable {
            // An error does not matter here, because the message itself has been committed.
            let _ = durable.commit().await;
        }
        Outcome::Stored
    })
}

/// The pending messages of a client.
pub struct Flow<C> {
    entering: Option<(To, Entering)>,
    storing: VecDeque<(To, Storing)>,
    commit: C,
    most: usize,
}

impl<C: Fn(Entered) -> Storing> Flow<C> {
    /// Creates a flow of at most `most` messages at a time. `commit` returns the wait for the commit of a message in the queue.
    pub fn new(most: usize, commit: C) -> Self {
        Flow { entering: None, storing: VecDeque::new(), commit, most }
    }

    /// Returns whether there is room for another message.
    pub fn is_open(&self) -> bool {
        self.entering.is_none() && self.storing.len() < self.most
    }

    pub fn is_empty(&self) -> bool {
        self.entering.is_none() && self.storing.is_empty()
    }

    /// Returns the number of pending messages of QoS 1 and 2.
    pub fn unacknowledged(&self) -> usize {
        let all = self.entering.iter().map(|(to, _)| to).chain(self.storing.iter().map(|(to, _)| to));
        all.filter(|(_, qos)| *qos != Qos::AtMostOnce).count()
    }

    /// Adds a message that is to be stored.
    pub fn enter(&mut self, to: To, message: Entering) {
        self.entering = Some((to, message));
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
        if let Some((to, entering)) = &mut self.entering
            && let Poll::Ready(entered) = entering.as_mut().poll(context)
        {
            let storing = match entered {
                Ok(entered) => (self.commit)(entered),
                Err(problem) => Box::pin(std::future::ready(Outcome::from(Err(problem)))),
            };
            self.storing.push_back((*to, storing));
            self.entering = None;
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
