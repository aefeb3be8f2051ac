//! Tries expressions on stored messages, without delivering any.

use crate::{
    Message, OutputSettings, Outputs,
    selection::{Choice, Selection},
};
use dunnage_buffer::{Page, ReadError, Times};
use dunnage_expression::Expressions;
use serde::Serialize;
use serde_json::value::RawValue;
use std::io;
use utoipa::ToSchema;

/// Largest number of messages that a trial examines.
pub const MOST_TRIED: u32 = 100;

/// What an output with certain expressions would do with a message.
#[derive(Debug, Serialize, ToSchema)]
pub struct Tried {
    /// The message ID.
    pub id: i64,
    /// Its device.
    pub device: String,
    /// When it was received, as RFC 3339.
    pub received_at: String,
    /// What would happen to it.
    pub result: TriedResult,
    /// The result of `map`; `null` without one, or if the message is not delivered.
    #[schema(required, value_type = Option<serde_json::Value>)]
    pub payload: Option<Box<RawValue>>,
    /// Why it becomes a dead letter.
    #[schema(required)]
    pub reason: Option<String>,
}

/// What would happen to a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum TriedResult {
    /// It is delivered.
    Delivered,
    /// It is not delivered.
    Skipped,
    /// It becomes a dead letter.
    DeadLetter,
}

/// Why a trial failed.
#[derive(Debug, thiserror::Error)]
pub enum TrialError {
    /// An expression is wrong: its key, and the reason.
    #[error("{0}: {1}")]
    Mistake(&'static str, String),
    /// The buffer cannot be read. The log has the cause.
    #[error("the buffer cannot be read; the log has the cause")]
    Buffer(#[from] ReadError),
    /// The process that evaluates cannot be started.
    #[error("the expressions cannot be evaluated: {0}")]
    Process(#[from] io::Error),
}

impl Outputs {
    /// Returns what `output` with `expressions` would do with the last messages, at most `last` and [`MOST_TRIED`]: the oldest first. No device
    /// has an alarm before the first of them.
    ///
    /// # Errors
    /// An expression is wrong, the buffer cannot be read, or the process that evaluates cannot be started.
    pub async fn tried(
        &self,
        output: &OutputSettings,
        expressions: &Expressions,
        last: u32,
    ) -> Result<Vec<Tried>, TrialError> {
        output.kind.check(expressions).map_err(|(key, message)| TrialError::Mistake(key, message))?;
        let (source, page) = (self.source(), Page { limit: last.min(MOST_TRIED), before: None });
        let mut stored = source.buffer.readers.messages(page, Times::ALL).await?;
        stored.reverse();
        let catalog = (source.catalog)();
        let mut messages: Vec<_> =
            stored.into_iter().map(|stored| Message::with(stored, &*catalog)).collect();
        let choices = match Selection::new(expressions, output.kind.is_in_one_order()) {
            Some(selection) => {
                selection.judge(messages.iter_mut()).await?;
                selection.choose(&messages, &vec![false; messages.len()])
            }
            None => vec![Choice::Deliver { alarm: false }; messages.len()],
        };
        Ok(messages.iter().zip(choices).map(|(message, choice)| Tried::of(message, choice)).collect())
    }
}

impl Tried {
    fn of(message: &Message, choice: Choice) -> Tried {
        let payload = || RawValue::from_string(message.mapped()?.to_owned()).ok();
        let (result, payload, reason) = match choice {
            Choice::Deliver { .. } => (TriedResult::Delivered, payload(), None),
            Choice::Skip { .. } => (TriedResult::Skipped, None, None),
            Choice::Refuse(reason) => (TriedResult::DeadLetter, None, Some(reason)),
        };
        let received_at = dunnage_base::clock::rfc3339(message.received_at);
        Tried { id: message.id, device: message.device.clone(), received_at, result, payload, reason }
    }
}
