//! The dead letters of outputs: lists, retries and discards them.

use super::{Admin, Query, ids::Ids, query};
use axum::{Json, extract::State, http::StatusCode};
use dunnage_base::clock::rfc3339;
use dunnage_buffer::DeadLetter;
use dunnage_inputs::Problem;
use dunnage_outputs::{DeadLetterError, Which};
use serde::{Deserialize, Serialize};
use std::{collections::BTreeMap, sync::Arc};

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
    messages: Vec<Message>,
}

#[derive(Serialize)]
struct Message {
    id: i64,
    /// `None` if the message has left the buffer.
    device: Option<String>,
    refused_at: String,
    reason: String,
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
    for (output, count) in admin.with_dead_letters(asked.output.as_deref())? {
        let state = &admin.state;
        let found = state.outputs.dead_letters(&output, 0, limit).await.map_err(|e| refused(&e))?;
        let messages = found.into_iter().map(Message::of).collect();
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

#[derive(Clone, Copy)]
enum Action {
    Retry,
    Discard,
}

async fn resolve(admin: &Admin, asked: Query<Asked>, action: Action) -> Result<Json<Done>, Problem> {
    let asked = query(asked)?;
    let (outputs, mut messages) = (&admin.state.outputs, 0);
    for (output, _) in admin.with_dead_letters(asked.output.as_deref())? {
        let resolved = match action {
            Action::Retry => outputs.retry(&output, asked.which()).await,
            Action::Discard => outputs.discard(&output, asked.which()).await,
        };
        messages += resolved.map_err(|e| refused(&e))?;
    }
    Ok(Json(Done { messages }))
}

impl Asked {
    fn which(&self) -> Which {
        if self.ids.0.is_empty() { Which::All } else { Which::Ids(self.ids.0.clone()) }
    }
}

impl Admin {
    /// Returns the outputs with dead letters and their numbers; only `output` if it is given.
    fn with_dead_letters(&self, output: Option<&str>) -> Result<BTreeMap<String, u64>, Problem> {
        let mut counts = BTreeMap::clone(&self.state.ingest().stats.totals().dead_letters);
        if let Some(output) = output {
            let known = self.config.outputs.iter().any(|known| known.name == output);
            if !known && !counts.contains_key(output) {
                return Err(Problem::not_found(DeadLetterError::Unknown(output.into()).to_string()));
            }
            counts.retain(|name, _| name == output);
        }
        Ok(counts)
    }
}

impl Message {
    fn of(letter: DeadLetter) -> Message {
        Message {
            id: letter.message_id,
            device: letter.device,
            refused_at: rfc3339(letter.refused_at),
            reason: letter.reason,
        }
    }
}

fn refused(error: &DeadLetterError) -> Problem {
    match error {
        DeadLetterError::Unknown(output) => {
            let detail = format!("the output {output:?} is not running: the configuration no longer has it");
            Problem::new(StatusCode::CONFLICT, "not-running", "Output not running", detail)
        }
        DeadLetterError::Buffer => Problem::unreadable(),
    }
}
