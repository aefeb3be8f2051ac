//! Receiving a request's body: bounded in size, in time, and in what all bodies take together.

use crate::{http_settings::HttpSettings, problem::Problem};
use axum::{
    body::{Bytes, HttpBody},
    http::StatusCode,
};
use dunnage_buffer::{NoRoom, Reservation, Sender};
use futures_util::future::poll_immediate;
use std::{
    fmt::Display,
    future::poll_fn,
    pin::{Pin, pin},
    time::Duration,
};

/// Up to so many bytes are copied out of what the connection has read, so that it can read the next request to the same
/// place. One that is held would keep 8 KiB or more from it, which it has to get anew.
const COPIED: usize = 2048;

/// All of `body`, which `sender` sends. Its bytes are taken from `room` as they arrive; if it has to wait for some, it is one of the
/// messages that have not arrived whole, and gives way when it makes no progress.
pub async fn receive<B>(
    mut body: B,
    limits: &HttpSettings,
    sender: Sender<'_>,
    room: &mut Reservation,
) -> Result<Bytes, Problem>
where
    B: HttpBody<Data = Bytes, Error: Display> + Unpin,
{
    let announced = body.size_hint().lower();
    let mut received = pin!(async {
        let received = match announced <= limits.body_limit_bytes as u64 {
            true => collect(&mut body, limits, sender, room).await,
            false => Err(Problem::too_large(limits.body_limit_bytes)),
        };
        if received.is_err() {
            room.clear();
            discard(&mut body, limits.body_limit_bytes).await;
        }
        received
    });
    // Most bodies have come with their heads: they need no timer.
    if let Some(received) = poll_immediate(&mut received).await {
        return received;
    }
    let seconds = limits.body_timeout_seconds;
    tokio::time::timeout(Duration::from_secs(seconds), received).await.unwrap_or_else(|_| {
        let detail = format!("the body did not arrive within {seconds} s");
        Err(Problem::new(StatusCode::REQUEST_TIMEOUT, "body-timeout", "Body too slow", detail))
    })
}

/// Lets `body` pass, whose request is refused already.
pub async fn ignore<B: HttpBody<Data = Bytes> + Unpin>(mut body: B, limits: &HttpSettings) {
    let seconds = Duration::from_secs(limits.body_timeout_seconds);
    // One that is too slow ends with its connection.
    let _ = tokio::time::timeout(seconds, discard(&mut body, limits.body_limit_bytes)).await;
}

async fn collect<B>(
    body: &mut B,
    limits: &HttpSettings,
    sender: Sender<'_>,
    room: &mut Reservation,
) -> Result<Bytes, Problem>
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
        let piece = piece.map_err(|e| {
            Problem::new(
                StatusCode::BAD_REQUEST,
                "body",
                "Body not readable",
                format!("the body broke off: {e}"),
            )
        })?;
        if first.len() + all.len() + piece.len() > limits.body_limit_bytes {
            return Err(Problem::too_large(limits.body_limit_bytes));
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
    // What nobody announced: room that it may have grown into is counted nowhere.
    all.shrink_to_fit();
    Ok(if all.is_empty() { first } else { all.into() })
}

/// Room for `more` bytes behind those of `all`: for as many again as there are, but for no more than were announced.
fn make_room(all: &mut Vec<u8>, more: usize, announced: usize) {
    if all.capacity() - all.len() < more {
        all.reserve_exact(all.len().min(announced.saturating_sub(all.len())).max(more));
    }
}

/// Waits for the next piece, unless another message needs the room of what has arrived.
async fn wait<B: HttpBody<Data = Bytes> + Unpin>(
    body: &mut B,
    sender: Sender<'_>,
    room: &mut Reservation,
) -> Result<Option<Result<Bytes, B::Error>>, Problem> {
    room.wait_for(sender)?;
    tokio::select! {
        biased;
        piece = next(body) => Ok(piece),
        () = room.give_way() => Err(NoRoom::GaveWay.into()),
    }
}

/// Lets the rest of a body pass, up to `most` bytes. A client that is still sending when its connection is
/// closed sees a broken pipe in place of the answer.
async fn discard<B: HttpBody<Data = Bytes> + Unpin>(body: &mut B, most: usize) {
    let mut seen = 0;
    while seen <= most
        && let Some(Ok(piece)) = next(body).await
    {
        seen += piece.len();
    }
}

/// The next piece of a body. What is no piece is passed over: trailers.
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
