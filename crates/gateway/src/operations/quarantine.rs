//! The quarantine: finds its messages, decodes them again, discards them.

use crate::state::GatewayState;
use dunnage_buffer::{Change, Filter, NewQuarantined, Quarantined, Use};
use dunnage_ingest::{Rejected, profiles::Subject};
use dunnage_inputs::Problem;
use serde::Serialize;
use tokio::sync::oneshot::Receiver;
use utoipa::ToSchema;

/// Messages that are read from the quarantine at a time.
const AT_A_TIME: usize = 256;
/// Most failures in the answer to a retry.
const FAILURES: usize = 1000;

/// Selects messages. A field that is `None` or empty accepts all.
#[derive(Debug, Clone, Default)]
pub struct Selection {
    /// A pattern of devices.
    pub device: Option<String>,
    /// The kind of error.
    pub kind: Option<String>,
    /// The schema that they would be decoded with now.
    pub schema: Option<String>,
    /// Their IDs in the quarantine.
    pub ids: Vec<i64>,
}

/// A part of the quarantine: IDs above `after` and up to `up_to`, and at most `most` of them.
#[derive(Debug, Clone, Copy)]
pub struct Part {
    /// The ID before the first.
    pub after: i64,
    /// The last ID.
    pub up_to: i64,
    /// Most messages.
    pub most: usize,
}

impl Part {
    /// Returns the part with all messages that are there now. Those that arrive later do not prolong an operation.
    pub fn of_now(state: &GatewayState) -> Part {
        Part { after: 0, up_to: state.buffer().stats.totals().last_quarantine_id, most: usize::MAX }
    }
}

impl Selection {
    /// Reads the selected messages of `part`, the oldest first. Ends early after more than 1 MiB.
    pub async fn find(&self, state: &GatewayState, part: Part) -> Result<Vec<Quarantined>, Problem> {
        let filter = Filter { device: self.device.clone(), kind: self.kind.clone(), ids: self.ids.clone() };
        let (wanted, profiles) = (self.schema.clone(), state.ingest().profiles.load_full());
        let also = move |found: &Quarantined| {
            let subject = Subject::new(&found.device, found.origin.as_deref());
            wanted.is_none() || profiles.schema_of(&subject, found.schema.as_deref()) == wanted.as_deref()
        };
        let range = (part.after, part.up_to);
        Ok(state.buffer().readers.of(Use::Admin).find_quarantined(filter, also, range, part.most).await?)
    }
}

/// The result of a retry.
#[derive(Default, Serialize, ToSchema)]
pub struct Retried {
    /// Decoded and stored.
    pub stored: u64,
    /// Not decoded; still in the quarantine.
    pub failed: u64,
    /// The first of these, at most 1000.
    failures: Vec<NotDecoded>,
    /// The last ID that was examined, if there may be more messages of the selection after it.
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<i64>,
}

/// A message that still could not be decoded.
#[derive(Serialize, ToSchema)]
struct NotDecoded {
    id: i64,
    device: String,
    kind: &'static str,
    #[schema(required)]
    offset: Option<usize>,
    reason: String,
}

/// The result of a discard.
#[derive(Default, Serialize, ToSchema)]
pub struct Discarded {
    /// Messages that were discarded.
    pub dropped: u64,
    /// The last ID that was examined, if there may be more messages of the selection after it.
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<i64>,
}

/// Decodes messages with the current profiles and schemas, and stores those that succeed as new messages with their original times of
/// arrival. They are of `content_type`, or of the content types that their senders named.
pub async fn retry(
    state: &GatewayState,
    selection: &Selection,
    content_type: Option<&str>,
    mut part: Part,
) -> Result<Retried, Problem> {
    let _alone = state.quarantine.lock().await;
    let mut retried = Retried::default();
    while let Some(found) = take(state, selection, &mut part).await? {
        let mut stored: Vec<Receiver<bool>> = Vec::new();
        for kept in found {
            let (id, device) = (kept.id, kept.device.clone());
            match state.ingest().decode_again(kept, content_type).await {
                Ok(message) => stored.push(state.ingest().requeue(message, id).await?),
                Err((rejected, _)) => retried.failed(id, device, rejected),
            }
        }
        for durable in stored {
            if durable.await != Ok(true) {
                return Err(Rejected::not_written().into());
            }
            retried.stored += 1;
            state.metrics.requeued.inc();
        }
    }
    retried.next = part.rest();
    let (stored, failed) = (retried.stored, retried.failed);
    tracing::info!(stored, failed, "quarantined messages were decoded again");
    Ok(retried)
}

/// Discards messages.
pub async fn discard(
    state: &GatewayState,
    selection: &Selection,
    mut part: Part,
) -> Result<Discarded, Problem> {
    let _alone = state.quarantine.lock().await;
    let mut discarded = Discarded::default();
    while let Some(found) = take(state, selection, &mut part).await? {
        let quarantine_ids: Vec<_> = found.iter().map(|kept| kept.id).collect();
        let count = quarantine_ids.len() as u64;
        state.buffer().queue.change(Change::Discard { quarantine_ids }).await.map_err(Problem::from)?;
        discarded.dropped += count;
        state.metrics.discarded.inc_by(count);
    }
    discarded.next = part.rest();
    tracing::warn!(messages = discarded.dropped, "quarantined messages were discarded");
    Ok(discarded)
}

/// Takes the next messages of `part` from its beginning. `None` at its end.
async fn take(
    state: &GatewayState,
    selection: &Selection,
    part: &mut Part,
) -> Result<Option<Vec<Quarantined>>, Problem> {
    if part.most == 0 {
        return Ok(None);
    }
    let found = selection.find(state, Part { most: part.most.min(AT_A_TIME), ..*part }).await?;
    part.most -= found.len();
    let Some(last) = found.last() else { return Ok(None) };
    part.after = last.id;
    Ok(Some(found))
}

impl Part {
    /// Returns the last ID that was taken, if there may be more.
    fn rest(&self) -> Option<i64> {
        (self.most == 0 && self.after < self.up_to).then_some(self.after)
    }
}

impl Retried {
    fn failed(&mut self, id: i64, device: String, rejected: NewQuarantined) {
        self.failed += 1;
        if self.failures.len() < FAILURES {
            let NewQuarantined { kind, offset, reason, .. } = rejected;
            self.failures.push(NotDecoded { id, device, kind, offset, reason });
        }
    }
}
