//! Decodes raw bytes into a message, or into an entry of the quarantine that says why that failed.
//!
//! A few bytes can decode to a message of any size, so memory is the concern here. Each message is first decoded at once, within the memory
//! that most messages need. If that does not suffice, it waits for its turn among large messages, and is decoded again with more.

use crate::{
    by_codec::{self, Codecs as Runner},
    decoded::{Counts, Decoded, json},
    delta::{self, Committed},
    encoding::{Decoding, Encoding},
    origin,
    profiles::{
        Chosen, Codecs, Rule,
        settings::Numbers,
        slots::{Slot, Slots},
    },
    references::{Candidate, Candidates},
    rejected::{Code, Rejected},
};
use bytes::Bytes;
use dunnage_buffer::{NewMessage, NewQuarantined, NewReference, Provenance};
use dunnage_formats::{Altered, Error, Format, Id, Kind, Known, Reception, shorten_binary32};
use dunnage_packed::is_delta;
use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
};
use tokio::sync::{Semaphore, SemaphorePermit};

/// How many characters of a `Content-Type` the quarantine keeps.
const CONTENT_TYPE: usize = 256;
/// How many large messages are decoded, or compressed bodies expanded, at the same time.
const LARGE_AT_A_TIME: u32 = 2;
/// Messages with more bytes than this are large.
const LARGE: usize = 16 << 10;

/// The turns of large messages, which take memory and time.
pub struct Turns(Semaphore);

impl Default for Turns {
    fn default() -> Turns {
        Turns(Semaphore::new(LARGE_AT_A_TIME as usize))
    }
}

impl Turns {
    /// Waits for one turn, which ends when the permit is dropped.
    pub async fn one(&self) -> Option<SemaphorePermit<'_>> {
        self.many(1).await
    }

    async fn many(&self, turns: u32) -> Option<SemaphorePermit<'_>> {
        // The only error is that the semaphore was closed, which never happens.
        self.0.acquire_many(turns).await.ok()
    }
}

/// How a message is decoded: at once, in a turn for large messages, or alone.
#[derive(Debug, Clone, Copy)]
struct Step {
    /// How many turns for large messages the step needs.
    turns: u32,
    /// The memory for the decoded message in bytes, as `dunnage_formats::Budget` counts it.
    memory: usize,
}

/// The steps. The last one has the maximum for a message, which `SECURITY.md` and `spec/formats.md` state.
const STEPS: [Step; 3] = [
    Step { turns: 0, memory: 512 << 10 },
    Step { turns: 1, memory: 2 << 20 },
    Step { turns: LARGE_AT_A_TIME, memory: 8 << 20 },
];

/// Decodes and validates `raw`. On failure, returns the message for the quarantine, and the rejection. `content_type` is the sender's media
/// type, and `decoding` is its meaning. Its profile supplies the link and the schema if the sender names none. Also returns the
/// counts of numbers that changed, which the origin of the message repeats.
pub async fn read(
    (chosen, turns, codecs): (&Chosen, &Turns, &Runner<'_>),
    committed: Committed<'_>,
    mut provenance: Provenance,
    content_type: &str,
    decoding: Result<Decoding, Rejected>,
    raw: Bytes,
) -> Result<(NewMessage, Counts), (NewQuarantined, Rejected)> {
    if let Some(rule) = chosen.rule() {
        provenance.link = provenance.link.or_else(|| rule.link.clone());
        provenance.dedup_by_payload = rule.dedup_by_payload;
    }
    // The quarantine keeps the schema that the sender asked for. The profile may name another one when the message is decoded again.
    let asked = provenance.schema.clone();
    let elsewhere = origin::decoded(content_type, provenance.origin.as_deref());
    let body = elsewhere.as_ref().unwrap_or(&raw);
    let name = decoding.as_ref().map_or("", Decoding::name);
    let decoded = match decoding {
        Err(rejected) => Err(rejected),
        Ok(Decoding::Format(encoding)) => {
            decode_as((chosen, turns), &committed, &mut provenance, &encoding, body).await
        }
        Ok(Decoding::Codec(port)) => by_codec::decode(chosen, codecs, &mut provenance, port, body).await,
    };
    match decoded {
        Ok(Decoded { json, layout, apart, candidate, counts, left_out }) => {
            let slot = layout.as_ref().filter(|_| apart).map_or(0, |layout| u64::from(layout.slot));
            let facts =
                [(origin::SLOT, slot), (origin::ROUNDED, counts.rounded), (origin::NULLS, counts.nulls)];
            if elsewhere.is_some() {
                // The bytes are not the whole message: the same value of two topics is not the same message.
                provenance.dedup_by_payload = false;
                provenance.origin = origin::with_decoded_taken(provenance.origin.as_deref());
            }
            for (name, number) in facts.into_iter().filter(|(_, number)| *number > 0) {
                provenance.origin = origin::with(provenance.origin, name, number);
            }
            if !left_out.is_empty() {
                provenance.origin = origin::with(provenance.origin, origin::LEFT_OUT, left_out);
            }
            let reference =
                candidate.map(|one| NewReference { name: one.reference.name(), content: Arc::new(one) });
            Ok((NewMessage { provenance, format: name, raw, json, layout, reference }, counts))
        }
        Err(rejected) => {
            let content_type = content_type.chars().take(CONTENT_TYPE).collect();
            let reason = match &rejected.pointer {
                Some(pointer) if !pointer.is_empty() => format!("{pointer}: {}", rejected.detail),
                _ => rejected.detail.clone(),
            };
            let (kind, offset) = (rejected.kept_kind(), rejected.offset);
            provenance.schema = asked;
            Err((NewQuarantined { provenance, content_type, raw, kind, offset, reason }, rejected))
        }
    }
}

async fn decode_as(
    (chosen, turns): (&Chosen, &Turns),
    committed: &Committed<'_>,
    provenance: &mut Provenance,
    encoding: &Encoding,
    raw: &Bytes,
) -> Result<Decoded, Rejected> {
    let rule = chosen.rule();
    let Some(codecs) = chosen.codecs(provenance.schema.as_deref()) else {
        let detail = format!("there is no schema {:?}", provenance.schema.as_deref().unwrap_or_default());
        return Err(Rejected::new(Code::UnknownSchema, detail));
    };
    if provenance.schema.is_none() {
        provenance.schema.clone_from(&codecs.schema);
    }
    if let Some(rule) = rule {
        rule.check(encoding.format).map_err(Rejected::unsupported)?;
    }
    if let Some(slots) = slots_of_delta(codecs, encoding, raw) {
        let candidates = committed.of(codecs, &provenance.device, raw).await?;
        // Only plain layouts have deltas: a message takes little memory.
        let altered = Altered::default();
        let reception = reception(provenance, rule, STEPS[0].memory, &altered);
        let asked = encoding.layout.as_deref();
        return guarded(|| decode_delta((slots, asked), &candidates, &reception, raw));
    }
    let mut decoded = Err(Rejected::decoder_failed());
    for step in steps(takes_long(codecs, encoding, raw)) {
        decoded = match step.turns {
            0 => decode(codecs, encoding, (provenance, rule, step.memory), raw),
            needed => {
                let _turn = turns.many(needed).await;
                let (chosen, from, memory) = (chosen.clone(), provenance.clone(), step.memory);
                let (encoding, raw) = (encoding.clone(), raw.clone());
                let decoded = tokio::task::spawn_blocking(move || {
                    let codecs = chosen.codecs(from.schema.as_deref())?;
                    Some(decode(codecs, &encoding, (&from, chosen.rule(), memory), &raw))
                });
                decoded.await.ok().flatten().unwrap_or_else(|| Err(Rejected::decoder_failed()))
            }
        };
        // The next step has more memory. Other limits fail there again, which is rare.
        if !decoded.as_ref().is_err_and(|rejected| rejected.kind == Some(Kind::Limit.as_str())) {
            break;
        }
    }
    decoded
}

fn reception<'a>(
    provenance: &'a Provenance,
    rule: Option<&'a Rule>,
    memory: usize,
    altered: &'a Altered,
) -> Reception<'a> {
    let device = &provenance.device;
    let known = Known { device: Some(device), texts: rule.and_then(|rule| rule.known(device)) };
    let numbers = rule.map_or(Numbers::default(), |rule| rule.numbers).of(altered);
    Reception { known, received_at: Some(provenance.received_at), memory, numbers }
}

/// Returns the steps of a message; a message that `takes_long` skips the first.
fn steps(takes_long: bool) -> &'static [Step] {
    &STEPS[usize::from(takes_long)..]
}

/// Returns whether decoding `bytes` may take long: there are many, or their layout is not plain, so that a few bytes can hold a million
/// values.
fn takes_long(codecs: &Codecs, encoding: &Encoding, bytes: &[u8]) -> bool {
    let modelled = |slot: &Slot| !slot.codec.layout().is_plain();
    bytes.len() > LARGE || slot(codecs, encoding, bytes).is_ok_and(|slot| slot.is_some_and(modelled))
}

/// Decodes `bytes` and validates them against the schema. Panics of the many libraries involved are caught: they cost the message, not
/// the gateway.
fn decode(
    codecs: &Codecs,
    encoding: &Encoding,
    (provenance, rule, memory): (&Provenance, Option<&Rule>, usize),
    bytes: &[u8],
) -> Result<Decoded, Rejected> {
    let altered = Altered::default();
    let reception = reception(provenance, rule, memory, &altered);
    let shortens = rule.is_some_and(|rule| rule.shortens_binary32);
    let decoded = guarded(|| decode_unguarded(codecs, encoding, (&reception, shortens), bytes))?;
    let counts = Counts { rounded: altered.rounded(), nulls: altered.nulls() };
    Ok(Decoded { counts, ..decoded })
}

fn guarded<T>(decode: impl FnOnce() -> Result<T, Rejected>) -> Result<T, Rejected> {
    catch_unwind(AssertUnwindSafe(decode)).unwrap_or_else(|_| Err(Rejected::decoder_failed()))
}

fn decode_unguarded(
    codecs: &Codecs,
    encoding: &Encoding,
    (reception, shortens): (&Reception<'_>, bool),
    bytes: &[u8],
) -> Result<Decoded, Rejected> {
    let format = encoding.format;
    let slot = slot(codecs, encoding, bytes)?;
    let codec: &dyn Format = match slot {
        Some(slot) => &slot.codec,
        None => codecs.get(format).map_err(|e| unusable(codecs, format, e))?,
    };
    let mut message = codec.decode_from(bytes, reception).map_err(|e| Rejected::undecodable(&e))?;
    if shortens && !format.is_text() {
        shorten_binary32(&mut message);
    }
    // A format that needs a schema has validated the message while decoding it.
    if let Some(model) = codecs.model.as_ref().filter(|_| !format.needs_schema()) {
        model.validate(&message).map_err(|violation| {
            let offset = match format {
                Id::Json => dunnage_formats::json_offset(bytes, violation.pointer()),
                _ => None,
            };
            let pointer = Some(violation.pointer().to_owned());
            let rejected = Rejected::new(Code::Schema, violation.message());
            Rejected { kind: Some("schema"), offset, pointer, ..rejected }
        })?;
    }
    let candidate = slot.and_then(|slot| delta::candidate(slot, &message));
    let apart = slot.is_some_and(|slot| !slot.codec.layout().has_slot_byte());
    let left_out = slot.map_or_else(Vec::new, |slot| slot.codec.layout().left_out(&message));
    let layout = slot.map(|slot| Arc::clone(&slot.key));
    Ok(Decoded { json: json(&message)?, layout, apart, candidate, counts: Counts::default(), left_out })
}

/// Decodes the delta `bytes`. `asked` is the beginning of the fingerprint that the sender states.
fn decode_delta(
    (slots, asked): (&Slots, Option<&str>),
    candidates: &Candidates,
    reception: &Reception<'_>,
    bytes: &[u8],
) -> Result<Decoded, Rejected> {
    let (slot, decoded) = delta::decode(slots, bytes, candidates, reception.known)?;
    slot.has_fingerprint(asked)?;
    let layout = Arc::clone(&slot.key);
    let left_out = slot.codec.layout().left_out(&decoded.value);
    let candidate = Candidate::new(Arc::clone(&layout), decoded.reference, Some(decoded.used));
    let json = json(&decoded.value)?;
    let (layout, candidate, counts) = (Some(layout), Some(candidate), Counts::default());
    Ok(Decoded { json, layout, apart: false, candidate, counts, left_out })
}

/// Returns the layouts of a device that sends deltas, if `bytes` are one.
fn slots_of_delta<'c>(codecs: &'c Codecs, encoding: &Encoding, bytes: &[u8]) -> Option<&'c Slots> {
    let slots = codecs.slots.as_deref().filter(|slots| slots.trained().next().is_some())?;
    let is_delta = encoding.format == Id::Packed && slots.has_slot_byte(encoding.stated) && is_delta(bytes);
    is_delta.then_some(slots)
}

/// Returns the slot of a packed message.
fn slot<'c>(codecs: &'c Codecs, encoding: &Encoding, bytes: &[u8]) -> Result<Option<&'c Slot>, Rejected> {
    match &codecs.slots {
        Some(slots) if encoding.format == Id::Packed => {
            slots.pick(bytes, encoding.stated, encoding.layout.as_deref()).map(Some)
        }
        _ => Ok(None),
    }
}

fn unusable(codecs: &Codecs, format: Id, error: &Error) -> Rejected {
    let detail = match &codecs.schema {
        None if format.needs_schema() => {
            format!("{format} needs a schema: name one with ?schema=NAME, or give the device a profile")
        }
        None => format!("{format}: {}", error.reason()),
        Some(schema) => {
            format!("{format} cannot carry messages of the schema {schema:?}: {}", error.reason())
        }
    };
    Rejected::unsupported(detail)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        profiles::{
            Profiles,
            settings::{Profile, SchemaSettings},
        },
        references::References,
    };
    use dunnage_buffer::{BufferSettings, Options, QuarantineSettings};

    #[test]
    fn a_decoder_that_dies_is_named_and_its_message_is_kept() {
        let failed = guarded::<()>(|| panic!("as a library may")).unwrap_err();
        assert_eq!((failed.code, failed.is_temporary()), (Code::Decoder, false));
        assert!(failed.detail.contains("decoder") && !failed.detail.contains("durable"), "{}", failed.detail);
    }

    #[tokio::test]
    async fn known_texts_come_from_the_file_of_the_profile() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
        write(
            "tracker.json",
            r#"{"type":"object","properties":{"id":{"type":"string","x-dunnage-known":"device"},
                "tel":{"type":"string","x-dunnage-known":"msisdn"},"on":{"type":"boolean"}},
                "required":["id","tel","on"],"additionalProperties":false}"#,
        );
        let settings = SchemaSettings { path: folder.path().to_owned(), ..SchemaSettings::default() };
        let profile = Profile {
            device: "*".into(),
            schema: Some("tracker".into()),
            known: Some(folder.path().join("devices.txt")),
            ..Profile::default()
        };
        let missing = Profiles::load(&settings, std::slice::from_ref(&profile)).err().unwrap().to_string();
        assert!(missing.contains("devices.txt"), "{missing}");
        write("devices.txt", r#"{"a":{"msisdn":"393315537800"}}"#);
        let profiles = Arc::new(Profiles::load(&settings, &[profile]).ok().unwrap());
        let path = folder.path().join("log.sqlite3");
        let options = Options {
            buffer: &BufferSettings { path, ..BufferSettings::default() },
            quarantine: &QuarantineSettings::default(),
            formats: &["packed"],
            outputs: vec![],
        };
        let (buffer, _writer) = dunnage_buffer::open(options, &|_| false).unwrap().start(1);
        let references = References::default();
        let decode = async |device: &str| {
            let mut provenance = Provenance::new(device, 0, "");
            let chosen = Chosen::of(Arc::clone(&profiles), &mut provenance, "");
            let encoding = Encoding { format: Id::Packed, layout: None, stated: None };
            let (pool, metrics) = (Default::default(), Default::default());
            let codecs = Runner { pool: &pool, metrics: &metrics };
            let raw = Bytes::from_static(&[1, 0x80]);
            let committed = Committed { references: &references, readers: &buffer.readers };
            let with = (&chosen, &Turns::default(), &codecs);
            read(with, committed, provenance, "", Ok(Decoding::Format(encoding)), raw).await
        };
        assert_eq!(decode("a").await.ok().unwrap().0.json, r#"{"id":"a","tel":"393315537800","on":true}"#);
        let (quarantined, rejected) = decode("b").await.err().unwrap();
        assert_eq!((quarantined.kind, rejected.code), ("type", Code::NotRepresentable));
        assert!(rejected.detail.contains("msisdn"), "{}", rejected.detail);
    }
}
