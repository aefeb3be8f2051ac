//! `/outputs/replay`: begins, pauses, resumes and cancels replays.

use super::{Admin, Query, query};
use crate::operations::replay::{self, Replay, ReplayObject};
use axum::{Json, extract::State};
use dunnage_inputs::Problem;
use dunnage_outputs::ReplayAction;
use serde::Deserialize;
use std::sync::Arc;

/// The output, and which messages it delivers again.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Asked {
    output: String,
    from: String,
    until: Option<String>,
    device: Option<String>,
    #[serde(default)]
    dry_run: bool,
}

/// The output, and what to do with its replay.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Changed {
    output: String,
    action: Action,
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Action {
    Pause,
    Resume,
    Cancel,
}

/// `POST /outputs/replay`
pub(super) async fn begin(
    State(admin): State<Arc<Admin>>,
    asked: Query<Asked>,
) -> Result<Json<ReplayObject>, Problem> {
    let Asked { output, from, until, device, dry_run } = query(asked)?;
    let wanted = Replay { from, until, device, dry_run };
    Ok(Json(replay::begin(&admin.state, &output, wanted).await?))
}

/// `POST /outputs/replay/change`
pub(super) async fn change(
    State(admin): State<Arc<Admin>>,
    changed: Query<Changed>,
) -> Result<Json<ReplayObject>, Problem> {
    let Changed { output, action } = query(changed)?;
    let action = match action {
        Action::Pause => ReplayAction::Pause,
        Action::Resume => ReplayAction::Resume,
        Action::Cancel => ReplayAction::Cancel,
    };
    Ok(Json(replay::change(&admin.state, &output, action).await?))
}
