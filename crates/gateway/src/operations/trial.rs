//! Tries the expressions of an output, or others, on the last messages.

use crate::state::GatewayState;
use axum::http::StatusCode;
use dunnage_inputs::{Problem, ProblemKind};
use dunnage_outputs::{DeadLetterError, Expressions, TrialError, Tried};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// An expression is wrong.
pub const EXPRESSION: ProblemKind = ProblemKind::new(StatusCode::BAD_REQUEST, "expression", "Bad expression");
/// The process that evaluates expressions cannot be started.
pub const NOT_EVALUATED: ProblemKind =
    ProblemKind::new(StatusCode::SERVICE_UNAVAILABLE, "not-evaluated", "Not evaluated");

/// How many messages are examined by default.
const LAST: u32 = 20;

/// What to try.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Trial {
    /// How many of the last messages to examine: 20 by default, and 100 at most.
    #[schema(minimum = 1, maximum = 100)]
    pub last: Option<u32>,
    /// Which messages to deliver. With this, `until` or `map`, none of the output's own expressions counts.
    pub when: Option<String>,
    /// When the alarm of a device ends.
    pub until: Option<String>,
    /// What to deliver.
    pub map: Option<String>,
}

/// The result of a trial: the oldest message first.
#[derive(Serialize, ToSchema)]
pub struct TrialObject {
    messages: Vec<Tried>,
}

/// Tries what `trial` says for the output `name`. Nothing is delivered.
pub async fn run(state: &GatewayState, name: &str, trial: Trial) -> Result<TrialObject, Problem> {
    let Some(output) = state.config.outputs.iter().find(|output| output.name == name) else {
        return Err(Problem::not_found(DeadLetterError::Unknown(name.into()).to_string()));
    };
    let Trial { last, when, until, map } = trial;
    let own = Expressions { when, until, map };
    let expressions = if own.is_empty() { &output.expressions } else { &own };
    let messages = state.outputs.tried(output, expressions, last.unwrap_or(LAST).max(1)).await;
    let messages = messages.map_err(|error| match error {
        TrialError::Mistake(..) => Problem::new(EXPRESSION, error.to_string()),
        TrialError::Buffer(error) => error.into(),
        TrialError::Process(_) => Problem::new(NOT_EVALUATED, error.to_string()),
    })?;
    Ok(TrialObject { messages })
}
