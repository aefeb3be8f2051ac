//! Stores messages of inputs that do not reject a message when the buffer is full: the message waits for room and for the disk.

use super::{
    content_type::encoding,
    take::{Arrived, Queued, enqueue},
};
use crate::{
    problem::Problem,
    shared::{InFlight, Shared},
};
use axum::{body::Bytes, http::StatusCode};
use dunnage_buffer::{NewQuarantined, Provenance, Reservation};
use std::{sync::Arc, time::Duration};
use tokio::sync::watch;

/// The first and the longest pause before another attempt.
const PAUSES: (Duration, Duration) = (Duration::from_millis(5), Duration::from_secs(1));
/// How many characters of a `Content-Type` the quarantine keeps.
const CONTENT_TYPE: usize = 256;

/// A message that has been received completely.
pub struct Incoming {
    /// The input's name in metrics.
    pub input: &'static str,
    /// Where it came from.
    pub provenance: Provenance,
    /// The format, as a media type; empty if the sender names none.
    pub content_type: String,
    /// Its bytes.
    pub raw: Bytes,
    /// Why it cannot be decoded, if the input has found out. Such a message goes into the quarantine undecoded.
    pub bad: Option<Problem>,
}

impl Incoming {
    /// Returns the ID of its device.
    pub fn device(&self) -> &str {
        &self.provenance.device
    }

    /// Stores the message, or quarantines it, and retries until it is on disk. A temporary error means that the gateway stopped first;
    /// any other error says why the message is in the quarantine.
    pub async fn store(self, shared: &Arc<Shared>, stopping: &watch::Receiver<bool>) -> Result<(), Problem> {
        self.enter(shared, stopping).await?.store(shared, stopping).await
    }

    /// Submits the message to the writer, and retries until that succeeds. Messages that are submitted later are written later. An error
    /// means that the gateway stopped first.
    pub async fn enter(
        self,
        shared: &Arc<Shared>,
        stopping: &watch::Receiver<bool>,
    ) -> Result<Entered, Problem> {
        let mut patience = Patience { pause: PAUSES.0 };
        loop {
            match self.enqueue(shared).await {
                Ok(queued) => return Ok(Entered { message: self, queued, patience }),
                Err(problem) => patience.wait(&self, problem, stopping).await?,
            }
        }
    }

    async fn commit(&self, shared: &Shared, queued: Queued) -> Result<(), Problem> {
        let taken = queued.commit().await;
        if let Err(problem) = &taken
            && !problem.is_temporary()
        {
            shared.metrics.answered(problem.name());
            let (request, detail) = (&self.provenance.request, &problem.detail);
            tracing::debug!(request, problem = problem.name(), detail, "a message was not stored");
        }
        taken
    }

    /// Submits the message if there is room. A message that does not fit into empty memory never will, and is quarantined.
    async fn enqueue(&self, shared: &Arc<Shared>) -> Result<Queued, Problem> {
        if let Some(problem) = &self.bad {
            return self.keep(shared, problem.clone(), shared.queue.reserve());
        }
        let alone = shared.queue.bytes() == 0;
        let mut room = shared.queue.reserve();
        let fits = shared.queue.depth() < shared.queue.capacity() && room.grow(self.raw.len()).is_ok();
        let entered = match fits {
            true => {
                let mut arrival = InFlight::new(&shared.stats);
                let arrived = Arrived {
                    input: self.input,
                    provenance: self.provenance.clone(),
                    content_type: &self.content_type,
                    encoding: encoding(&self.content_type),
                    raw: self.raw.clone(),
                    room,
                };
                enqueue(shared, &mut arrival, arrived).await
            }
            false => Err(Problem::full()),
        };
        match entered {
            Err(problem) if problem.is_full() && alone && shared.queue.bytes() == 0 => {
                let detail = "the message takes more memory than [buffer] queue_bytes allows";
                let problem =
                    Problem::new(StatusCode::PAYLOAD_TOO_LARGE, "too-large", "Message too large", detail);
                self.keep(shared, problem, shared.queue.reserve())
            }
            entered => entered,
        }
    }

    /// Puts the message into the quarantine undecoded.
    fn keep(&self, shared: &Shared, problem: Problem, room: Reservation) -> Result<Queued, Problem> {
        let mut arrival = InFlight::new(&shared.stats);
        shared.metrics.received(self.input, None);
        let quarantined = NewQuarantined {
            provenance: self.provenance.clone(),
            content_type: self.content_type.chars().take(CONTENT_TYPE).collect(),
            raw: self.raw.clone(),
            kind: problem.name(),
            offset: None,
            reason: problem.detail.clone(),
        };
        let durable = shared.queue.quarantine(quarantined, room, || arrival.queued())?;
        Ok(Queued { durable, problem: Some(problem) })
    }
}

/// A message that has been submitted to the writer.
pub struct Entered {
    message: Incoming,
    queued: Queued,
    patience: Patience,
}

impl Entered {
    /// Waits for the commit. If it fails, submits the message again, until it is on disk. The errors are those of `Incoming::store`.
    pub async fn store(
        mut self,
        shared: &Arc<Shared>,
        stopping: &watch::Receiver<bool>,
    ) -> Result<(), Problem> {
        loop {
            match self.message.commit(shared, self.queued).await {
                Err(problem) if problem.is_temporary() => {
                    self.patience.wait(&self.message, problem, stopping).await?;
                }
                stored => return stored,
            }
            self.queued = loop {
                match self.message.enqueue(shared).await {
                    Ok(queued) => break queued,
                    Err(problem) => self.patience.wait(&self.message, problem, stopping).await?,
                }
            };
        }
    }
}

/// The pauses between attempts to store a message.
struct Patience {
    pause: Duration,
}

impl Patience {
    /// Waits, each time twice as long up to a second. Returns `problem` if the gateway is stopping.
    async fn wait(
        &mut self,
        message: &Incoming,
        problem: Problem,
        stopping: &watch::Receiver<bool>,
    ) -> Result<(), Problem> {
        if *stopping.borrow() {
            return Err(problem);
        }
        if self.pause < PAUSES.1 && self.pause * 2 >= PAUSES.1 {
            let (input, request, detail) = (message.input, &message.provenance.request, &problem.detail);
            tracing::warn!(input, request, detail, "cannot store a message; it and all later ones wait");
        }
        tokio::time::sleep(self.pause).await;
        self.pause = PAUSES.1.min(self.pause * 2);
        Ok(())
    }
}
