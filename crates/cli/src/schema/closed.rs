//! A schema without headroom: `schema infer --closed`.

use dunnage_packed::{Decision, Saving, Sizes, Value, savings, shrunk};
use dunnage_schema::{SchemaError, shrink::Cost};

/// Returns the schema without the headroom that `messages` do not need, and what that saves.
pub fn closed(schema: &str, messages: &[Value]) -> Result<(String, String), SchemaError> {
    let take = |_: &Sizes, saving: &Saving| {
        if saving.change.cost == Cost::Decimals { Decision::Stop } else { Decision::Take }
    };
    let (before, _) = savings(schema, messages)?;
    let (schema, after) = shrunk(schema, messages, take)?;
    let bytes = |sizes: &Sizes| match sizes.largest {
        Some(bits) => format!("{} bytes at most", bits.div_ceil(8)),
        None => "no largest message".to_owned(),
    };
    let note = format!(
        "{} in place of {}; other values are rejected, but counters, times and rare texts keep headroom",
        bytes(&after),
        bytes(&before)
    );
    Ok((schema, note))
}
