//! Submits a complete message to the buffer, as a message or for the quarantine.

use crate::{
    Ingest, by_codec::Codecs, decode::read, delta::Committed, encoding::Decoding, in_flight::InFlight,
    meter::Meter, profiles::Chosen, rejected::Rejected,
};
use bytes::Bytes;
use dunnage_buffer::{Ack, NewMessage, NewQuarantined, Provenance, Reservation};
use std::{borrow::Cow, sync::Arc};

/// A message that has been received completely.
#[derive(Clone)]
pub struct RawMessage<'a> {
    /// The input's name in metrics.
    pub input: &'static str,
    /// The counts of the input.
    pub meter: Arc<Meter>,
    /// Where it came from.
    pub provenance: Provenance,
    /// The `Content-Type` that its sender gave.
    pub content_type: Cow<'a, str>,
    /// Why it is not decoded, if that is known already. Such a message goes into the quarantine.
    pub bad: Option<Rejected>,
    /// Its bytes.
    pub raw: Bytes,
}

impl RawMessage<'static> {
    /// Creates a message that arrived over `input`, which `meter` counts, from its bytes and its `Content-Type`, which is empty if the sender names none. A
    /// message that is already known to be `bad` goes into the quarantine undecoded.
    pub fn new(
        (input, meter): (&'static str, Arc<Meter>),
        provenance: Provenance,
        content_type: String,
        raw: Bytes,
        bad: Option<Rejected>,
    ) -> RawMessage<'static> {
        RawMessage { input, meter, provenance, content_type: content_type.into(), bad, raw }
    }
}

/// A message that has been submitted to the writer but not committed.
#[must_use = "the message is on disk only after its commit"]
pub struct Pending {
    pub(crate) ack: Ack,
    /// Those of the other readings of a batch.
    pub(crate) others: Vec<Ack>,
    pub(crate) rejected: Option<Rejected>,
}

impl Pending {
    /// Waits for the commit. An error that is not temporary says why the message is in the quarantine.
    pub async fn commit(self) -> Result<(), Rejected> {
        self.ack.commit().await?;
        for ack in self.others {
            ack.commit().await?;
        }
        self.rejected.map_or(Ok(()), Err)
    }
}

impl Ingest {
    /// Decodes a message and waits until it is on disk. An error that is not temporary says why the message is in the quarantine.
    /// `room` is the memory that is reserved for the message.
    pub async fn store<'i>(
        &'i self,
        in_flight: &mut InFlight<'i>,
        message: RawMessage<'_>,
        room: Reservation,
    ) -> Result<(), Rejected> {
        self.submit(in_flight, message, room).await?.commit().await
    }

    /// Decodes a message, or the readings of a relay's batch, and submits it to the writer. Errors are temporary.
    pub async fn submit<'i>(
        &'i self,
        in_flight: &mut InFlight<'i>,
        message: RawMessage<'_>,
        mut room: Reservation,
    ) -> Result<Pending, Rejected> {
        let RawMessage { input, meter, mut provenance, content_type, bad, raw } = message;
        // Loaded once for each message, so that a reload cannot change the profiles halfway.
        let admitted = bad.map_or_else(|| self.registered.admit(&mut provenance), Err);
        let chosen = Chosen::of(self.profiles.load_full(), &mut provenance, &content_type);
        if let Some(numbers) = chosen.numbers(&content_type).filter(|_| admitted.is_ok()) {
            let batch = RawMessage { input, meter, provenance, content_type, bad: None, raw };
            return self.submit_readings(in_flight, batch, &numbers, room).await;
        }
        let decoding = admitted.and_then(|()| chosen.decoding(&content_type));
        meter.received();
        self.metrics.received(input, decoding.as_ref().ok().map(Decoding::name));
        match self.decode(chosen, provenance, &content_type, decoding, raw).await {
            Ok(message) => {
                self.metrics.decoded(message.format);
                room.grow(message.json.len())?;
                let ack = self.buffer.queue.store(message, room, || in_flight.queued())?;
                Ok(Pending { ack, others: Vec::new(), rejected: None })
            }
            Err((quarantined, rejected)) => {
                let ack = self.buffer.queue.quarantine(quarantined, room, || in_flight.queued())?;
                Ok(Pending { ack, others: Vec::new(), rejected: Some(rejected) })
            }
        }
    }

    /// Decodes and validates `raw`. On failure, returns what the quarantine keeps, and why. `content_type` is what the sender gave, and
    /// `decoding` is its meaning. Its profile supplies the link and the schema if the sender names none.
    pub(crate) async fn decode(
        &self,
        chosen: Chosen,
        provenance: Provenance,
        content_type: &str,
        decoding: Result<Decoding, Rejected>,
        raw: Bytes,
    ) -> Result<NewMessage, (NewQuarantined, Rejected)> {
        let committed = Committed { references: &self.references, readers: &self.buffer.readers };
        let codecs = Codecs { pool: &self.codecs, metrics: &self.metrics };
        let (message, counts) =
            read((&chosen, &self.turns, &codecs), committed, provenance, content_type, decoding, raw).await?;
        self.metrics.altered(counts);
        Ok(message)
    }
}
