//! `null`, or a value of another node: `spec/packed.md`, "Plain bodies".

use crate::carries::Carrier;
use crate::coded::{Leaves, expected};
use crate::decode::Decoder;
use crate::encode::Encoder;
use crate::limits::Nesting;
use crate::wire::{NULLABLE, Part, Sink, Source};
use crate::{Error, Node, explain, json};
use dunnage_pson::{Kind, Value};

pub(super) fn carries(inner: &Node, value: &Value, carrier: &Carrier<'_>) -> Result<bool, Error> {
    if *value == Value::Null { Ok(true) } else { carrier.carries(inner, value) }
}

pub(super) fn write<S: Sink>(
    inner: &Node,
    node: u32,
    value: &Value,
    nesting: Nesting,
    encoder: &mut Encoder<'_, S>,
) -> Result<(), Error> {
    let there = *value != Value::Null;
    encoder.sink.nth(node, NULLABLE);
    encoder.index(node, Part::Presence, there.into(), 2)?;
    if there { inner.write(value, nesting, encoder) } else { Ok(()) }
}

#[inline]
pub(super) fn read<S: Source>(
    inner: &Node,
    node: u32,
    nesting: Nesting,
    decoder: &mut Decoder<'_, S>,
    out: &mut Value,
) -> Result<(), Error> {
    let offset = decoder.source.offset();
    decoder.source.nth(node, NULLABLE);
    if decoder.index(node, Part::Presence, 2)? == 0 {
        *out = Value::Null;
        return Ok(());
    }
    decoder.fill_counted(inner, nesting, out)?;
    match out {
        Value::Null => Err(Error::new(Kind::Malformed, offset, "null as something else")),
        _ => Ok(()),
    }
}

pub(super) fn canonical(inner: &Node, modelled: bool, out: &mut String) {
    json::tagged("nullable", out, |out| inner.canonical(modelled, out));
}

pub(super) fn leaves(inner: &Node, node: u32, leaves: &mut Leaves) {
    leaves.index(node, Part::Presence, NULLABLE, 2);
    inner.leaves(leaves);
}

pub(super) fn expected(inner: &Node, node: u32, times: expected::Times, walk: &mut expected::Walk<'_>) {
    let leaf = walk.index(node, Part::Presence, NULLABLE, 2, times);
    inner.expected(times.by(walk.from(leaf, 2, 1), 1.0), walk);
}

pub(super) fn meaning(index: u64) -> String {
    if index == 0 { "is null" } else { "is not null" }.to_owned()
}

pub(super) fn explain(
    inner: &Node,
    path: &str,
    times: explain::Times,
    lead: &explain::Lead,
    walk: &mut explain::Walk,
) {
    inner.explain(path, times, &lead.and("1 bit for null or not"), walk);
}
