//! Replays of outputs: begins, pauses, resumes and cancels them.

use super::{SELECTION, dead_letters::NOT_RUNNING};
use crate::state::GatewayState;
use axum::http::StatusCode;
use dunnage_access::is_pattern;
use dunnage_base::clock;
use dunnage_buffer::Times;
use dunnage_inputs::{Problem, ProblemKind};
use dunnage_outputs::{DeadLetterError, ReplayAction, ReplayError, ReplayRequest, ReplayStatus};
use serde::{Deserialize, Serialize};
use std::fmt;
use utoipa::ToSchema;

/// The output cannot deliver messages again.
pub const NOT_REPLAYABLE: ProblemKind =
    ProblemKind::new(StatusCode::CONFLICT, "not-replayable", "Output without replays");
/// The previous replay of the output has not ended.
pub const NOT_COMPLETE: ProblemKind =
    ProblemKind::new(StatusCode::CONFLICT, "replay-not-complete", "Replay not complete");
/// The output has no replay in progress.
pub const NO_REPLAY: ProblemKind = ProblemKind::new(StatusCode::CONFLICT, "no-replay", "No replay");
/// The messages to deliver again.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Replay {
    /// Messages that were received at this time or later: RFC 3339.
    #[schema(format = DateTime)]
    pub from: String,
    /// Messages that were received before this time: RFC 3339. By default, up to the last one that the output has delivered.
    #[schema(format = DateTime)]
    pub until: Option<String>,
    /// Messages of these devices: an ID, where `*` matches any characters. By default, of all.
    pub device: Option<String>,
    /// Only count the messages. Nothing is delivered.
    #[serde(default)]
    pub dry_run: bool,
}

/// For the log.
impl fmt::Display for Replay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "from {}", self.from)?;
        if let Some(until) = &self.until {
            write!(f, " until {until}")?;
        }
        if let Some(device) = &self.device {
            write!(f, " of {device}")?;
        }
        f.write_str(if self.dry_run { ", only counted" } else { "" })
    }
}

/// The state of the replay of an output.
#[derive(Serialize, ToSchema)]
pub struct ReplayObject {
    /// `null` if it was cancelled.
    #[schema(required)]
    replay: Option<ReplayStatus>,
}

/// Begins a replay of the output `name`, or counts its messages.
pub async fn begin(state: &GatewayState, name: &str, replay: Replay) -> Result<ReplayObject, Problem> {
    check(state, name)?;
    let until = replay.until.map_or(Ok(Times::ALL.until), |until| time("until", &until))?;
    let times = Times { from: time("from", &replay.from)?, until };
    if times.from >= times.until {
        return Err(Problem::new(SELECTION, "from must be before until"));
    }
    if replay.device.as_deref().is_some_and(|device| !is_pattern(device)) {
        let detail = "device must be a device ID, in which * stands for any characters";
        return Err(Problem::new(SELECTION, detail));
    }
    let request = ReplayRequest { times, device: replay.device, dry_run: replay.dry_run };
    answer(state.outputs.replay(name, request).await)
}

/// Changes the replay of the output `name`.
pub async fn change(state: &GatewayState, name: &str, action: ReplayAction) -> Result<ReplayObject, Problem> {
    check(state, name)?;
    answer(state.outputs.change_replay(name, action).await)
}

fn time(key: &str, given: &str) -> Result<i64, Problem> {
    clock::parse(given).ok_or_else(|| {
        let shown: String = given.chars().take(64).collect();
        let detail = format!("{key} must be a time such as 2026-01-31T08:00:00Z, not {shown:?}");
        Problem::new(SELECTION, detail)
    })
}

fn check(state: &GatewayState, name: &str) -> Result<(), Problem> {
    match state.config.outputs.iter().any(|output| output.name == name) {
        true => Ok(()),
        false => Err(Problem::not_found(DeadLetterError::Unknown(name.into()).to_string())),
    }
}

fn answer(result: Result<Option<ReplayStatus>, ReplayError>) -> Result<ReplayObject, Problem> {
    let kind = match &result {
        Ok(_) | Err(ReplayError::Buffer) => None,
        Err(ReplayError::NotRunning(_)) => Some(NOT_RUNNING),
        Err(ReplayError::Impossible(..)) => Some(NOT_REPLAYABLE),
        Err(ReplayError::NotComplete(_)) => Some(NOT_COMPLETE),
        Err(ReplayError::NoReplay(_)) => Some(NO_REPLAY),
    };
    match (result, kind) {
        (Ok(replay), _) => Ok(ReplayObject { replay }),
        (Err(error), Some(kind)) => Err(Problem::new(kind, error.to_string())),
        (Err(_), None) => Err(Problem::unreadable()),
    }
}
