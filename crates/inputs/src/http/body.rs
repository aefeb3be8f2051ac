//! Receives request bodies, with limits for the size, the time, and the memory of all bodies together.

use super::settings::HttpSettings;
use axum::body::{Bytes, HttpBody};
use dunnage_buffer::{NoRoom, Reservation, Sender};
use dunnage_ingest::{Code, Rejected};
use futures_util::future::poll_immediate;
use std::{
    fmt::Display,
    future::poll_fn,
    pin::{Pin, pin},
    time::Duration,
};

/// Pieces up to this many bytes are copied out of the connection's read buffer, which it can then reuse for the next request. A piece
/// that is not copied keeps 8 KiB or more of the buffer, and the connection has to allocate that again.
const COPIED: usize = 2048;

/// Receives all of `body` from `sender`. Its bytes are reserved in `room` as they arrive. A body that has to wait for bytes counts as
/// incomplete, and gives way to other messages when it makes no progress.
pub async fn receive<B>(
    mut body: B,
    limits: &HttpSettings,
    sender: Sender<'_>,
    room: &mut Reservation,
) -> Result<Bytes, Rejected>
where
    B: HttpBody<Data = Bytes, Error: Display> + Unpin,
{
    let announced = body.size_hint().lower();
    let mut received = pin!(async {
        let received = match announced <= limits.body_limit_bytes as u64 {
            true => collect(&mut body, limits, sender, room).await,
            false => Err(Rejected::too_large(limits.body_limit_bytes)),
        };
        if received.is_err() {
            room.clear();
            discard(&mut body, limits.body_limit_bytes).await;
        }
        received
    });
    // Most bodies arrive with their heads and need no timer.
    if let Some(received) = poll_immediate(&mut received).await {
        return received;
    }
    let seconds = limits.body_timeout_seconds;
    tokio::time::timeout(Duration::from_secs(seconds), received).await.unwrap_or_else(|_| {
        let detail = format!("the body did not arrive within {seconds} s");
        Err(Rejected::new(Code::BodyTimeout, detail))
    })
}

/// Reads and discards `body`, whose request has been rejected.
pub async fn ignore<B: HttpBody<Data = Bytes> + Unpin>(mut body: B, limits: &HttpSettings) {
    let seconds = Duration::from_secs(limits.body_timeout_seconds);
    // A body that is too slow ends with its connection.
    let _ = tokio::time::timeout(seconds, discard(&mut body, limits.body_limit_bytes)).await;
}

async fn collect<B>(
    body: &mut B,
    limits: &HttpSettings,
    sender: Sender<'_>,
    room: &mut Reservation,
) -> Result<Bytes, Rejected>
where
    B: HttpBody<Data = Bytes, Error: Display> + Unpin,
{
    let announced = usize::try_from(body.size_hint().lower()).unwrap_or(limits.body_limit_bytes);
    let mut first = Bytes::new();
    let mut all = Vec::new();
    loop {
        let piece = match poll_immediate(next(body)).await {
            Some(piece) => piece,
            None => wait(body, sender, room).await?,
        };
        let Some(piece) = piece else { break };
        let piece = piece.map_err(|e| Rejected::new(Code::Body, format!("the body ended early: {e}")))?;
        if first.len() + all.len() + piece.len() > limits.body_limit_bytes {
            return Err(Rejected::too_large(limits.body_limit_bytes));
        }
        room.grow(piece.len())?;
        // Most bodies are one piece.
        if first.is_empty() && all.is_empty() {
            first = if piece.len() > COPIED { piece } else { Bytes::copy_from_slice(&piece) };
        } else {
            make_room(&mut all, first.len() + piece.len(), announced);
            all.extend_from_slice(&std::mem::take(&mut first));
            all.extend_from_slice(&piece);
        }
    }
    room.whole()?;
    // The spare capacity of a body without an announced length is not part of the reservation.
    all.shrink_to_fit();
    Ok(if all.is_empty() { first } else { all.into() })
}

/// Reserves capacity for `more` bytes. Doubles the length if possible, but not beyond the announced length.
fn make_room(all: &mut Vec<u8>, more: usize, announced: usize) {
    if all.capacity() - all.len() < more {
        all.reserve_exact(all.len().min(announced.saturating_sub(all.len())).max(more));
    }
}

/// Waits for the next piece. Fails if another message needs the memory of this one.
async fn wait<B: HttpBody<Data = Bytes> + Unpin>(
    body: &mut B,
    sender: Sender<'_>,
    room: &mut Reservation,
) -> Result<Option<Result<Bytes, B::Error>>, Rejected> {
    room.wait_for(sender)?;
    tokio::select! {
        biased;
        piece = next(body) => Ok(piece),
        () = room.give_way() => Err(NoRoom::GaveWay.into()),
    }
}

/// Reads and discards the rest of a body, up to `most` bytes. A client that is still sending when its connection is closed would see a
/// broken pipe instead of the answer.
async fn discard<B: HttpBody<Data = Bytes> + Unpin>(body: &mut B, most: usize) {
    let mut seen = 0;
    while seen <= most
        && let Some(Ok(piece)) = next(body).await
    {
        seen += piece.len();
    }
}

/// Returns the next piece of a body. Skips trailers.
async fn next<B: HttpBody<Data = Bytes> + Unpin>(body: &mut B) -> Option<Result<Bytes, B::Error>> {
    loop {
        match poll_fn(|cx| Pin::new(&mut *body).poll_frame(cx)).await? {
            Ok(frame) => {
                if let Ok(piece) = frame.into_data() {
                    return Some(Ok(piece));
                }
            }
            Err(e) => return Some(Err(e)),
        }
    }
}
