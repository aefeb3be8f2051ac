//! The routes of replays, for operators.

use super::{
    operate::{Operator, read, to_the_end},
    problems::{ReplayChangeProblems, ReplayProblems},
};
use crate::{
    operations::replay::{self, Replay, ReplayObject},
    state::GatewayState,
};
use axum::{Extension, Json, body::Body, extract::State};
use dunnage_inputs::{NoQuery, Problem, Segment};
use dunnage_outputs::ReplayAction;
use serde::Deserialize;
use std::sync::Arc;
use utoipa::ToSchema;
use utoipa_axum::{router::OpenApiRouter, routes};

pub fn routes() -> OpenApiRouter<Arc<GatewayState>> {
    OpenApiRouter::new().routes(routes!(begin_replay, change_replay, cancel_replay))
}

/// What changes.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct ReplayChange {
    /// Whether the replay pauses.
    paused: bool,
}

#[utoipa::path(post, path = "/api/outputs/{output}/replay", tag = "operations", params(("output" = String, Path, description = "The output's name.")), request_body = Replay, security(("token" = [])), responses(
    (status = 200, description = "The output delivers the messages again that it has delivered, beside the new ones. With `dry_run`, they were only counted.", body = ReplayObject),
    ReplayProblems,
    (status = 404, description = "`not-found`: there is no such output", body = Problem, content_type = "application/problem+json"),
))]
async fn begin_replay(
    State(state): State<Arc<GatewayState>>,
    Extension(operator): Extension<Operator>,
    Segment(output): Segment,
    _: NoQuery,
    body: Body,
) -> Result<Json<ReplayObject>, Problem> {
    let wanted = read::<Replay>(&state, &operator, body).await?;
    to_the_end(async move {
        let shown = wanted.to_string();
        let begun = replay::begin(&state, &output, wanted).await;
        operator.log_replay("began", &output, &shown, begun.is_ok());
        begun
    })
    .await
}

#[utoipa::path(patch, path = "/api/outputs/{output}/replay", tag = "operations", params(("output" = String, Path, description = "The output's name.")), request_body = ReplayChange, security(("token" = [])), responses(
    (status = 200, description = "The replay pauses, or goes on.", body = ReplayObject),
    ReplayChangeProblems,
    (status = 404, description = "`not-found`: there is no such output", body = Problem, content_type = "application/problem+json"),
))]
async fn change_replay(
    State(state): State<Arc<GatewayState>>,
    Extension(operator): Extension<Operator>,
    Segment(output): Segment,
    _: NoQuery,
    body: Body,
) -> Result<Json<ReplayObject>, Problem> {
    let ReplayChange { paused } = read(&state, &operator, body).await?;
    let (action, did) =
        if paused { (ReplayAction::Pause, "paused") } else { (ReplayAction::Resume, "resumed") };
    change(state, operator, output, action, did).await
}

#[utoipa::path(delete, path = "/api/outputs/{output}/replay", tag = "operations", params(("output" = String, Path, description = "The output's name.")), security(("token" = [])), responses(
    (status = 200, description = "The replay has ended. What it has delivered stays delivered.", body = ReplayObject),
    ReplayChangeProblems,
    (status = 404, description = "`not-found`: there is no such output", body = Problem, content_type = "application/problem+json"),
))]
async fn cancel_replay(
    State(state): State<Arc<GatewayState>>,
    Extension(operator): Extension<Operator>,
    Segment(output): Segment,
    _: NoQuery,
) -> Result<Json<ReplayObject>, Problem> {
    change(state, operator, output, ReplayAction::Cancel, "cancelled").await
}

async fn change(
    state: Arc<GatewayState>,
    operator: Operator,
    output: String,
    action: ReplayAction,
    did: &'static str,
) -> Result<Json<ReplayObject>, Problem> {
    to_the_end(async move {
        let changed = replay::change(&state, &output, action).await;
        operator.log_replay(did, &output, "", changed.is_ok());
        changed
    })
    .await
}
