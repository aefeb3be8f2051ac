//! Takes the batches of relays apart: each reading becomes a message of its own device (`spec/relay.md`).

use crate::{
    Ingest,
    in_flight::InFlight,
    media_types::{is_relayed, is_unnamed},
    origin,
    profiles::{Chosen, slots::Slot},
    rejected::{Code, Rejected},
    submit::{Pending, RawMessage},
};
use bytes::Bytes;
use dunnage_base::name::is_device;
use dunnage_buffer::{Provenance, Reservation};
use dunnage_formats::{Id, Known};
use dunnage_packed::{Layout, Reference};
use dunnage_relay::{Content, Entry, MAX_DELTAS, MEDIA_TYPE, Numbers, Sender, Writer};
use std::{collections::HashMap, sync::Arc};

/// The mode of a delta in its tag byte, and the bits of the mode.
const TAG: u8 = 0x80;
const MODE: u8 = 0xc0;

/// A reading of a batch.
pub struct Reading {
    /// Its device, its key, and where the batch came from.
    pub provenance: Provenance,
    /// The media type of its bytes.
    pub content_type: String,
    /// Its bytes.
    pub raw: Bytes,
    /// Why it cannot be a message. Its bytes are then a batch of it alone, or of a delta and those to which it refers.
    pub bad: Option<Rejected>,
}

impl Chosen {
    /// Returns the numbers of the relay's devices, if a message of `content_type` is a batch.
    pub fn numbers(&self, content_type: &str) -> Option<Arc<Numbers>> {
        let numbers = self.rule()?.relay.as_ref()?;
        (is_relayed(content_type) || is_unnamed(content_type)).then(|| Arc::clone(numbers))
    }
}

impl Ingest {
    /// Submits the readings of `batch`. They are durable, or in the quarantine, once the result is committed. After an error, some of them may
    /// be: the relay sends the batch again, and those are duplicates.
    pub(crate) async fn submit_readings<'i>(
        &'i self,
        in_flight: &mut InFlight<'i>,
        batch: RawMessage<'_>,
        numbers: &Numbers,
        room: Reservation,
    ) -> Result<Pending, Rejected> {
        let queue = &self.buffer.queue;
        let readings = self.readings(&batch.provenance, &batch.raw, numbers).and_then(|readings| {
            let capacity = queue.capacity();
            match readings.len() <= capacity {
                true => Ok(readings),
                false => Err(Rejected::new(Code::TooLarge, format!("a batch may have {capacity} readings"))),
            }
        });
        let readings = match readings {
            Ok(readings) => readings,
            Err(rejected) => {
                let bad = RawMessage { bad: Some(rejected), ..batch };
                return Box::pin(self.submit(in_flight, bad, room)).await;
            }
        };
        let mut others: Vec<_> = (1..readings.len()).map(|_| self.receive()).collect();
        if queue.free() < readings.len() {
            return Err(Rejected::queue_full());
        }
        let failed_batches = queue.failed_batches().count();
        let mut pending: Option<Pending> = None;
        for (reading, in_flight) in readings.into_iter().zip(std::iter::once(in_flight).chain(&mut others)) {
            let mut room = queue.reserve_in_order(failed_batches);
            let origin = reading.provenance.origin.as_ref().map_or(0, |origin| origin.len());
            room.grow(reading.raw.len() + origin)?;
            let meter = Arc::clone(&batch.meter);
            let Reading { provenance, content_type, raw, bad } = reading;
            let request = provenance.request.clone();
            let message =
                RawMessage::new((batch.input, Arc::clone(&meter)), provenance, content_type, raw, bad);
            let mut next = Box::pin(self.submit(in_flight, message, room)).await?;
            // The relay is not told: the gateway is responsible for what is in the quarantine.
            if let Some(rejected) = next.rejected.take() {
                self.reject(&meter, &request, &rejected);
            }
            match &mut pending {
                None => pending = Some(next),
                Some(pending) => pending.others.push(next.ack),
            }
        }
        drop(room);
        pending.ok_or_else(|| Rejected::new(Code::Malformed, "the batch has no reading"))
    }

    /// Returns the readings of the batch `raw`, which came with `batch`.
    fn readings(&self, batch: &Provenance, raw: &[u8], numbers: &Numbers) -> Result<Vec<Reading>, Rejected> {
        let mut chains = HashMap::new();
        let entries = entries(raw)?.into_iter();
        let origin = origin::of_readings(batch.origin.as_deref());
        let batch = &Provenance { origin, ..batch.clone() };
        Ok(entries.map(|entry| self.reading(entry, &mut chains, batch, numbers)).collect())
    }

    /// Returns the last reading of a batch that was kept for it.
    pub(crate) fn reading_alone(
        &self,
        batch: &Provenance,
        raw: &[u8],
        numbers: &Numbers,
    ) -> Result<Reading, Rejected> {
        let kept = entries(raw)?;
        let is_chain =
            |entry: &Entry<'_>| entry.sender == kept[0].sender && matches!(entry.content, Content::Delta(_));
        if !kept[1..].iter().all(is_chain) {
            let detail = format!("the batch has {} readings; the relay sends them again", kept.len());
            return Err(Rejected::unsupported(detail));
        }
        match self.readings(batch, raw, numbers)?.pop() {
            Some(Reading { bad: Some(rejected), .. }) => Err(rejected),
            Some(reading) => Ok(reading),
            None => Err(Rejected::new(Code::Malformed, "the batch has no reading")),
        }
    }

    fn reading<'b>(
        &self,
        entry: Entry<'b>,
        chains: &mut HashMap<u32, Chain<'b>>,
        batch: &Provenance,
        numbers: &Numbers,
    ) -> Reading {
        let relay = &batch.device;
        let mut provenance = Provenance {
            // A key with a space differs from every key that a sender can choose.
            key: Some(format!("relay {} {relay}", entry.sequence)),
            schema: None,
            is_answered: false,
            origin: origin::relayed(batch.origin.as_deref(), relay, &entry),
            ..batch.clone()
        };
        let mut alone = Chain::new(entry);
        let chain = match (entry.sender, entry.content) {
            (Sender::Number(number), Content::Packed { .. }) => {
                chains.insert(number, Chain::new(entry));
                chains.get_mut(&number)
            }
            (Sender::Number(number), Content::Delta(_)) => {
                chains.get_mut(&number).and_then(|chain| chain.with(entry))
            }
            _ => None,
        };
        let chain = chain.unwrap_or(&mut alone);
        match self.identify(&entry, chain, relay, numbers, &mut provenance) {
            Ok((content_type, raw)) => Reading { provenance, content_type, raw: raw.into(), bad: None },
            Err(rejected) => Reading {
                provenance: Provenance { device: relay.clone(), ..provenance },
                content_type: MEDIA_TYPE.into(),
                raw: chain.to_batch().into(),
                bad: Some(rejected),
            },
        }
    }

    /// Sets the device of a reading. Returns its media type and its bytes.
    fn identify(
        &self,
        entry: &Entry<'_>,
        chain: &mut Chain<'_>,
        relay: &str,
        numbers: &Numbers,
        provenance: &mut Provenance,
    ) -> Result<(String, Vec<u8>), Rejected> {
        let numbered = match entry.sender {
            Sender::Number(number) => {
                let (device, numbered) = numbers
                    .device(number)
                    .ok_or_else(|| unknown(format!("the relay has no device with the number {number}")))?;
                provenance.device = device.to_owned();
                Some(numbered)
            }
            Sender::Device(device) => {
                provenance.device = format!("{relay}/{device}");
                if !is_device(&provenance.device) {
                    return Err(Rejected::bad_id("device"));
                }
                None
            }
        };
        if let Content::Other { format, bytes } = entry.content {
            let format = Id::from_number(format)
                .ok_or_else(|| Rejected::unsupported(format!("no format has the number {format}")))?;
            return Ok((format.media_type().to_owned(), bytes.to_owned()));
        }
        let packed = numbered.and_then(|numbered| Some((numbered, numbered.slot?)));
        let (numbered, slot) = packed.ok_or_else(|| {
            unknown(format!("the file of the relay's numbers gives {} no slot", provenance.device))
        })?;
        let target = self.target(provenance);
        let found = target.slot(slot);
        if found.is_some_and(|found| !numbered.is_layout(|| found.key.fingerprint)) {
            let detail = format!("slot {slot} has another layout than the file of the relay's numbers");
            return Err(Rejected::new(Code::UnknownLayout, detail));
        }
        let raw = chain.message(slot, found.map(|found| found.codec.layout()), target.known())?;
        let media_type = Id::Packed.media_type();
        Ok(match raw {
            Raw::Whole(bytes) => (media_type.to_owned(), bytes),
            Raw::WithoutSlot(bytes) => (format!("{media_type}; slot={slot}"), bytes),
        })
    }

    /// Returns the profile of a device whose reading it is.
    fn target(&self, provenance: &Provenance) -> Target {
        let mut provenance = provenance.clone();
        // Its error is reported when the message is submitted.
        let _ = self.registered.admit(&mut provenance);
        let chosen = Chosen::of(self.profiles.load_full(), &mut provenance, "");
        Target { chosen, device: provenance.device }
    }
}

fn entries(raw: &[u8]) -> Result<Vec<Entry<'_>>, Rejected> {
    dunnage_relay::read(raw)
        .map_err(|fault| Rejected::new(Code::Malformed, fault.reason).at(fault.kind.as_str(), fault.offset))
}

fn unknown(detail: String) -> Rejected {
    Rejected::new(Code::Unregistered, detail)
}

/// The device of a reading, and its profile.
struct Target {
    chosen: Chosen,
    device: String,
}

impl Target {
    /// Returns the layout in `slot` of the profile's schema.
    fn slot(&self, slot: u8) -> Option<&Slot> {
        let slots = self.chosen.codecs(None)?.slots.as_deref()?;
        slots.all().iter().find(|found| found.key.slot == slot)
    }

    fn known(&self) -> Known<'_> {
        let texts = self.chosen.rule().and_then(|rule| rule.known(&self.device));
        Known { device: Some(&self.device), texts }
    }
}

/// The bytes of a packed message.
enum Raw {
    Whole(Vec<u8>),
    /// Those of a layout whose messages have no slot byte.
    WithoutSlot(Vec<u8>),
}

/// A packed reading of a device, and the deltas that follow it in the batch.
struct Chain<'b> {
    entries: Vec<Entry<'b>>,
    /// The last one that was decoded, if a delta has been; `Err` after one that could not be.
    last: Result<Option<Reference>, ()>,
}

impl<'b> Chain<'b> {
    fn new(entry: Entry<'b>) -> Chain<'b> {
        Chain { entries: vec![entry], last: Ok(None) }
    }

    /// Returns the chain with one delta more, if there are not too many.
    fn with(&mut self, delta: Entry<'b>) -> Option<&mut Chain<'b>> {
        if self.entries.len() > MAX_DELTAS {
            return None;
        }
        self.entries.push(delta);
        Some(self)
    }

    /// Returns a batch of its entries.
    fn to_batch(&self) -> Vec<u8> {
        let mut batch = Writer::new(usize::MAX, 0);
        self.entries.iter().for_each(|entry| {
            batch.add(entry);
        });
        batch.finish()
    }

    /// Returns the last entry as a message in the layout of `slot`.
    fn message(&mut self, slot: u8, layout: Option<&Layout>, known: Known<'_>) -> Result<Raw, Rejected> {
        let last = self.entries.last().map(|entry| entry.content);
        let Some(Content::Packed { mode, body }) = last else {
            let raw = layout.filter(|layout| layout.has_statistics()).and_then(|layout| {
                let decoded = self.undo(slot, layout, known);
                self.last = decoded.as_ref().map(|(_, reference)| Some(reference.clone())).ok_or(());
                decoded.map(|(raw, _)| raw)
            });
            return raw.map(Raw::Whole).ok_or_else(|| {
                let detail = "the delta does not fit the reading before it in the batch";
                Rejected::new(Code::Reference, detail)
            });
        };
        let has_slot_byte = layout.is_none_or(Layout::has_slot_byte);
        match (has_slot_byte, mode) {
            (true, mode) => Ok(Raw::Whole([&[mode << 6 | slot], body].concat())),
            (false, 0) => Ok(Raw::WithoutSlot(body.to_vec())),
            _ => Err(Rejected::new(Code::Malformed, format!("messages of slot {slot} have mode 0"))),
        }
    }

    /// Decodes the last entry, a delta. Returns the message without reference, and the reference of the next delta.
    fn undo(&self, slot: u8, layout: &Layout, known: Known<'_>) -> Option<(Vec<u8>, Reference)> {
        let before = match (self.last.as_ref().ok()?, self.entries.first()?.content) {
            (Some(reference), _) => reference.clone(),
            (None, Content::Packed { mode, body }) if self.entries.len() == 2 => {
                let message = layout.decode(&[&[mode << 6 | slot], body].concat(), known).ok()?;
                layout.reference(&message).ok()?
            }
            _ => return None,
        };
        let Content::Delta(delta) = self.entries.last()?.content else { return None };
        let tag = TAG | before.name() as u8 & !MODE;
        let decoded = layout.decode_delta(&[&[tag], delta].concat(), [&before], [], known).ok()?;
        let mut raw = Vec::new();
        layout.encode(&decoded.value, &mut raw).ok()?;
        Some((raw, decoded.reference))
    }
}
