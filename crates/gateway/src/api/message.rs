//! One message: its bytes with their meaning, its size in other formats, and its state at the outputs.

use super::problems::{AnswerProblems, NameProblems, ReadProblems};
use super::{
    guard::Readable,
    objects::{MessageObject, slot},
    turns::turn,
};
use crate::state::GatewayState;
use axum::Json;
use dunnage_base::hex::hex;
use dunnage_buffer::{Message, Page, Times};
use dunnage_explain::{Explanation, Reader, Stop};
use dunnage_formats::{Format, Id, Known};
use dunnage_ingest::{
    is_decoded_elsewhere,
    profiles::{Codecs, Profiles, Rule, Subject, slots::Slots},
};
use dunnage_inputs::{AccessProblems, Problem, Segment};
use dunnage_outputs::Outcome;
use dunnage_packed::is_delta;
use serde::Serialize;
use utoipa::ToSchema;

/// Most bytes of a message, and of its JSON, that are explained and encoded in other formats. Larger messages would take long.
const EXPLAINED: usize = 64 << 10;
/// Most messages of the device that are read to find the reference of a delta. A sender forgets a reference after 16 messages that nobody
/// acknowledged; later ones may have overtaken it.
const REFERENCES: u32 = 32;

/// A message with its bytes.
#[derive(Serialize, ToSchema)]
pub struct MessageDetail {
    #[serde(flatten)]
    message: MessageObject,
    /// The request ID: of the sender, or else of the gateway.
    request: String,
    /// The bytes as they arrived.
    hex: String,
    /// The meaning of its bytes. `null` for messages above 64 KiB, and for formats whose bytes are text or are not explained.
    #[schema(required)]
    explanation: Option<Explanation>,
    /// How many bytes the message has in each format that can carry it; empty for messages above 64 KiB.
    sizes: Vec<Size>,
    /// The state of its delivery at each output.
    outputs: Vec<Outcome>,
}

/// The bytes of a message in a format.
#[derive(Serialize, ToSchema)]
struct Size {
    format: &'static str,
    bytes: usize,
}

#[utoipa::path(get, path = "/api/messages/{id}", tag = "api", params(("id" = i64, Path, description = "The message's ID.")), responses(
    (status = 200, description = "A message, its bytes and what they mean.", body = MessageDetail),
    NameProblems,
    AccessProblems,
    (status = 404, description = "`not-found`: there is no such message, or retention has dropped it", body = Problem, content_type = "application/problem+json"),
    ReadProblems,
    AnswerProblems,
))]
pub async fn message(client: Readable, Segment(id): Segment) -> Result<Json<MessageDetail>, Problem> {
    let Readable { state, visible, .. } = client;
    let missing = || Problem::not_found(format!("there is no message {id:?}"));
    let number = id
        .parse::<i64>()
        .ok()
        .filter(|number| *number > 0 && number.to_string() == id)
        .ok_or_else(missing)?;
    // Before anything of the message is read, so that the time of the answer says nothing of it.
    let device = state.buffer().readers.device_of(number).await?;
    device.filter(|device| visible.has(device)).ok_or_else(missing)?;
    let page = Page { limit: 1, before: number.checked_add(1) };
    let found = state.buffer().readers.messages(page, Times::ALL).await?;
    let found = found.into_iter().find(|message| message.id == number).ok_or_else(missing)?;
    let earlier = earlier(&state, &found).await?;
    let outputs = state.outputs.outcomes(number, &found.device).await.map_err(|_| Problem::unreadable())?;
    let profiles = state.ingest().profiles.load_full();
    let turn = turn().await?;
    let answer = move || {
        // The turn ends with the work, which goes on when the client has left.
        let _turn = turn;
        detail(&profiles, found, &earlier, outputs)
    };
    let detail = tokio::task::spawn_blocking(answer).await;
    detail.ok().flatten().map(Json).ok_or_else(Problem::unreadable)
}

/// Returns the messages of the device before `message` to which it may refer, newest first, if it is a delta.
async fn earlier(state: &GatewayState, message: &Message) -> Result<Vec<Message>, Problem> {
    if message.format != Id::Packed.name() || !is_delta(&message.raw) {
        return Ok(Vec::new());
    }
    let page = Page { limit: REFERENCES, before: Some(message.id) };
    let found = state.buffer().readers.device_messages(message.device.clone(), page, Times::ALL).await?;
    Ok(found.unwrap_or_default())
}

/// Returns `None` if the JSON of `message` is damaged.
fn detail(
    profiles: &Profiles,
    message: Message,
    earlier: &[Message],
    outputs: Vec<Outcome>,
) -> Option<MessageDetail> {
    let is_small = message.raw.len().max(message.json.len()) <= EXPLAINED;
    let rule = profiles.rule(&Subject::new(&message.device, message.origin.as_deref()));
    let codecs = profiles.pick(rule, message.schema.as_deref()).filter(|_| is_small);
    Some(MessageDetail {
        request: message.request.clone(),
        hex: hex(&message.raw),
        // The bytes of such a message are not in its format.
        explanation: codecs
            .filter(|_| !is_decoded_elsewhere(message.origin.as_deref()))
            .and_then(|codecs| explain((rule, codecs), &message, earlier)),
        sizes: codecs.map(|codecs| sizes(codecs, &message)).unwrap_or_default(),
        outputs,
        message: MessageObject::of_stored(message, profiles)?,
    })
}

fn explain(
    (rule, codecs): (Option<&Rule>, &Codecs),
    message: &Message,
    earlier: &[Message],
) -> Option<Explanation> {
    let format: Id = message.format.parse().ok()?;
    let mut explanation = Explanation::default();
    let outcome = match &codecs.slots {
        Some(slots) if format == Id::Packed => {
            let device = &message.device;
            let texts = rule.and_then(|rule| rule.known(device));
            let known = Known { device: Some(device), texts };
            if is_delta(&message.raw) {
                explain_delta(slots, message, earlier, known, &mut explanation)
            } else {
                let number = slot(message)?;
                let slot = slots.all().iter().find(|slot| slot.key.slot == number)?;
                dunnage_explain::packed(slot.codec.layout(), &message.raw, known, &mut explanation)
            }
        }
        _ => {
            let reader = Reader::of(format, codecs.model.as_ref(), codecs.mapping_of(format)).ok()??;
            reader.items(&message.raw, &mut explanation)
        }
    };
    Some(explanation.ended(outcome))
}

/// Explains a delta with the layout of the first of `slots` that has its reference among `earlier`.
fn explain_delta(
    slots: &Slots,
    message: &Message,
    earlier: &[Message],
    known: Known<'_>,
    explanation: &mut Explanation,
) -> Result<(), Stop> {
    let values: Vec<_> = earlier
        .iter()
        .filter(|one| one.schema == message.schema && one.json.len() <= EXPLAINED)
        .filter_map(|one| dunnage_formats::Json.decode(one.json.as_bytes()).ok())
        .collect();
    let mut outcome = Ok(());
    for layout in slots.trained().map(|slot| slot.codec.layout()) {
        let references: Vec<_> = values.iter().filter_map(|value| layout.reference(value).ok()).collect();
        outcome = dunnage_explain::delta(layout, &message.raw, &references, known, explanation);
        if !explanation.parts.is_empty() {
            break;
        }
    }
    outcome
}

fn sizes(codecs: &Codecs, message: &Message) -> Vec<Size> {
    let Ok(value) = dunnage_formats::Json.decode(message.json.as_bytes()) else { return Vec::new() };
    let size = |id: Id| {
        let mut bytes = Vec::new();
        codecs.get(id).ok()?.encode(&value, &mut bytes).ok()?;
        Some(Size { format: id.name(), bytes: bytes.len() })
    };
    Id::all().filter_map(size).collect()
}
