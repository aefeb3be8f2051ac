//! `/quarantine`: lists its messages, decodes them again, discards them.

use super::{Admin, Query, ids::Ids, query};
use crate::{
    api::objects::RejectObject,
    operations::quarantine::{self, Discarded, Part, Retried, Selection},
};
use axum::{Json, extract::State};
use dunnage_inputs::Problem;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Most messages in a list.
const LISTED: usize = 1000;

/// Selects messages; without any field, all.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Asked {
    device: Option<String>,
    kind: Option<String>,
    /// The schema that they would be decoded with now.
    schema: Option<String>,
    ids: Ids,
    /// Most messages in a list.
    limit: Option<usize>,
    /// For a retry: the content type of the messages, in place of their own.
    content_type: Option<String>,
}

impl From<Asked> for Selection {
    fn from(Asked { device, kind, schema, ids, .. }: Asked) -> Selection {
        Selection { device, kind, schema, ids: ids.0 }
    }
}

/// A part of the quarantine, oldest first.
#[derive(Serialize)]
pub struct Listed {
    messages: Vec<RejectObject>,
    /// Whether there are more.
    more: bool,
}

/// `GET /quarantine`
pub(super) async fn list(
    State(admin): State<Arc<Admin>>,
    asked: Query<Asked>,
) -> Result<Json<Listed>, Problem> {
    let asked = query(asked)?;
    let limit = asked.limit.unwrap_or(LISTED).clamp(1, LISTED);
    let part = Part { after: 0, up_to: i64::MAX, most: limit + 1 };
    let selection = Selection::from(asked);
    let mut found = selection.find(&admin.state, part).await?;
    let mut more = found.len() > limit;
    found.truncate(limit);
    if let Some(last) = found.last().filter(|_| !more) {
        // Large messages end a list early.
        let rest = Part { after: last.id, most: 1, ..part };
        more = !selection.find(&admin.state, rest).await?.is_empty();
    }
    let profiles = admin.state.ingest().profiles.load();
    let messages = found.into_iter().map(|kept| RejectObject::of_stored(kept, &profiles)).collect();
    Ok(Json(Listed { messages, more }))
}

/// `POST /quarantine/retry`
pub(super) async fn retry(
    State(admin): State<Arc<Admin>>,
    asked: Query<Asked>,
) -> Result<Json<Retried>, Problem> {
    let mut asked = query(asked)?;
    let content_type = asked.content_type.take();
    let part = Part::of_now(&admin.state);
    quarantine::retry(&admin.state, &asked.into(), content_type.as_deref(), part).await.map(Json)
}

/// `POST /quarantine/discard`
pub(super) async fn discard(
    State(admin): State<Arc<Admin>>,
    asked: Query<Asked>,
) -> Result<Json<Discarded>, Problem> {
    let (selection, part) = (query(asked)?.into(), Part::of_now(&admin.state));
    quarantine::discard(&admin.state, &selection, part).await.map(Json)
}
