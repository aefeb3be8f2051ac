//! What every input does with a message that has arrived whole: read it, and make it durable as what it turned out to be.

use super::{decode::Encoding, read::read};
use crate::{
    problem::Problem,
    shared::{InFlight, Shared},
};
use axum::body::Bytes;
use dunnage_buffer::{Ack, Provenance, Reservation};
use std::sync::Arc;

/// A message that has arrived whole.
pub struct Arrived<'a> {
    /// The input that it came over, as metrics call it.
    pub input: &'static str,
    /// Where it came from.
    pub provenance: Provenance,
    /// What its sender says of its bytes.
    pub content_type: &'a str,
    /// What that means.
    pub encoding: Result<Encoding, Problem>,
    /// Its bytes.
    pub raw: Bytes,
    /// What it takes of the memory for messages: its bytes so far.
    pub room: Reservation,
}

/// A message that the writer answers for, but has not committed yet.
pub struct Queued {
    /// When it is durable.
    pub durable: Ack,
    /// Why it goes into the quarantine, if it does.
    pub problem: Option<Problem>,
}

impl Queued {
    /// Waits for the commit. Unless an error is temporary, it says what is wrong with a message that is now in the quarantine.
    pub async fn commit(self) -> Result<(), Problem> {
        self.durable.commit().await?;
        self.problem.map_or(Ok(()), Err)
    }
}

/// Makes a message durable. Unless an error is temporary, it says what is wrong with a message that is now in the quarantine.
pub async fn take(
    shared: &Arc<Shared>,
    arrival: &mut InFlight<'_>,
    arrived: Arrived<'_>,
) -> Result<(), Problem> {
    enqueue(shared, arrival, arrived).await?.commit().await
}

/// Reads a message and gives it to the writer. An error is temporary.
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
        Err((reject, problem)) => {
            let durable = shared.queue.quarantine(reject, room, || arrival.queued())?;
            Ok(Queued { durable, problem: Some(problem) })
        }
    }
}
