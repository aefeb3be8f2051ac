//! A message as a reading of a batch.

use crate::{Catalog, Message, origin};
use dunnage_formats::{Cbor, Format, Id, Json};
use dunnage_packed::{Layout, Reference, Value};
use dunnage_relay::{Content, Entry, MAX_DELTAS, SEQUENCES, Sender, Writer};
use std::collections::HashMap;

/// Turns the messages of a batch into readings.
pub struct Readings<'r> {
    /// The numbers of devices.
    pub numbers: &'r dunnage_relay::Numbers,
    /// The schemas.
    pub catalog: Option<&'r dyn Catalog>,
    /// Whether readings say when they were received.
    pub times: bool,
    /// The last packed reading of each device in the batch, by its number, and how many deltas lead to it.
    pub before: HashMap<u32, (Reference, usize)>,
}

impl<'r> Readings<'r> {
    /// Adds `message` to `batch` whole, in its shortest form that the other gateway can read. Returns `false` if it has no room.
    pub fn add(&mut self, batch: &mut Writer, message: &Message) -> bool {
        let Some((number, layout)) = self.layout(message) else { return self.add_other(batch, message) };
        let (mut whole, mut delta) = (Vec::new(), Vec::new());
        let value = packed_value(message, layout).filter(|value| layout.encode(value, &mut whole).is_ok());
        let Some(value) = value else { return self.add_other(batch, message) };
        let before = self.before.get(&number).filter(|(_, deltas)| *deltas < MAX_DELTAS);
        let before =
            before.filter(|(reference, _)| layout.encode_delta(&value, reference, &mut delta).is_ok());
        let deltas = match before {
            Some((_, deltas)) if delta.len() < whole.len() => deltas + 1,
            _ => 0,
        };
        let is_in = match deltas {
            0 => self.add_packed(batch, message, (number, layout.has_slot_byte(), &whole)),
            // Its tag follows from the reading before it.
            _ => batch.add(&self.entry(message, Sender::Number(number), Content::Delta(&delta[1..]))),
        };
        let reference = layout.reference(&value).ok().filter(|_| is_in);
        if let Some(reference) = reference {
            self.before.insert(number, (reference, deltas));
        }
        is_in
    }

    /// Adds `message` to an empty `batch` without some of the properties that may be left out. Returns `false` if none may be, or
    /// that is not enough.
    pub fn add_part(&self, batch: &mut Writer, message: &Message) -> bool {
        let part = self.layout(message).and_then(|(number, layout)| {
            let mut bytes = Vec::new();
            let empty = self.entry(message, Sender::Number(number), Content::Packed { mode: 0, body: &[] });
            let limit = batch.room_for(&empty) + usize::from(layout.has_slot_byte());
            // Of a series, some readings would be missing.
            let value = packed_value(message, layout).filter(|_| !layout.has_series())?;
            layout.encode_fit(&value, limit, &mut bytes).ok()?;
            Some((number, layout.has_slot_byte(), bytes))
        });
        part.is_some_and(|(number, has_slot_byte, bytes)| {
            self.add_packed(batch, message, (number, has_slot_byte, &bytes))
        })
    }

    /// Returns the number of the device, and the layout that the other gateway has for it.
    fn layout(&self, message: &Message) -> Option<(u32, &'r Layout)> {
        let numbered = self.numbers.of(&message.device)?;
        let layout = self.catalog?.layout(&message.device, message.schema.as_deref()?, numbered.slot?)?;
        numbered.is_layout(|| layout.fingerprint()).then_some((numbered.number, layout))
    }

    fn add_packed(
        &self,
        batch: &mut Writer,
        message: &Message,
        (number, has_slot_byte, bytes): (u32, bool, &[u8]),
    ) -> bool {
        let (mode, body) = match bytes.split_first() {
            Some((slot, body)) if has_slot_byte => (slot >> 6, body),
            _ => (0, bytes),
        };
        batch.add(&self.entry(message, Sender::Number(number), Content::Packed { mode, body }))
    }

    /// Adds `message` as it came, if its format needs no schema, or else as CBOR, whichever is shorter.
    fn add_other(&self, batch: &mut Writer, message: &Message) -> bool {
        let sender = match self.numbers.of(&message.device) {
            Some(numbered) => Sender::Number(numbered.number),
            None => Sender::Device(&message.device),
        };
        let came = message
            .format
            .parse::<Id>()
            .ok()
            .filter(|id| !id.needs_schema() && !origin::differs(message.origin.as_deref()));
        let came = came.and_then(Id::number).map(|format| (format, &message.raw[..]));
        let mut cbor = Vec::new();
        let is_cbor = value(message).is_some_and(|value| Cbor.encode(&value, &mut cbor).is_ok());
        let cbor = Id::Cbor.number().filter(|_| is_cbor).map(|format| (format, &cbor[..]));
        let shortest = came.into_iter().chain(cbor).min_by_key(|(_, bytes)| bytes.len());
        let json = || (Id::Json.number().unwrap_or_default(), message.json.as_bytes());
        let (format, bytes) = shortest.unwrap_or_else(json);
        batch.add(&self.entry(message, sender, Content::Other { format, bytes }))
    }

    fn entry<'m>(&self, message: &Message, sender: Sender<'m>, content: Content<'m>) -> Entry<'m> {
        let received_at = self.times.then(|| received_at(message));
        Entry { sequence: sequence(message), received_at, sender, content }
    }
}

/// Returns when a message was sent, or else received, in seconds since 1970.
pub fn received_at(message: &Message) -> u32 {
    let at = message.origin.as_deref().and_then(origin::sent_at).unwrap_or(message.received_at);
    u32::try_from(at.max(0) / 1_000_000).unwrap_or(u32::MAX)
}

/// Returns the number of a reading, which follows from its IDs: those of another buffer begin elsewhere.
fn sequence(message: &Message) -> u32 {
    let buffer = u32::from_str_radix(&message.buffer, 16).unwrap_or_default();
    (message.id as u32).wrapping_add(buffer) % SEQUENCES
}

/// Returns the value of a message, if the other gateway can restore the texts that packed leaves out: it knows the device's ID, and other texts only
/// perhaps.
fn packed_value(message: &Message, layout: &Layout) -> Option<Value> {
    let is_known = |value: &Value| {
        let mut texts = layout.root().known_texts(value).into_iter();
        texts.all(|(name, text)| name == "device" && text == message.device)
    };
    value(message).filter(is_known)
}

fn value(message: &Message) -> Option<Value> {
    Json.decode(message.json.as_bytes()).ok()
}
