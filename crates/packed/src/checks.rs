//! Decides whether the bits alone make a message valid.

use crate::node::is_exact;
use dunnage_schema::{Model, Text, Type};

/// Returns whether the schema has rules that must be checked in addition to the bits.
pub(crate) fn has_more_than_bits(model: &Model) -> bool {
    !(is_told(model.root()) && model.definitions().iter().all(is_told))
}

fn is_told(kind: &Type) -> bool {
    match kind {
        Type::Any | Type::Null | Type::Bool | Type::Enum(_) | Type::Const(_) | Type::Definition(_) => true,
        Type::Integer(_) | Type::Decimal(_) => true,
        Type::NumberText(_) | Type::NumbersText(_) | Type::TimeText(_) => true,
        Type::Float(float) => float.min.is_none() && float.max.is_none(),
        Type::Text(text) => is_text_told(text),
        Type::Array(array) => is_told(&array.items),
        Type::Tuple(tuple) => tuple.items.iter().chain(tuple.rest.as_deref()).all(is_told),
        Type::Object(object) => {
            object.fields.iter().map(|field| &field.kind).chain(object.additional.as_deref()).all(is_told)
        }
        Type::Nullable(inner) => is_told(inner),
        Type::Union(kinds) => kinds.iter().all(is_told),
        Type::Checked(_) | Type::Known(_, _) => false,
    }
}

fn is_text_told(text: &Text) -> bool {
    let Some(pattern) = &text.pattern else { return text.asserted_format().is_none() };
    let Some(segments) = pattern.segments.as_deref().filter(|segments| is_exact(segments)) else {
        return false;
    };
    let length = |bound: fn(&dunnage_schema::Segment) -> u32| -> u64 {
        segments.iter().map(|segment| u64::from(bound(segment))).sum()
    };
    let fits = text.max_length.is_none_or(|max| length(|segment| segment.max) <= max.into());
    text.asserted_format().is_none() && fits && length(|segment| segment.min) >= text.min_length.into()
}
