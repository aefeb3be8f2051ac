//! Decodes bytes into the JSON that is stored.

use crate::{
    problem::Problem,
    profiles::{Codecs, slots::Slot},
    view,
};
use axum::http::StatusCode;
use dunnage_buffer::LayoutKey;
use dunnage_formats::{Error, Format, Id, Reception};
use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
};

/// How many large messages are decoded, or compressed bodies expanded, at the same time.
pub const LARGE_AT_A_TIME: usize = 2;
/// Messages with more bytes than this are large.
const LARGE: usize = 16 << 10;

/// How a message is decoded: at once, in a turn for large messages, or alone. A few bytes can decode to a message of any size. Therefore
/// each message is first decoded within the memory of its first step, and again in the next step if that memory does not suffice.
#[derive(Debug, Clone, Copy)]
pub struct Step {
    /// How many turns for large messages the step needs.
    pub turns: u32,
    /// The memory for the decoded message in bytes, as `dunnage_formats::Budget` counts it.
    pub memory: usize,
}

/// The steps. The last one has the maximum for a message, which `SECURITY.md` and `spec/formats.md` state.
const STEPS: [Step; 3] = [
    Step { turns: 0, memory: 512 << 10 },
    Step { turns: 1, memory: 2 << 20 },
    Step { turns: LARGE_AT_A_TIME as u32, memory: 8 << 20 },
];

/// Returns the steps of a message; a message that `takes_long` skips the first.
pub fn steps(takes_long: bool) -> &'static [Step] {
    &STEPS[usize::from(takes_long)..]
}

/// The encoding of a body, as its sender gives it.
#[derive(Debug, Clone)]
pub struct Encoding {
    /// The format.
    pub format: Id,
    /// The first hexadecimal digits of the layout's fingerprint. Only packed has layouts.
    pub layout: Option<String>,
}

/// A decoded body.
pub struct Decoded {
    /// The message as JSON.
    pub json: String,
    /// The layout that it was decoded with, if the format is packed.
    pub layout: Option<Arc<LayoutKey>>,
}

/// Returns whether decoding `bytes` may take long: there are many, or their layout is not plain, so that a few bytes can hold a million
/// values.
pub fn takes_long(codecs: &Codecs, encoding: &Encoding, bytes: &[u8]) -> bool {
    let modelled = |slot: &Slot| !slot.codec.layout().is_plain();
    bytes.len() > LARGE || slot(codecs, encoding, bytes).is_ok_and(|slot| slot.is_some_and(modelled))
}

/// Decodes `bytes` and validates them against the schema. Panics of the many libraries involved are caught: they cost the message, not
/// the gateway.
pub fn decode(
    codecs: &Codecs,
    encoding: &Encoding,
    reception: &Reception<'_>,
    bytes: &[u8],
) -> Result<Decoded, Problem> {
    guarded(|| decode_unguarded(codecs, encoding, reception, bytes))
}

fn guarded<T>(decode: impl FnOnce() -> Result<T, Problem>) -> Result<T, Problem> {
    catch_unwind(AssertUnwindSafe(decode)).unwrap_or_else(|_| Err(Problem::decoder_failed()))
}

fn decode_unguarded(
    codecs: &Codecs,
    encoding: &Encoding,
    reception: &Reception<'_>,
    bytes: &[u8],
) -> Result<Decoded, Problem> {
    let format = encoding.format;
    let slot = slot(codecs, encoding, bytes)?;
    let codec: &dyn Format = match slot {
        Some(slot) => &slot.codec,
        None => codecs.get(format).map_err(|e| unusable(codecs, format, e))?,
    };
    let message = codec.decode_from(bytes, reception).map_err(|e| Problem::undecodable(&e))?;
    // A format that needs a schema has validated the message while decoding it.
    if let Some(model) = codecs.model.as_ref().filter(|_| !format.needs_schema()) {
        model.validate(&message).map_err(|violation| {
            let mut problem = Problem::new(
                StatusCode::UNPROCESSABLE_ENTITY,
                "schema",
                "Schema violation",
                violation.message(),
            );
            problem.kind = Some("schema");
            problem.offset = match format {
                Id::Json => dunnage_formats::json_offset(bytes, violation.pointer()),
                _ => None,
            };
            problem.pointer = Some(violation.pointer().to_owned());
            problem
        })?;
    }
    let json = view::to_json(&message).map_err(|e| {
        let mut problem =
            Problem::new(StatusCode::UNPROCESSABLE_ENTITY, "unwritable", "Cannot be stored", e.to_string());
        problem.kind = e.is_io().then_some("limit");
        problem
    })?;
    Ok(Decoded { json, layout: slot.map(|slot| Arc::clone(&slot.key)) })
}

/// Returns the slot of a packed message.
fn slot<'c>(codecs: &'c Codecs, encoding: &Encoding, bytes: &[u8]) -> Result<Option<&'c Slot>, Problem> {
    match &codecs.slots {
        Some(slots) if encoding.format == Id::Packed => {
            slots.pick(bytes, encoding.layout.as_deref()).map(Some)
        }
        _ => Ok(None),
    }
}

fn unusable(codecs: &Codecs, format: Id, error: &Error) -> Problem {
    let detail = match &codecs.schema {
        None if format.needs_schema() => {
            format!("{format} needs a schema: name one with ?schema=NAME, or give the device a profile")
        }
        None => format!("{format}: {}", error.reason()),
        Some(schema) => {
            format!("{format} cannot carry messages of the schema {schema:?}: {}", error.reason())
        }
    };
    Problem::unsupported(detail)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_decoder_that_dies_is_named_and_its_message_is_kept() {
        let failed = guarded::<()>(|| panic!("as a library may")).unwrap_err();
        assert_eq!((failed.name(), failed.is_temporary()), ("decoder", false));
        assert!(failed.detail.contains("decoder") && !failed.detail.contains("durable"), "{}", failed.detail);
    }
}
