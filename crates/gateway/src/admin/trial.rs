//! `/outputs/try`: tries expressions on the last messages.

use super::{Admin, Query, query};
use crate::operations::trial::{self, Trial, TrialObject};
use axum::{Json, extract::State};
use dunnage_inputs::Problem;
use serde::Deserialize;
use std::sync::Arc;

/// The output, and what to try.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Asked {
    output: String,
    last: Option<u32>,
    when: Option<String>,
    until: Option<String>,
    map: Option<String>,
}

/// `POST /outputs/try`
pub(super) async fn run(
    State(admin): State<Arc<Admin>>,
    asked: Query<Asked>,
) -> Result<Json<TrialObject>, Problem> {
    let Asked { output, last, when, until, map } = query(asked)?;
    Ok(Json(trial::run(&admin.state, &output, Trial { last, when, until, map }).await?))
}
