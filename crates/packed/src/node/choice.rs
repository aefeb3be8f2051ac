//! One of several values: `spec/packed.md`, "Plain bodies".

use crate::carries::Carrier;
use crate::coded::{Leaves, expected};
use crate::decode::Decoder;
use crate::encode::Encoder;
use crate::explain::Words;
use crate::wire::{Part, Sink, Source};
use crate::{Error, json};
use dunnage_pson::{Kind, Value};
use dunnage_schema::same;

/// The maximum number of values that are listed for people.
const NAMED: usize = 8;

pub(super) fn carries(values: &[Value], value: &Value, carrier: &Carrier<'_>) -> Result<bool, Error> {
    carrier.compare(values.len())?;
    Ok(values.iter().any(|one| same(one, value)))
}

#[inline]
pub(super) fn write<S: Sink>(
    values: &[Value],
    node: u32,
    value: &Value,
    encoder: &mut Encoder<'_, S>,
) -> Result<(), Error> {
    let Some(at) = values.iter().position(|one| same(one, value)) else {
        return Err(Error::new(Kind::Range, 0, "none of the values"));
    };
    encoder.values.take_known(value, 0)?;
    encoder.index(node, Part::Value, at as u64, values.len() as u64)
}

#[inline]
pub(super) fn read<S: Source>(
    values: &[Value],
    node: u32,
    decoder: &mut Decoder<'_, S>,
    out: &mut Value,
) -> Result<(), Error> {
    let at = decoder.index(node, Part::Value, values.len() as u64)?;
    decoder.fixed(&values[at as usize], out)
}

pub(super) fn canonical(values: &[Value], out: &mut String) {
    json::tagged("choice", out, |out| json::list(out, '[', values, ']', json::write));
}

pub(super) fn leaves(values: &[Value], node: u32, leaves: &mut Leaves) {
    leaves.index(node, Part::Value, 0, values.len() as u64);
}

pub(super) fn expected(values: &[Value], node: u32, times: expected::Times, walk: &mut expected::Walk<'_>) {
    walk.index(node, Part::Value, 0, values.len() as u64, times);
}

pub(super) fn explain(values: &[Value]) -> Words {
    let mut range = String::new();
    for (i, value) in values.iter().take(NAMED).enumerate() {
        range.push_str(if i > 0 { ", " } else { "" });
        json::write(value, &mut range);
    }
    if values.len() > NAMED {
        range.push_str(", …");
    }
    Words::says(&range, &format!("{} values", values.len()))
}
