//! The API's JSON objects.

use crate::{fleet::Position, state::GatewayState};
use dunnage_base::{clock::rfc3339, hex::hex};
use dunnage_buffer::{Message, NewMessage, NewQuarantined, Quarantined, stable_id};
use dunnage_formats::Id;
use dunnage_ingest::profiles::{Profiles, Subject};
use dunnage_packed::is_delta;
use dunnage_register::{Record, Tags};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use utoipa::ToSchema;

/// The bits of the first byte of a packed message that are its slot, unless it is a delta.
const SLOT: u8 = 0x3f;

/// A message.
#[derive(Serialize, ToSchema)]
pub struct MessageObject {
    /// The number in this gateway's buffer; those of later messages are larger.
    id: i64,
    /// The ID with which outputs deliver the message.
    name: String,
    device: String,
    /// The name and the tags of the device in the register.
    #[serde(flatten)]
    named: NamedObject,
    received_at: String,
    format: String,
    #[schema(required)]
    schema: Option<String>,
    #[schema(required)]
    slot: Option<u8>,
    #[schema(required)]
    link: Option<String>,
    bytes: usize,
    json_bytes: usize,
    /// The origin as reported by the input: `spec/ingest.md`, "What is stored".
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    origin: Option<Box<RawValue>>,
    /// Where the device was, as the message, the provider or else the register says.
    #[schema(required)]
    position: Option<Position>,
    #[schema(value_type = Value)]
    value: Box<RawValue>,
}

/// What the register says of a device.
#[derive(Clone, Default, PartialEq, Serialize, ToSchema)]
pub struct NamedObject {
    /// Its name, for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    device_name: Option<String>,
    /// Its tags.
    #[serde(skip_serializing_if = "Tags::is_empty")]
    #[schema(value_type = std::collections::BTreeMap<String, String>, required = false)]
    tags: Tags,
}

impl NamedObject {
    /// Returns what the register says of a device with this record.
    pub fn of(record: Option<&Record>) -> NamedObject {
        let named = record.map(|record| (record.name.clone(), record.tags.clone()));
        named.map_or_else(NamedObject::default, |(device_name, tags)| NamedObject { device_name, tags })
    }
}

impl MessageObject {
    /// Converts a message of the buffer. Returns `None` if its JSON is damaged.
    pub fn of_stored(m: Message, profiles: &Profiles) -> Option<Self> {
        let record = profiles.record(&m.device);
        let origin = m.origin.as_deref();
        let pointer = profiles.position(&Subject::new(&m.device, origin));
        let position = Position::find(pointer, &m.json, origin);
        Some(MessageObject {
            position: position.or_else(|| Position::of(record.as_deref()?)),
            named: NamedObject::of(record.as_deref()),
            slot: slot(&m),
            id: m.id,
            name: m.stable_id,
            device: m.device,
            received_at: rfc3339(m.received_at),
            format: m.format,
            schema: m.schema,
            link: m.link,
            bytes: m.raw.len(),
            json_bytes: m.json.len(),
            origin: m.origin.map(RawValue::from_string).transpose().ok()?,
            value: RawValue::from_string(m.json.as_ref().into()).ok()?,
        })
    }

    /// Converts a message that was just stored under `id` in the buffer `buffer`.
    pub fn of_new(buffer: &str, id: i64, message: &NewMessage, profiles: &Profiles) -> Option<Self> {
        let from = message.provenance.clone();
        let message = Message {
            id,
            stable_id: stable_id(buffer, id, &from.device, from.key.as_deref()),
            received_at: from.received_at,
            device: from.device,
            format: message.format.into(),
            schema: from.schema.as_deref().map(str::to_owned),
            link: from.link,
            raw: message.raw.clone(),
            json: message.json.as_str().into(),
            origin: from.origin.as_deref().map(str::to_owned),
            ..Message::default()
        };
        MessageObject::of_stored(message, profiles)
    }
}

/// Returns the slot of a packed message: from its origin if it is not in its bytes, otherwise from its first byte. A delta has none.
pub fn slot(message: &Message) -> Option<u8> {
    #[derive(Deserialize)]
    struct Origin {
        slot: Option<u8>,
    }
    if message.format != Id::Packed.name() {
        return None;
    }
    let origin = message.origin.as_deref().and_then(|origin| serde_json::from_str::<Origin>(origin).ok());
    let first = || message.raw.first().filter(|_| !is_delta(&message.raw)).map(|first| first & SLOT);
    origin.and_then(|origin| origin.slot).or_else(first)
}

/// A message of the quarantine.
#[derive(Serialize, ToSchema)]
pub struct RejectObject {
    id: i64,
    device: String,
    received_at: String,
    #[schema(required)]
    schema: Option<String>,
    #[schema(required)]
    link: Option<String>,
    content_type: String,
    bytes: usize,
    kind: String,
    #[schema(required)]
    offset: Option<i64>,
    reason: String,
    /// The origin as reported by the input: `spec/ingest.md`, "What is stored".
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    origin: Option<Box<RawValue>>,
    hex: String,
}

impl RejectObject {
    /// Converts a message of the quarantine. Its schema is the one that it would be decoded with now.
    pub fn of_stored(r: Quarantined, profiles: &Profiles) -> Self {
        let schema = profiles
            .schema_of(&Subject::new(&r.device, r.origin.as_deref()), r.schema.as_deref())
            .map(str::to_owned);
        RejectObject {
            id: r.id,
            device: r.device,
            received_at: rfc3339(r.received_at),
            schema,
            link: r.link,
            content_type: r.content_type,
            bytes: r.raw.len(),
            kind: r.kind,
            offset: r.offset,
            reason: r.reason,
            origin: r.origin.and_then(|origin| RawValue::from_string(origin).ok()),
            hex: hex(&r.raw),
        }
    }

    /// Converts a message that was just quarantined under `id`.
    pub fn of_new(id: i64, message: &NewQuarantined, profiles: &Profiles) -> Self {
        let from = message.provenance.clone();
        let schema = profiles.schema_of(&(&from).into(), from.schema.as_deref()).map(str::to_owned);
        RejectObject {
            id,
            device: from.device,
            received_at: rfc3339(from.received_at),
            schema,
            link: from.link,
            content_type: message.content_type.clone(),
            bytes: message.raw.len(),
            kind: message.kind.into(),
            offset: message.offset.and_then(|offset| offset.try_into().ok()),
            reason: message.reason.clone(),
            origin: from.origin.and_then(|origin| RawValue::from_string(origin.as_ref().into()).ok()),
            hex: hex(&message.raw),
        }
    }
}

/// Counts over the life of the buffer.
#[derive(PartialEq, Serialize, ToSchema)]
pub struct StatsObject {
    received: u64,
    stored: u64,
    quarantined: u64,
    /// How many of the quarantined messages are in the quarantine now.
    in_quarantine: u64,
    refused: u64,
    duplicates: u64,
    dropped: u64,
    lost: u64,
    damages: u64,
    devices: u64,
    /// Of the messages that were stored or quarantined, the share that could be decoded. Refused ones do not count: their senders know, and
    /// may send again. 1 without messages.
    success_rate: f64,
    compression_ratio: f64,
    queue_depth: usize,
    queue_capacity: usize,
    formats: Vec<FormatObject>,
    outputs: Vec<dunnage_outputs::Status>,
    started_at: String,
    version: &'static str,
}

#[derive(PartialEq, Serialize, ToSchema)]
struct FormatObject {
    format: &'static str,
    messages: u64,
    bytes: u64,
    json_bytes: u64,
}

impl StatsObject {
    /// Returns the counts of a gateway at this moment.
    pub fn of(state: &GatewayState) -> Self {
        let totals = state.buffer().stats.totals();
        let received = totals.received();
        let sum = totals.sum();
        // Without messages, the ratios are 1.
        let ratio = |part: u64, of: u64| if of == 0 { 1.0 } else { part as f64 / of as f64 };
        let formats =
            dunnage_ingest::stored_formats().filter_map(|name| Some((name, totals.formats.get(name)?)));
        let formats = formats.filter(|(_, f)| f.messages > 0);
        StatsObject {
            received,
            stored: totals.stored,
            quarantined: totals.quarantined,
            in_quarantine: state.fleet.in_quarantine(),
            refused: totals.refused,
            duplicates: totals.duplicates,
            dropped: totals.dropped,
            lost: totals.lost,
            damages: totals.damages,
            devices: totals.devices,
            success_rate: ratio(totals.stored + totals.duplicates, received - totals.refused),
            compression_ratio: ratio(sum.json_bytes, sum.bytes),
            queue_depth: state.buffer().queue.depth(),
            queue_capacity: state.buffer().queue.capacity(),
            formats: formats
                .map(|(format, f)| FormatObject {
                    format,
                    messages: f.messages,
                    bytes: f.bytes,
                    json_bytes: f.json_bytes,
                })
                .collect(),
            outputs: state.outputs.statuses(totals.last_message_id),
            started_at: rfc3339(state.started_at),
            version: env!("CARGO_PKG_VERSION"),
        }
    }
}
