//! Decodes deltas: packed messages that refer to an earlier message of their device.

use crate::{
    profiles::{
        Codecs,
        slots::{Slot, Slots},
    },
    references::{Candidate, Candidates, Identified, References},
    rejected::Rejected,
};
use dunnage_buffer::{Named, Readers, Use};
use dunnage_formats::{Id, Kind, Known, Value};
use dunnage_packed::{Decoded, Reference, may_refer};
use std::sync::Arc;

/// The messages that were committed, for deltas that refer to them.
pub struct Committed<'a> {
    /// The cache.
    pub references: &'a References,
    /// The buffer.
    pub readers: &'a Readers,
}

impl Committed<'_> {
    /// Returns the messages to which the delta `bytes` of `device` may refer, decoded with `codecs`.
    pub async fn of(&self, codecs: &Codecs, device: &str, bytes: &[u8]) -> Result<Candidates, Rejected> {
        let (Some(slots), Some(&first)) = (&codecs.slots, bytes.first()) else {
            return Ok(Candidates::default());
        };
        let may_be = |name| may_refer(first, name);
        if let Some(known) = self.references.of(device, slots, may_be) {
            return Ok(known);
        }
        let stored =
            self.readers.of(Use::Ingest).references(device.to_owned()).await.map_err(|_| {
                Rejected::reference("the messages to which the delta may refer cannot be read")
            })?;
        let found = stored.iter().filter_map(|named| Some((named.id, Arc::new(restored(codecs, named)?))));
        Ok(self.references.loaded(device, slots, found.collect::<Vec<Identified>>(), may_be))
    }
}

/// Makes a reference of a stored message. The layout is the one that gives the message its name.
fn restored(codecs: &Codecs, named: &Named) -> Option<Candidate> {
    let slots = codecs.slots.as_ref().filter(|_| codecs.schema.as_deref() == named.schema.as_deref())?;
    let message = codecs.get(Id::Json).ok()?.decode(named.json.as_bytes()).ok()?;
    slots
        .trained()
        .filter_map(|slot| candidate(slot, &message))
        .find(|one| one.reference.name() == named.name)
}

/// Returns `message` as a candidate for later deltas, if the layout of `slot` has statistics.
pub fn candidate(slot: &Slot, message: &Value) -> Option<Candidate> {
    let layout = slot.codec.layout();
    let reference = if layout.has_statistics() { layout.reference(message).ok()? } else { return None };
    Some(Candidate::new(Arc::clone(&slot.key), reference, None))
}

/// Decodes the delta `bytes`. Its layout is the one of its reference.
pub fn decode<'s>(
    slots: &'s Slots,
    bytes: &[u8],
    candidates: &Candidates,
    known: Known<'_>,
) -> Result<(&'s Slot, Decoded), Rejected> {
    let mut found: Option<(&Slot, Decoded)> = None;
    let mut failure = None;
    for slot in slots.trained() {
        let (likely, late) = (of(&candidates.likely, slot), of(&candidates.late, slot));
        match slot.codec.layout().decode_delta(bytes, likely, late, known) {
            Ok(_) if found.is_some() => {
                return Err(Rejected::reference("references of two layouts give different messages"));
            }
            Ok(decoded) => found = Some((slot, decoded)),
            Err(error) if error.kind() == Kind::Reference => {
                failure = Some(Rejected::reference(error.message()));
            }
            Err(error) => return Err(Rejected::undecodable(&error.into())),
        }
    }
    let unknown = || Rejected::reference("no schema of the device has statistics");
    found.ok_or_else(|| failure.unwrap_or_else(unknown))
}

/// Returns the candidates with the layout of `slot`.
fn of<'a>(candidates: &'a [Arc<Candidate>], slot: &Slot) -> impl Iterator<Item = &'a Reference> {
    candidates.iter().filter(|one| *one.layout == *slot.key).map(|one| &one.reference)
}
