//! The quarantine: lists its messages, decodes them again, discards them.

use super::{Admin, Query, ids::Ids, query};
use crate::{api::objects::RejectObject, state::GatewayState};
use axum::{Json, extract::State};
use dunnage_buffer::{Change, Filter, NewQuarantined, Quarantined, Use};
use dunnage_ingest::Rejected;
use dunnage_inputs::Problem;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use tokio::sync::oneshot::Receiver;

/// Messages that are read from the quarantine at a time.
const AT_A_TIME: usize = 256;
/// Most messages in a list, and most failures in the answer to a retry.
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
}

impl Asked {
    fn filter(&self) -> Filter {
        Filter { device: self.device.clone(), kind: self.kind.clone(), ids: self.ids.0.clone() }
    }

    /// Reads the selected messages with an ID above the first and up to the second of `range`, at most `limit`.
    async fn find(
        &self,
        state: &GatewayState,
        range: (i64, i64),
        limit: usize,
    ) -> Result<Vec<Quarantined>, Problem> {
        let (filter, wanted) = (self.filter(), self.schema.clone());
        let profiles = state.ingest().profiles.load_full();
        let also = move |found: &Quarantined| {
            wanted.is_none()
                || profiles.schema_of(&found.device, found.schema.as_deref()) == wanted.as_deref()
        };
        Ok(state.ingest().readers.of(Use::Admin).find_quarantined(filter, also, range, limit).await?)
    }
}

/// A part of the quarantine, oldest first.
#[derive(Serialize)]
pub struct Listed {
    messages: Vec<RejectObject>,
    /// Whether there are more.
    more: bool,
}

/// The result of a retry.
#[derive(Default, Serialize)]
pub struct Retried {
    /// Decoded and stored.
    stored: u64,
    /// Not decoded; still in the quarantine.
    failed: u64,
    /// The first of these, at most [`LISTED`].
    failures: Vec<Failure>,
}

/// A message that still could not be decoded.
#[derive(Serialize)]
struct Failure {
    id: i64,
    device: String,
    kind: &'static str,
    offset: Option<usize>,
    reason: String,
}

/// The number of discarded messages.
#[derive(Serialize)]
pub struct Dropped {
    dropped: u64,
}

/// `GET /quarantine`
pub(super) async fn list(
    State(admin): State<Arc<Admin>>,
    asked: Query<Asked>,
) -> Result<Json<Listed>, Problem> {
    let asked = query(asked)?;
    let limit = asked.limit.unwrap_or(LISTED).clamp(1, LISTED);
    let mut found = asked.find(&admin.state, (0, i64::MAX), limit + 1).await?;
    let more = found.len() > limit;
    found.truncate(limit);
    let profiles = admin.state.ingest().profiles.load();
    let messages = found.into_iter().map(|kept| RejectObject::of_stored(kept, &profiles)).collect();
    Ok(Json(Listed { messages, more }))
}

/// `POST /quarantine/retry`: decodes messages with the current profiles and schemas, and stores those that succeed as new messages with
/// their original times of arrival.
pub(super) async fn retry(
    State(admin): State<Arc<Admin>>,
    asked: Query<Asked>,
) -> Result<Json<Retried>, Problem> {
    let asked = query(asked)?;
    let _alone = admin.quarantine.lock().await;
    let state = &admin.state;
    // Up to the last ID of now, so that messages that arrive meanwhile do not prolong the loop.
    let (mut after, last) = (0, state.ingest().stats.totals().last_quarantine_id);
    let mut retried = Retried::default();
    loop {
        let kept = asked.find(state, (after, last), AT_A_TIME).await?;
        let Some(newest) = kept.last() else { break };
        after = newest.id;
        let mut stored: Vec<Receiver<bool>> = Vec::new();
        for kept in kept {
            let (id, device) = (kept.id, kept.device.clone());
            match state.ingest().decode_again(kept).await {
                Ok(message) => stored.push(state.ingest().requeue(message, id).await?),
                Err((rejected, _)) => retried.failed(id, device, rejected),
            }
        }
        for durable in stored {
            if durable.await != Ok(true) {
                return Err(Rejected::not_written().into());
            }
            retried.stored += 1;
        }
    }
    state.metrics.requeued.inc_by(retried.stored);
    let (stored, failed) = (retried.stored, retried.failed);
    tracing::info!(stored, failed, "quarantined messages were decoded again");
    Ok(Json(retried))
}

/// `POST /quarantine/discard`
pub(super) async fn discard(
    State(admin): State<Arc<Admin>>,
    asked: Query<Asked>,
) -> Result<Json<Dropped>, Problem> {
    let asked = query(asked)?;
    let _alone = admin.quarantine.lock().await;
    let state = &admin.state;
    // Up to the last ID of now, so that messages that arrive meanwhile do not prolong the loop.
    let (mut after, last) = (0, state.ingest().stats.totals().last_quarantine_id);
    let mut dropped = 0;
    loop {
        let ids: Vec<_> =
            asked.find(state, (after, last), AT_A_TIME).await?.iter().map(|kept| kept.id).collect();
        let Some(newest) = ids.last() else { break };
        after = *newest;
        let count = ids.len() as u64;
        state.ingest().queue.change(Change::Discard { quarantine_ids: ids }).await.map_err(Problem::from)?;
        dropped += count;
        state.metrics.discarded.inc_by(count);
    }
    tracing::warn!(messages = dropped, "quarantined messages were discarded");
    Ok(Json(Dropped { dropped }))
}

impl Retried {
    fn failed(&mut self, id: i64, device: String, rejected: NewQuarantined) {
        self.failed += 1;
        if self.failures.len() < LISTED {
            let NewQuarantined { kind, offset, reason, .. } = rejected;
            self.failures.push(Failure { id, device, kind, offset, reason });
        }
    }
}
