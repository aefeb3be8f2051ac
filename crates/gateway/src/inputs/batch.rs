//! Several messages of a device in a body, all of them durable before the answer (`spec/ingest.md`, "Batches").

mod framing;
#[cfg(any(test, feature = "fuzzing"))]
pub mod fuzz;

use super::{
    content_type::encoding,
    take::{Arrived, Queued, enqueue},
};
use crate::{
    problem::Problem,
    shared::{InFlight, Shared},
};
use axum::{
    Json,
    body::Bytes,
    http::StatusCode,
    response::{IntoResponse, Response},
};
use dunnage_access::Peer;
use dunnage_buffer::{Provenance, Reservation};
pub use framing::Framing;
use framing::Piece;
use serde::Serialize;
use std::sync::Arc;
use utoipa::ToSchema;

/// After so many messages, others get their turn.
const TURN: usize = 32;

/// What became of a batch, all of which is durable.
#[derive(Debug, Serialize, ToSchema)]
pub struct Report {
    /// How many messages it has.
    messages: usize,
    /// How many are stored, or were already.
    stored: usize,
    /// The others, which are in the quarantine.
    problems: Vec<Quarantined>,
}

/// A message of a batch that is in the quarantine.
#[derive(Debug, Serialize, ToSchema)]
pub struct Quarantined {
    /// Which, from 0.
    index: usize,
    /// Where in the body it begins, in bytes.
    offset: usize,
    /// Why. Its own offset counts from there.
    problem: Problem,
}

/// A batch that has arrived whole.
pub struct Batch<'a> {
    /// Who sent it.
    pub peer: &'a Peer,
    /// Where its messages came from. The key is that of the whole.
    pub provenance: Provenance,
    /// What lies between them.
    pub framing: Framing,
    /// All of it.
    pub raw: Bytes,
    /// What it takes of the memory for messages.
    pub room: Reservation,
}

impl IntoResponse for Report {
    fn into_response(self) -> Response {
        match self.problems.is_empty() {
            true => StatusCode::NO_CONTENT.into_response(),
            false => (StatusCode::MULTI_STATUS, Json(self)).into_response(),
        }
    }
}

/// Makes all messages of a batch durable, in their order. An error means that not all are: the whole may be sent again.
/// `first` stands for the first of them.
pub async fn take<'s>(
    shared: &'s Arc<Shared>,
    first: &mut InFlight<'s>,
    batch: Batch<'_>,
) -> Result<Report, Problem> {
    let Batch { peer, provenance, framing, raw, room } = batch;
    let pieces = framing.split(&raw, shared.queue.capacity())?;
    let mut others: Vec<_> = (1..pieces.len()).map(|_| InFlight::new(&shared.stats)).collect();
    // The request was admitted as one message.
    (1..pieces.len()).try_for_each(|_| shared.limits.admit(peer, &provenance.device))?;
    let (mut queued, mut refusal) = (Vec::with_capacity(pieces.len()), None);
    // Places that others take meanwhile are found out one by one.
    if shared.queue.capacity() - shared.queue.depth() < pieces.len() {
        return Err(Problem::full());
    }
    for ((index, piece), arrival) in
        pieces.into_iter().enumerate().zip(std::iter::once(first).chain(&mut others))
    {
        if index % TURN == TURN - 1 {
            tokio::task::yield_now().await;
        }
        let offset = piece.offset;
        match put(shared, arrival, &framing, message(&provenance, index), piece).await {
            Ok(message) => queued.push((index, offset, message)),
            Err(problem) => {
                refusal = Some(problem);
                break;
            }
        }
    }
    drop((raw, room));
    let report = commit(shared, queued).await;
    match refusal {
        None => report,
        Some(problem) => Err(problem),
    }
}

/// Where the message `index` came from. A key of its own has no space, which no sender's key has.
fn message(batch: &Provenance, index: usize) -> Provenance {
    let key = batch.key.as_ref().map(|key| format!("{key} {index}"));
    Provenance { key, ..batch.clone() }
}

async fn put(
    shared: &Arc<Shared>,
    arrival: &mut InFlight<'_>,
    framing: &Framing,
    provenance: Provenance,
    piece: Piece,
) -> Result<Queued, Problem> {
    let mut room = shared.queue.reserve();
    room.grow(piece.raw.len())?;
    let content_type = &framing.content_type;
    let encoding = piece.bad.map_or_else(|| encoding(content_type), Err);
    // What waits in the queue must not hold all of the body.
    let raw = Bytes::copy_from_slice(&piece.raw);
    let arrived = Arrived { input: "http", provenance, content_type, encoding, raw, room };
    enqueue(shared, arrival, arrived).await
}

async fn commit(shared: &Shared, queued: Vec<(usize, usize, Queued)>) -> Result<Report, Problem> {
    let mut report = Report { messages: queued.len(), stored: 0, problems: Vec::new() };
    let mut not_written = None;
    for (index, offset, message) in queued {
        match message.commit().await {
            Ok(()) => report.stored += 1,
            Err(problem) if problem.is_temporary() => not_written = Some(problem),
            Err(problem) => {
                shared.metrics.answered(problem.name());
                report.problems.push(Quarantined { index, offset, problem });
            }
        }
    }
    not_written.map_or(Ok(report), Err)
}
