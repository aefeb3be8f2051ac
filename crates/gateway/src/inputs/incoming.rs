//! A message on its way into the buffer, from an input that cannot simply refuse it: it waits for room, or for the disk.

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

/// How long a message waits until it is tried again.
const PAUSES: (Duration, Duration) = (Duration::from_millis(5), Duration::from_secs(1));
/// How much of a `Content-Type` is kept.
const CONTENT_TYPE: usize = 256;

/// A message that has arrived whole.
pub struct Incoming {
    /// The kind of input, as metrics call it.
    pub input: &'static str,
    /// Where it came from.
    pub provenance: Provenance,
    /// The format, as a media type; empty if the sender names none.
    pub content_type: String,
    /// Its bytes.
    pub raw: Bytes,
    /// Why it cannot be read as what it says it is: it goes into the quarantine unread.
    pub bad: Option<Problem>,
}

impl Incoming {
    /// Its device.
    pub fn device(&self) -> &str {
        &self.provenance.device
    }

    /// Makes it durable, as a reading or in the quarantine, however long that takes. A temporary error means that the gateway
    /// stops before; any other says why the message is in the quarantine.
    pub async fn store(self, shared: &Arc<Shared>, stopping: &watch::Receiver<bool>) -> Result<(), Problem> {
        self.enter(shared, stopping).await?.store(shared, stopping).await
    }

    /// Gives it to the writer, however long that takes: what enters after it is written after it. An error means that the gateway
    /// stops before.
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

    /// Gives it to the writer, if there is room. Is it alone and has none nevertheless, it never will have.
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
                let detail = "it takes more memory than [buffer] queue_bytes allows";
                let problem =
                    Problem::new(StatusCode::PAYLOAD_TOO_LARGE, "too-large", "Message too large", detail);
                self.keep(shared, problem, shared.queue.reserve())
            }
            entered => entered,
        }
    }

    /// Has it kept in the quarantine, unread.
    fn keep(&self, shared: &Shared, problem: Problem, room: Reservation) -> Result<Queued, Problem> {
        let mut arrival = InFlight::new(&shared.stats);
        shared.metrics.received(self.input, None);
        let reject = NewQuarantined {
            provenance: self.provenance.clone(),
            content_type: self.content_type.chars().take(CONTENT_TYPE).collect(),
            raw: self.raw.clone(),
            kind: problem.name(),
            offset: None,
            reason: problem.detail.clone(),
        };
        let durable = shared.queue.quarantine(reject, room, || arrival.queued())?;
        Ok(Queued { durable, problem: Some(problem) })
    }
}

/// A message that the writer has.
pub struct Entered {
    message: Incoming,
    queued: Queued,
    patience: Patience,
}

impl Entered {
    /// Waits for its commit, and if that fails gives it to the writer again, however long that takes. Errors are those of
    /// `Incoming::store`.
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

/// How long a message waits that cannot be stored.
struct Patience {
    pause: Duration,
}

impl Patience {
    /// Waits a while, each time for longer, or gives `problem` back when the gateway stops.
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
            tracing::warn!(input, request, detail, "a message waits, and all after it");
        }
        tokio::time::sleep(self.pause).await;
        self.pause = PAUSES.1.min(self.pause * 2);
        Ok(())
    }
}
