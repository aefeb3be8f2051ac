//! Receiving a request's body: bounded in size, in time, and in what all bodies take together.

use crate::{buffer::Reservation, config::Http, problem::Problem};
use axum::{
    body::{Body, BodyDataStream, Bytes, HttpBody},
    http::StatusCode,
};
use std::time::Duration;
use tokio_stream::StreamExt;

/// All of `body`. Its bytes are taken from `room` as they arrive.
pub async fn receive(body: Body, limits: &Http, room: &mut Reservation) -> Result<Bytes, Problem> {
    let announced = body.size_hint().lower();
    let mut pieces = body.into_data_stream();
    let received = async {
        let received = match announced <= limits.body_limit_bytes as u64 {
            true => collect(&mut pieces, limits, room).await,
            false => Err(Problem::too_large(limits.body_limit_bytes)),
        };
        if received.is_err() {
            discard(&mut pieces, limits.body_limit_bytes).await;
        }
        received
    };
    let seconds = limits.body_timeout_seconds;
    tokio::time::timeout(Duration::from_secs(seconds), received).await.unwrap_or_else(|_| {
        let detail = format!("the body did not arrive within {seconds} s");
        Err(Problem::new(StatusCode::REQUEST_TIMEOUT, "body-timeout", "Body too slow", detail))
    })
}

/// Lets `body` pass, whose request is refused already.
pub async fn ignore(body: Body, limits: &Http) {
    let mut pieces = body.into_data_stream();
    let seconds = Duration::from_secs(limits.body_timeout_seconds);
    // One that is too slow ends with its connection.
    let _ = tokio::time::timeout(seconds, discard(&mut pieces, limits.body_limit_bytes)).await;
}

async fn collect(
    pieces: &mut BodyDataStream,
    limits: &Http,
    room: &mut Reservation,
) -> Result<Bytes, Problem> {
    let mut first = Bytes::new();
    let mut all = Vec::new();
    while let Some(piece) = pieces.next().await {
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
        if !room.grow(piece.len()) {
            return Err(Problem::full());
        }
        // Most bodies are one piece, which is then not copied.
        if first.is_empty() && all.is_empty() {
            first = piece;
        } else {
            all.extend_from_slice(&std::mem::take(&mut first));
            all.extend_from_slice(&piece);
        }
    }
    Ok(if all.is_empty() { first } else { all.into() })
}

/// Lets the rest of a body pass, up to `most` bytes. A client that is still sending when its connection is
/// closed sees a broken pipe in place of the answer.
async fn discard(pieces: &mut BodyDataStream, most: usize) {
    let mut seen = 0;
    while seen <= most
        && let Some(Ok(piece)) = pieces.next().await
    {
        seen += piece.len();
    }
}
