//! Takes the batches of relays apart: each reading becomes a message of its own device (`spec/relay.md`).

use crate::{
    Ingest,
    in_flight::InFlight,
    media_types::{is_relayed, is_unnamed},
    origin,
    profiles::Chosen,
    rejected::{Code, Rejected},
    submit::{Pending, RawMessage},
};
use bytes::Bytes;
use dunnage_base::name::is_device;
use dunnage_buffer::{Provenance, Reservation};
use dunnage_formats::Id;
use dunnage_relay::{Content, Entry, MEDIA_TYPE, Numbers, Sender, Writer};
use std::sync::Arc;

/// A reading of a batch.
pub struct Reading {
    /// Its device, its key, and where the batch came from.
    pub provenance: Provenance,
    /// The media type of its bytes.
    pub content_type: String,
    /// Its bytes.
    pub raw: Bytes,
    /// Why it cannot be a message. Its bytes are then a batch of it alone, of the relay.
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
            room.grow(reading.raw.len())?;
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
        let entries = dunnage_relay::read(raw).map_err(|fault| {
            Rejected::new(Code::Malformed, fault.reason).at(fault.kind.as_str(), fault.offset)
        })?;
        Ok(entries.iter().map(|entry| self.reading(entry, batch, numbers)).collect())
    }

    /// Returns the one reading of a batch that was kept alone.
    pub(crate) fn reading_alone(
        &self,
        batch: &Provenance,
        raw: &[u8],
        numbers: &Numbers,
    ) -> Result<Reading, Rejected> {
        let readings = self.readings(batch, raw, numbers)?;
        let count = readings.len();
        match <[Reading; 1]>::try_from(readings) {
            Ok([reading]) => reading.bad.map_or(Ok(Reading { bad: None, ..reading }), Err),
            Err(_) => {
                let detail = format!("the batch has {count} readings; the relay sends them again");
                Err(Rejected::unsupported(detail))
            }
        }
    }

    fn reading(&self, entry: &Entry<'_>, batch: &Provenance, numbers: &Numbers) -> Reading {
        let relay = &batch.device;
        let mut provenance = Provenance {
            // A key with a space differs from every key that a sender can choose.
            key: Some(format!("relay {} {relay}", entry.sequence)),
            schema: None,
            is_answered: false,
            origin: origin::relayed(batch.origin.as_deref(), relay, entry),
            ..batch.clone()
        };
        match self.identify(entry, relay, numbers, &mut provenance) {
            Ok((content_type, raw)) => Reading { provenance, content_type, raw: raw.into(), bad: None },
            Err(rejected) => {
                let mut alone = Writer::new(usize::MAX);
                alone.add(entry);
                Reading {
                    provenance: Provenance { device: relay.clone(), ..provenance },
                    content_type: MEDIA_TYPE.into(),
                    raw: alone.finish().into(),
                    bad: Some(rejected),
                }
            }
        }
    }

    /// Sets the device of a reading. Returns its media type and its bytes.
    fn identify(
        &self,
        entry: &Entry<'_>,
        relay: &str,
        numbers: &Numbers,
        provenance: &mut Provenance,
    ) -> Result<(String, Vec<u8>), Rejected> {
        let unknown = |detail| Rejected::new(Code::Unregistered, detail);
        let slot = match entry.sender {
            Sender::Number(number) => {
                let (device, numbered) = numbers
                    .device(number)
                    .ok_or_else(|| unknown(format!("the relay has no device with the number {number}")))?;
                provenance.device = device.to_owned();
                numbered.slot
            }
            Sender::Device(device) => {
                provenance.device = format!("{relay}/{device}");
                if !is_device(&provenance.device) {
                    return Err(Rejected::bad_id("device"));
                }
                None
            }
        };
        match entry.content {
            Content::Other { format, bytes } => {
                let format = Id::from_number(format)
                    .ok_or_else(|| Rejected::unsupported(format!("no format has the number {format}")))?;
                Ok((format.media_type().to_owned(), bytes.to_owned()))
            }
            Content::Packed { mode, body } => {
                let slot = slot.ok_or_else(|| {
                    unknown(format!("the file of the relay's numbers gives {} no slot", provenance.device))
                })?;
                let media_type = Id::Packed.media_type();
                if self.has_slot_byte(provenance, slot) {
                    let raw = [&[mode << 6 | slot], body].concat();
                    return Ok((media_type.to_owned(), raw));
                }
                match mode {
                    0 => Ok((format!("{media_type}; slot={slot}"), body.to_owned())),
                    _ => Err(Rejected::new(Code::Malformed, format!("messages of slot {slot} have mode 0"))),
                }
            }
        }
    }

    /// Whether messages of `slot` of the device begin with a slot byte.
    fn has_slot_byte(&self, provenance: &Provenance, slot: u8) -> bool {
        let mut provenance = provenance.clone();
        // Whoever may not send is found out when the message is submitted.
        let _ = self.registered.admit(&mut provenance);
        let chosen = Chosen::of(self.profiles.load_full(), &mut provenance, "");
        let slots = chosen.codecs(None).and_then(|codecs| codecs.slots.as_deref());
        slots.is_none_or(|slots| slots.without_slot_byte(slot).is_none())
    }
}
