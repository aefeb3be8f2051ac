//! The dead letters of outputs, and the messages that they retry: lists, retries and discards them.

use crate::state::GatewayState;
use axum::http::StatusCode;
use dunnage_base::clock::rfc3339;
use dunnage_buffer::{DeadLetter, Readers};
use dunnage_inputs::{Problem, ProblemKind};
use dunnage_outputs::{DeadLetterError, Which};
use serde::Serialize;
use std::collections::BTreeMap;
use utoipa::ToSchema;

/// The configuration no longer has the output.
pub const NOT_RUNNING: ProblemKind =
    ProblemKind::new(StatusCode::CONFLICT, "not-running", "Output not running");

/// A dead letter.
#[derive(Serialize, ToSchema)]
pub struct DeadLetterObject {
    /// The message ID.
    pub id: i64,
    /// `null` if the message has left the buffer.
    #[schema(required)]
    device: Option<String>,
    /// The bytes of the message as it arrived; `null` if it has left the buffer.
    #[schema(required)]
    bytes: Option<u64>,
    refused_at: String,
    reason: String,
}

/// An operation on dead letters.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Action {
    /// Deliver them again. Those that are delivered leave the list.
    Retry,
    /// Remove them from the list, and give up those that are retried. The messages stay in the buffer.
    Discard,
}

/// Returns the outputs with dead letters and their numbers; only `output` if it is given. Fails if neither the configuration nor the buffer
/// knows that one.
pub fn counts(state: &GatewayState, output: Option<&str>) -> Result<BTreeMap<String, u64>, Problem> {
    let mut counts = BTreeMap::clone(&state.buffer().stats.totals().dead_letters);
    if let Some(output) = output {
        let known = state.config.outputs.iter().any(|known| known.name == output);
        if !known && !counts.contains_key(output) {
            return Err(Problem::not_found(DeadLetterError::Unknown(output.into()).to_string()));
        }
        counts.retain(|name, _| name == output);
    }
    Ok(counts)
}

/// Returns dead letters of `output` with message IDs above `after`, the oldest first, at most `limit`.
pub async fn list(
    readers: &Readers,
    output: &str,
    after: i64,
    limit: u32,
) -> Result<Vec<DeadLetterObject>, Problem> {
    let found = readers.dead_letters(output.into(), after, limit).await?;
    Ok(found.into_iter().map(DeadLetterObject::of).collect())
}

/// Retries or discards dead letters of `output`. Returns how many.
pub async fn resolve(
    state: &GatewayState,
    output: &str,
    which: Which,
    action: Action,
) -> Result<u64, Problem> {
    let resolved = match action {
        Action::Retry => state.outputs.retry(output, which).await,
        Action::Discard => state.outputs.discard(output, which).await,
    };
    resolved.map_err(|e| refused(&e))
}

impl DeadLetterObject {
    fn of(letter: DeadLetter) -> DeadLetterObject {
        DeadLetterObject {
            id: letter.message_id,
            device: letter.device,
            bytes: letter.bytes,
            refused_at: rfc3339(letter.refused_at),
            reason: letter.reason,
        }
    }
}

fn refused(error: &DeadLetterError) -> Problem {
    match error {
        DeadLetterError::Unknown(output) => {
            let detail = format!("the output {output:?} is not running: the configuration no longer has it");
            Problem::new(NOT_RUNNING, detail)
        }
        DeadLetterError::Buffer => Problem::unreadable(),
    }
}
