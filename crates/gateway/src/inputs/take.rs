//! The part that all inputs share: decodes a complete message, and submits it to the buffer as a message or for the quarantine.

use super::{decode::Encoding, read::read};
use crate::{
    problem::Problem,
    shared::{InFlight, Shared},
};
use axum::body::Bytes;
use dunnage_buffer::{Ack, Provenance, Reservation};
use std::sync::Arc;

/// A message that has been received completely.
pub struct Arrived<'a> {
    /// The input's name in metrics.
    pub input: &'static str,
    /// Where it came from.
    pub provenance: Provenance,
    /// The `Content-Type` that its sender gave.
    pub content_type: &'a str,
    /// The meaning of that `Content-Type`.
    pub encoding: Result<Encoding, Problem>,
    /// Its bytes.
    pub raw: Bytes,
    /// The memory that is reserved for the message: its bytes so far.
    pub room: Reservation,
}

/// A message that has been submitted to the writer but not committed.
pub struct Queued {
    /// Resolves when the message is on disk.
    pub durable: Ack,
    /// Why it goes into the quarantine, if it does.
    pub problem: Option<Problem>,
}

impl Queued {
    /// Waits for the commit. An error that is not temporary says why the message is in the quarantine.
    pub async fn commit(self) -> Result<(), Problem> {
        self.durable.commit().await?;
        self.problem.map_or(Ok(()), Err)
    }
}

/// Decodes a message and waits until it is on disk. An error that is not temporary says why the message is in the quarantine.
pub async fn take(
    shared: &Arc<Shared>,
    arrival: &mut InFlight<'_>,
    arrived: Arrived<'_>,
) -> Result<(), Problem> {
    enqueue(shared, arrival, arrived).await?.commit().await
}

/// Decodes a message and submits it to the writer. Errors are temporary.
pub async fn enqueue(
    shared: &Arc<Shared>,
    arrival: &mut InFlight<'_>,
    arrived: Arrived<'_>,
) -> Result<Queued, Problem> {
    let Arrived { input, provenance, content_type, encoding, raw, mut room } = arrived;
    shared.metrics.received(input, encoding.as_ref().ok().map(|encoding| encoding.format));
    match read(shared, provenance, content_type, encoding, raw).await {
        Ok(message) => {
            shared.metrics.decoded(message.format);
            room.grow(message.json.len())?;
            let durable = shared.queue.store(message, room, || arrival.queued())?;
            Ok(Queued { durable, problem: None })
        }
        Err((quarantined, problem)) => {
            let durable = shared.queue.quarantine(quarantined, room, || arrival.queued())?;
            Ok(Queued { durable, problem: Some(problem) })
        }
    }
}
