//! The state of one message at each output.

use super::{DeadLetterError, Outputs};
use serde::Serialize;
use utoipa::ToSchema;

/// The state of a message at one output.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct Outcome {
    /// The output's name.
    pub output: String,
    /// How far it is.
    pub state: Resolution,
    /// Why the message is a dead letter, if it is one.
    #[schema(required)]
    pub reason: Option<String>,
}

/// How far an output is with a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Resolution {
    /// The output has not noted that the message is resolved: it waits, is being delivered or retried, or was delivered shortly ago.
    Waiting,
    /// The output has nothing more to do: the message was delivered, or an operator discarded it.
    Done,
    /// The message is a dead letter, which nobody has retried or discarded.
    DeadLetter,
}

impl Outputs {
    /// Returns the state of the message `id` of `device` at each output, in the order in which the outputs were started.
    pub async fn outcomes(&self, id: i64, device: &str) -> Result<Vec<Outcome>, DeadLetterError> {
        let mut outcomes = Vec::new();
        for (output, position) in self.positions() {
            let letters = self.dead_letters(&output, id - 1, 1).await?;
            let letter = letters.into_iter().find(|letter| letter.message_id == id);
            let state = match &letter {
                Some(_) => Resolution::DeadLetter,
                None if position.is_resolved(id, device) => Resolution::Done,
                None => Resolution::Waiting,
            };
            outcomes.push(Outcome { output, state, reason: letter.map(|letter| letter.reason) });
        }
        Ok(outcomes)
    }
}
