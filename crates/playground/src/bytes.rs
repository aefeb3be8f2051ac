//! Explains each byte of one of the messages in one format.

use crate::{limits::EXPLAINED, messages, schema};
use dunnage_base::hex::hex;
use dunnage_explain::{Explanation, Reader, packed};
use dunnage_formats::{Id, Known, Mapping, UnknownName, Value};
use dunnage_schema::Model;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// The formats whose bytes are explained.
pub const FORMATS: [Id; 7] =
    [Id::Packed, Id::Pson, Id::Cbor, Id::Msgpack, Id::Protobuf, Id::Avro, Id::Struct];

/// The bytes to explain.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct BytesQuestion {
    /// The messages, as for `POST /api/play`.
    pub messages: String,
    /// The schema's text; formats that need none work without it.
    pub schema: Option<String>,
    /// The index of the message, from 0.
    pub message: usize,
    /// The format.
    pub format: String,
}

/// The bytes of a message, and their meaning.
#[derive(Debug, Default, Serialize, ToSchema)]
pub struct Bytes {
    /// The bytes.
    hex: String,
    /// Their meaning.
    #[schema(required)]
    explanation: Option<Explanation>,
    /// Why there are none: the format cannot carry the message, or the texts have mistakes.
    #[schema(required)]
    reason: Option<String>,
}

/// Explains the message.
pub fn explain(question: &BytesQuestion) -> Bytes {
    try_explain(question).unwrap_or_else(|reason| Bytes { reason: Some(reason), ..Bytes::default() })
}

fn try_explain(question: &BytesQuestion) -> Result<Bytes, String> {
    let format: Id = question.format.parse().map_err(|error: UnknownName| error.to_string())?;
    if !FORMATS.contains(&format) {
        return Err(format!("the bytes of {format} are not explained"));
    }
    let messages = messages::read(&question.messages);
    let (number, count) = (question.message.saturating_add(1), messages.count());
    let found = messages.found.into_iter().find(|found| found.index == question.message);
    let found = found.ok_or_else(|| match number <= count {
        true => format!("message {number} cannot be read"),
        false => format!("there is no message {number}: there are {count}"),
    })?;
    let compiled = question.schema.as_deref().filter(|_| format.needs_schema());
    let compiled = compiled.map(schema::compile).transpose().map_err(|_| "the schema has a mistake")?;
    let model = compiled.as_ref().map(|compiled| &compiled.model);
    bytes(format, model, &found.message.value)
}

fn bytes(format: Id, model: Option<&Model>, message: &Value) -> Result<Bytes, String> {
    let mut bytes = Vec::new();
    let codec = format.open(model, Mapping::Exact);
    codec.and_then(|codec| codec.encode(message, &mut bytes)).map_err(|error| error.to_string())?;
    if bytes.len() > EXPLAINED {
        return Err(format!("the message has {} bytes; up to {EXPLAINED} are explained", bytes.len()));
    }
    let reader = Reader::of(format, model, Mapping::Exact).map_err(|error| error.to_string())?;
    let explanation = reader.map(|reader| {
        let mut explanation = Explanation::default();
        let outcome = match &reader {
            Reader::Bits(layout) => packed(layout, &bytes, Known::default(), &mut explanation),
            reader => reader.items(&bytes, &mut explanation),
        };
        explanation.ended(outcome)
    });
    Ok(Bytes { hex: hex(&bytes), explanation, reason: None })
}
