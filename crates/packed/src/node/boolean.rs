//! A boolean: `spec/packed.md`, "Plain bodies".

use crate::Error;
use crate::coded::{Leaves, expected};
use crate::decode::Decoder;
use crate::encode::{Encoder, wrong};
use crate::wire::{Part, Sink, Source};
use dunnage_pson::Value;

pub(super) fn carries(value: &Value) -> bool {
    matches!(value, Value::Bool(_))
}

#[inline]
pub(super) fn write<S: Sink>(node: u32, value: &Value, encoder: &mut Encoder<'_, S>) -> Result<(), Error> {
    match value {
        Value::Bool(b) => encoder.index(node, Part::Value, u64::from(*b), 2),
        _ => Err(wrong("a boolean", value)),
    }
}

#[inline]
pub(super) fn read<S: Source>(node: u32, decoder: &mut Decoder<'_, S>, out: &mut Value) -> Result<(), Error> {
    *out = Value::Bool(decoder.index(node, Part::Value, 2)? == 1);
    Ok(())
}

pub(super) fn leaves(node: u32, leaves: &mut Leaves) {
    leaves.index(node, Part::Value, 0, 2);
}

pub(super) fn expected(node: u32, times: expected::Times, walk: &mut expected::Walk<'_>) {
    walk.index(node, Part::Value, 0, 2, times);
}
