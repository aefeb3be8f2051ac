//! Batches: several messages of one device in one body. The answer is sent after all of them are on disk (`spec/ingest.md`, "Batches").

mod framing;
#[cfg(any(test, feature = "fuzzing"))]
pub mod fuzz;

use super::{NAME, problem::Problem};
use axum::{
    Json,
    body::Bytes,
    http::StatusCode,
    response::{IntoResponse, Response},
};
use dunnage_access::Peer;
use dunnage_buffer::{Provenance, Reservation};
use dunnage_ingest::{InFlight, Ingest, Pending, RawMessage, Rejected};
pub use framing::Framing;
use framing::Piece;
use serde::Serialize;
use utoipa::ToSchema;

/// After this many messages, other tasks get their turn.
const TURN: usize = 32;

/// The result of a batch whose messages are all on disk.
#[derive(Debug, Serialize, ToSchema)]
pub struct Report {
    /// The number of messages in the batch.
    messages: usize,
    /// The number of stored messages, duplicates included.
    stored: usize,
    /// The other messages, which are in the quarantine.
    problems: Vec<Quarantined>,
}

/// A message of a batch that is in the quarantine.
#[derive(Debug, Serialize, ToSchema)]
pub struct Quarantined {
    /// Its index in the batch, from 0.
    index: usize,
    /// Where it begins in the body, in bytes.
    offset: usize,
    /// The reason. The offset of the problem counts from the beginning of the message.
    problem: Problem,
}

/// A batch that has been received completely.
pub struct Batch<'a> {
    /// The sender.
    pub peer: &'a Peer,
    /// The provenance of its messages. The key is that of the whole batch.
    pub provenance: Provenance,
    /// How the messages are separated.
    pub framing: Framing,
    /// The whole body.
    pub raw: Bytes,
    /// The memory that is reserved for the batch.
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

/// Stores all messages of a batch, in their order. After an error some of them may be stored, and the sender can repeat the whole batch.
/// `first` counts the first message.
pub async fn store<'i>(
    ingest: &'i Ingest,
    first: &mut InFlight<'i>,
    batch: Batch<'_>,
) -> Result<Report, Rejected> {
    let Batch { peer, provenance, framing, raw, room } = batch;
    let pieces = framing.split(&raw, ingest.buffer.queue.capacity())?;
    let mut others: Vec<_> = (1..pieces.len()).map(|_| ingest.receive()).collect();
    // The request has been admitted as one message already.
    (1..pieces.len()).try_for_each(|_| ingest.limits.admit(peer, &provenance.device))?;
    let (mut queued, mut refusal) = (Vec::with_capacity(pieces.len()), None);
    // Rejects most batches that do not fit before any message is stored. If other requests fill the queue meanwhile, `put` fails.
    if ingest.buffer.queue.free() < pieces.len() {
        return Err(Rejected::queue_full());
    }
    let failed_batches = ingest.buffer.queue.failed_batches().count();
    for ((index, piece), in_flight) in
        pieces.into_iter().enumerate().zip(std::iter::once(first).chain(&mut others))
    {
        if index % TURN == TURN - 1 {
            tokio::task::yield_now().await;
        }
        let offset = piece.offset;
        let room = ingest.buffer.queue.reserve_in_order(failed_batches);
        match put(ingest, in_flight, &framing, message(&provenance, index), (piece, room)).await {
            Ok(message) => queued.push((index, offset, message)),
            Err(rejected) => {
                refusal = Some(rejected);
                break;
            }
        }
    }
    drop((raw, room));
    let report = commit(ingest, queued).await;
    match refusal {
        None => report,
        Some(rejected) => Err(rejected),
    }
}

/// Returns the provenance of the message `index`. Its key contains a space, so it differs from every key that a sender can choose.
fn message(batch: &Provenance, index: usize) -> Provenance {
    let key = batch.key.as_ref().map(|key| format!("{key} {index}"));
    Provenance { key, ..batch.clone() }
}

async fn put<'i>(
    ingest: &'i Ingest,
    in_flight: &mut InFlight<'i>,
    framing: &Framing,
    provenance: Provenance,
    (piece, mut room): (Piece, Reservation),
) -> Result<Pending, Rejected> {
    room.grow(piece.raw.len())?;
    // A slice would keep the whole body in memory while the message waits in the queue.
    let raw = Bytes::copy_from_slice(&piece.raw);
    let content_type = framing.content_type.as_str().into();
    let meter = ingest.metrics.inputs.of(NAME);
    let message = RawMessage { input: NAME, meter, provenance, content_type, bad: piece.bad, raw };
    ingest.submit(in_flight, message, room).await
}

async fn commit(ingest: &Ingest, queued: Vec<(usize, usize, Pending)>) -> Result<Report, Rejected> {
    let mut report = Report { messages: queued.len(), stored: 0, problems: Vec::new() };
    let mut not_written = None;
    for (index, offset, message) in queued {
        match message.commit().await {
            Ok(()) => report.stored += 1,
            Err(rejected) if rejected.is_temporary() => not_written = Some(rejected),
            Err(rejected) => {
                ingest.metrics.rejected(rejected.code);
                ingest.metrics.inputs.of(NAME).rejected(&rejected.detail);
                report.problems.push(Quarantined { index, offset, problem: rejected.into() });
            }
        }
    }
    not_written.map_or(Ok(report), Err)
}
