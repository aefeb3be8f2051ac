//! From bytes to the JSON that is stored, or to what is wrong with them.

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

/// Large messages that are decoded at a time, or bodies that are expanded.
pub const LARGE_AT_A_TIME: usize = 2;
/// Messages over this many bytes are large.
const LARGE: usize = 16 << 10;

/// How a message is decoded: beside all others, as one of the large ones, or alone. A few bytes can be a message of any size, so
/// each is first decoded within the memory of its step, and goes on to the next one when that does not suffice.
#[derive(Debug, Clone, Copy)]
pub struct Step {
    /// How many of the turns for large messages it needs.
    pub turns: u32,
    /// What the decoded message may take in memory, as `dunnage_formats::Budget` counts it.
    pub memory: usize,
}

/// The steps. The last one has the most that a message may take, of which `SECURITY.md` and `spec/formats.md` speak.
const STEPS: [Step; 3] = [
    Step { turns: 0, memory: 512 << 10 },
    Step { turns: 1, memory: 2 << 20 },
    Step { turns: LARGE_AT_A_TIME as u32, memory: 8 << 20 },
];

/// The steps of a message that `takes_long`, or of one that does not.
pub fn steps(takes_long: bool) -> &'static [Step] {
    &STEPS[usize::from(takes_long)..]
}

/// How a body is encoded, as its sender says.
#[derive(Debug, Clone)]
pub struct Encoding {
    /// The format.
    pub format: Id,
    /// The beginning of the layout's fingerprint, in hexadecimal digits. Only packed has layouts.
    pub layout: Option<String>,
}

/// A body that was decoded.
pub struct Decoded {
    /// The message.
    pub json: String,
    /// The layout of its bits, if the format is packed.
    pub layout: Option<Arc<LayoutKey>>,
}

/// Whether others should not wait until `bytes` are decoded: they are many, or a modelled body, of which a few can
/// hold a million values.
pub fn takes_long(codecs: &Codecs, encoding: &Encoding, bytes: &[u8]) -> bool {
    let modelled = |slot: &Slot| !slot.codec.layout().is_plain();
    bytes.len() > LARGE || slot(codecs, encoding, bytes).is_ok_and(|slot| slot.is_some_and(modelled))
}

/// Decodes `bytes`, and checks them against the schema. All of that stands on many libraries: what panics costs its
/// message, and not the gateway.
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
    // What a schema drives has been checked against it already.
    if let Some(model) = codecs.model.as_ref().filter(|_| !format.needs_schema()) {
        model.validate(&message).map_err(|violation| {
            let mut problem = Problem::new(
                StatusCode::UNPROCESSABLE_ENTITY,
                "schema",
                "Breaks the schema",
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

/// The layout of a packed message.
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
            format!(
                "{format} is read with a schema: name one with ?schema=NAME, or give the device a profile"
            )
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
