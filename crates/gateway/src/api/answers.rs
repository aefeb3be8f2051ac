//! Bounds the memory of answers that clients have not read yet. A page of a list can have some megabytes, and a client may read it slowly:
//! without a bound, clients that do not read would exhaust the memory.

use super::problems::ANSWERS;
use axum::{
    body::{Body, Bytes, HttpBody, to_bytes},
    extract::{Request, State},
    middleware::Next,
    response::{IntoResponse, Response},
};
use dunnage_access::Peer;
use dunnage_buffer::{Memory, Reservation, Sender, Shares};
use dunnage_inputs::Problem;

/// Most bytes of all answers together, and of one answer. One address may hold as much as one answer.
const ALL: usize = 64 << 20;
const LARGEST: usize = 32 << 20;
/// Answers of at most this many bytes are not counted.
const SMALL: u64 = 64 << 10;

/// Creates the memory for answers.
pub fn memory() -> Memory {
    Memory::new(Shares { incomplete: ALL, ..Shares::of(ALL, LARGEST) })
}

/// The bytes of an answer, which count until they have been written.
struct Counted {
    bytes: Bytes,
    _room: Reservation,
}

impl AsRef<[u8]> for Counted {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

/// Middleware that replaces an answer with 503 if there is no memory for it.
pub async fn bounded(State(memory): State<Memory>, peer: Peer, request: Request, next: Next) -> Response {
    let response = next.run(request).await;
    match response.body().size_hint().exact() {
        Some(bytes) if bytes > SMALL => {
            hold(&memory, &peer, response).await.unwrap_or_else(Problem::into_response)
        }
        _ => response,
    }
}

async fn hold(memory: &Memory, peer: &Peer, response: Response) -> Result<Response, Problem> {
    let (head, body) = response.into_parts();
    let bytes = to_bytes(body, usize::MAX).await.map_err(|_| Problem::unreadable())?;
    let mut room = memory.reserve();
    let taken = room
        .wait_for(Sender { address: peer.address, device: None })
        .and_then(|()| room.grow(bytes.len()))
        .and_then(|()| room.whole());
    taken.map_err(|_| {
        let detail = "unread answers use all the memory that they may use; try again later";
        Problem::new(ANSWERS, detail)
    })?;
    Ok(Response::from_parts(head, Body::from(Bytes::from_owner(Counted { bytes, _room: room }))))
}
