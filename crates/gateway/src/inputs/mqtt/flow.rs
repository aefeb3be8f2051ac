//! Messages of a client that are under way to the disk: they enter the queue one after the other, wait for their commits
//! together, and are acknowledged in their order.

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

/// For how many messages an idle connection keeps memory.
const IDLE: usize = 8;

/// Whom an acknowledgement goes to: a packet's identifier and its QoS.
pub type To = (u16, Qos);
/// A message that waits for its place in the queue.
pub type Entering = BoxFuture<'static, Result<Entered, Problem>>;
/// A message that waits for its commit.
pub type Storing = BoxFuture<'static, Outcome>;

/// What became of a message.
#[derive(Debug)]
pub enum Outcome {
    /// It is durable, or was already.
    Stored,
    /// It is in the quarantine, or may not be sent.
    Refused(Refusal),
    /// The gateway stops before it is durable: its sender keeps it.
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
            // What counts is the commit of the message itself, which is over.
            let _ = durable.commit().await;
        }
        Outcome::Stored
    })
}

/// What is under way.
pub struct Flow<C> {
    entering: Option<(To, Entering)>,
    storing: VecDeque<(To, Storing)>,
    commit: C,
    most: usize,
}

impl<C: Fn(Entered) -> Storing> Flow<C> {
    /// At most `most` messages at a time; `commit` says how one that has entered is stored.
    pub fn new(most: usize, commit: C) -> Self {
        Flow { entering: None, storing: VecDeque::new(), commit, most }
    }

    /// Whether another message may come.
    pub fn is_open(&self) -> bool {
        self.entering.is_none() && self.storing.len() < self.most
    }

    pub fn is_empty(&self) -> bool {
        self.entering.is_none() && self.storing.is_empty()
    }

    /// How many of QoS 1 and 2 are under way.
    pub fn unacknowledged(&self) -> usize {
        let all = self.entering.iter().map(|(to, _)| to).chain(self.storing.iter().map(|(to, _)| to));
        all.filter(|(_, qos)| *qos != Qos::AtMostOnce).count()
    }

    /// A message that is to be stored.
    pub fn enter(&mut self, to: To, message: Entering) {
        self.entering = Some((to, message));
    }

    /// Something else that is to be answered in its turn.
    pub fn answer(&mut self, to: To, answer: Storing) {
        self.storing.push_back((to, answer));
    }

    /// Waits until something has happened: what is done, in the order in which it came.
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
