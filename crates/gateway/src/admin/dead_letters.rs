//! `/dead-letters`: lists, retries and discards the dead letters of outputs, and lists and discards the messages that they retry.

use super::{Admin, Query, ids::Ids, query};
use crate::{
    operations::dead_letters::{self, Action, DeadLetterObject},
    state::GatewayState,
};
use axum::{Json, extract::State};
use dunnage_buffer::Use;
use dunnage_inputs::Problem;
use dunnage_outputs::{RetriedMessage, Which};
use serde::{Deserialize, Serialize};
use std::{collections::BTreeSet, sync::Arc};

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

/// An output with dead letters, or with messages that it retries.
#[derive(Serialize)]
struct Output {
    output: String,
    /// The number of its dead letters.
    count: u64,
    /// The oldest of them.
    messages: Vec<DeadLetterObject>,
    /// The oldest messages that are retried: the first one of each device.
    retried: Vec<RetriedMessage>,
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
    let mut counts = dead_letters::counts(&admin.state, asked.output.as_deref())?;
    for output in running(&admin.state, asked.output.as_deref()) {
        counts.entry(output).or_default();
    }
    for (output, count) in counts {
        let readers = admin.state.buffer().readers.of(Use::Admin);
        let messages = dead_letters::list(&readers, &output, 0, limit).await?;
        let retried = admin.state.outputs.retried(&output, limit as usize).await;
        if !messages.is_empty() || !retried.is_empty() {
            outputs.push(Output { output, count, messages, retried });
        }
    }
    Ok(Json(Listed { outputs }))
}

/// `POST /dead-letters/retry`: has outputs retry dead letters, which leave the list when they are delivered.
pub(super) async fn retry(admin: State<Arc<Admin>>, asked: Query<Asked>) -> Result<Json<Done>, Problem> {
    resolve(&admin, asked, Action::Retry).await
}

/// `POST /dead-letters/discard`: discards dead letters, and messages that are retried if their IDs are given. The messages stay in the
/// buffer.
pub(super) async fn discard(admin: State<Arc<Admin>>, asked: Query<Asked>) -> Result<Json<Done>, Problem> {
    resolve(&admin, asked, Action::Discard).await
}

async fn resolve(admin: &Admin, asked: Query<Asked>, action: Action) -> Result<Json<Done>, Problem> {
    let asked = query(asked)?;
    let mut messages = 0;
    let mut outputs: BTreeSet<String> =
        dead_letters::counts(&admin.state, asked.output.as_deref())?.into_keys().collect();
    if action == Action::Discard && !asked.ids.0.is_empty() {
        outputs.extend(running(&admin.state, asked.output.as_deref()));
    }
    for output in outputs {
        messages += dead_letters::resolve(&admin.state, &output, asked.which(), action).await?;
    }
    Ok(Json(Done { messages }))
}

/// Returns the outputs that are running, or only `output` if it is given.
fn running(state: &GatewayState, output: Option<&str>) -> Vec<String> {
    let last = state.buffer().stats.totals().last_message_id;
    let all = state.outputs.statuses(last).into_iter().map(|status| status.output);
    all.filter(|name| output.is_none_or(|output| name == output)).collect()
}

impl Asked {
    fn which(&self) -> Which {
        if self.ids.0.is_empty() { Which::All } else { Which::Ids(self.ids.0.clone()) }
    }
}
