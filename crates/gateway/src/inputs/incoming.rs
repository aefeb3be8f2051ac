//! A message on its way into the buffer, from an input that cannot simply refuse it: it waits for room, or for the disk.

use super::{
    content_type::encoding,
    take::{Arrived, take},
};
use crate::{
    buffer::Reservation,
    problem::Problem,
    reading::{Provenance, Reject},
    shared::{Arrival, Shared},
};
use axum::{body::Bytes, http::StatusCode};
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
        let mut pause = PAUSES.0;
        loop {
            let Err(problem) = self.offer(shared).await else { return Ok(()) };
            if !problem.is_temporary() || *stopping.borrow() {
                return Err(problem);
            }
            if pause < PAUSES.1 && pause * 2 >= PAUSES.1 {
                let (request, detail) = (&self.provenance.request, &problem.detail);
                tracing::warn!(input = self.input, request, detail, "a message waits, and all after it");
            }
            tokio::time::sleep(pause).await;
            pause = PAUSES.1.min(pause * 2);
        }
    }

    /// Tries once to make it durable. A temporary error means that nothing is kept and it may be offered again; any other
    /// says why the message is in the quarantine.
    pub async fn offer(&self, shared: &Arc<Shared>) -> Result<(), Problem> {
        let alone = shared.queue.bytes() == 0;
        let taken = self.attempt(shared, alone).await;
        if let Err(problem) = &taken
            && !problem.is_temporary()
        {
            shared.metrics.answered(problem.name());
            let (request, detail) = (&self.provenance.request, &problem.detail);
            tracing::debug!(request, problem = problem.name(), detail, "a message was not stored");
        }
        taken
    }

    /// Is it `alone` and has no room nevertheless, it never will have.
    async fn attempt(&self, shared: &Arc<Shared>, alone: bool) -> Result<(), Problem> {
        if let Some(problem) = &self.bad {
            return self.keep(shared, problem.clone(), shared.queue.reserve()).await;
        }
        let mut room = shared.queue.reserve();
        let fits = shared.queue.depth() < shared.queue.capacity() && room.grow(self.raw.len());
        let taken = match fits {
            true => {
                let mut arrival = Arrival::new(&shared.board);
                let arrived = Arrived {
                    input: self.input,
                    provenance: self.provenance.clone(),
                    content_type: &self.content_type,
                    encoding: encoding(&self.content_type),
                    raw: self.raw.clone(),
                    room,
                };
                take(shared, &mut arrival, arrived).await
            }
            false => Err(Problem::full()),
        };
        match taken {
            Err(problem) if problem.is_full() && alone && shared.queue.bytes() == 0 => {
                let detail = "it takes more memory than [buffer] queue_bytes allows";
                let problem =
                    Problem::new(StatusCode::PAYLOAD_TOO_LARGE, "too-large", "Message too large", detail);
                self.keep(shared, problem, shared.queue.reserve()).await
            }
            taken => taken,
        }
    }

    /// Puts it into the quarantine without reading it.
    async fn keep(&self, shared: &Shared, problem: Problem, room: Reservation) -> Result<(), Problem> {
        let mut arrival = Arrival::new(&shared.board);
        shared.metrics.received(self.input, None);
        let reject = Reject {
            provenance: self.provenance.clone(),
            content_type: self.content_type.chars().take(CONTENT_TYPE).collect(),
            raw: self.raw.clone(),
            kind: problem.name(),
            offset: None,
            reason: problem.detail.clone(),
        };
        match shared.queue.quarantine(reject, room, || arrival.queued()).await {
            Ok(()) => Err(problem),
            Err(_) => Err(Problem::not_written()),
        }
    }
}
