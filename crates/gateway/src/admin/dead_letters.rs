//! `/dead-letters`: lists, retries and discards the dead letters of outputs.

use super::{Admin, Query, ids::Ids, query};
use crate::operations::dead_letters::{self, Action, DeadLetterObject};
use axum::{Json, extract::State};
use dunnage_buffer::Use;
use dunnage_inputs::Problem;
use dunnage_outputs::Which;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Most messages of an output in a list.
const LISTED: u32 = 1000;

/// Selects messages; without any field, all.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Asked {
    output: Option<String>,
    ids: Ids,
    /// Most messages of an output in a list.
    limit: Option<u32>,
}

#[derive(Serialize)]
pub(super) struct Listed {
    outputs: Vec<Output>,
}

/// An output with dead letters.
#[derive(Serialize)]
struct Output {
    output: String,
    /// The number of its dead letters.
    count: u64,
    /// The oldest of them.
    messages: Vec<DeadLetterObject>,
}

#[derive(Serialize)]
pub(super) struct Done {
    messages: u64,
}

/// `GET /dead-letters`
pub(super) async fn list(
    State(admin): State<Arc<Admin>>,
    asked: Query<Asked>,
) -> Result<Json<Listed>, Problem> {
    let asked = query(asked)?;
    let limit = asked.limit.unwrap_or(LISTED).clamp(1, LISTED);
    let mut outputs = Vec::new();
    for (output, count) in dead_letters::counts(&admin.state, asked.output.as_deref())? {
        let readers = admin.state.ingest().readers.of(Use::Admin);
        let messages = dead_letters::list(&readers, &output, 0, limit).await?;
        outputs.push(Output { output, count, messages });
    }
    Ok(Json(Listed { outputs }))
}

/// `POST /dead-letters/retry`: has outputs retry dead letters, which leave the list when they are delivered.
pub(super) async fn retry(admin: State<Arc<Admin>>, asked: Query<Asked>) -> Result<Json<Done>, Problem> {
    resolve(&admin, asked, Action::Retry).await
}

/// `POST /dead-letters/discard`: discards dead letters. The messages stay in the buffer.
pub(super) async fn discard(admin: State<Arc<Admin>>, asked: Query<Asked>) -> Result<Json<Done>, Problem> {
    resolve(&admin, asked, Action::Discard).await
}

async fn resolve(admin: &Admin, asked: Query<Asked>, action: Action) -> Result<Json<Done>, Problem> {
    let asked = query(asked)?;
    let mut messages = 0;
    for (output, _) in dead_letters::counts(&admin.state, asked.output.as_deref())? {
        messages += dead_letters::resolve(&admin.state, &output, asked.which(), action).await?;
    }
    Ok(Json(Done { messages }))
}

impl Asked {
    fn which(&self) -> Which {
        if self.ids.0.is_empty() { Which::All } else { Which::Ids(self.ids.0.clone()) }
    }
}
