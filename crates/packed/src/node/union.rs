//! A value of one of several nodes: `spec/packed.md`, "Unions".

use crate::carries::Carrier;
use crate::coded::{Leaves, expected};
use crate::decode::Decoder;
use crate::encode::Encoder;
use crate::explain::Words;
use crate::limits::Nesting;
use crate::wire::{Part, Sink, Source};
use crate::{Bits, Error, Node, json};
use dunnage_pson::{Kind, Value};

pub(super) fn carries(nodes: &[Node], value: &Value, carrier: &Carrier<'_>) -> Result<bool, Error> {
    Ok(first(nodes, value, carrier)?.is_some())
}

/// Returns the index of the first of `nodes` that carries `value`.
fn first(nodes: &[Node], value: &Value, carrier: &Carrier<'_>) -> Result<Option<usize>, Error> {
    for (at, node) in nodes.iter().enumerate() {
        if carrier.carries(node, value)? {
            return Ok(Some(at));
        }
    }
    Ok(None)
}

pub(super) fn write<S: Sink>(
    nodes: &[Node],
    node: u32,
    value: &Value,
    nesting: Nesting,
    encoder: &mut Encoder<'_, S>,
) -> Result<(), Error> {
    let Some(at) = first(nodes, value, &encoder.carrier)? else {
        return Err(Error::new(Kind::Range, 0, "none of the types carries it"));
    };
    encoder.index(node, Part::Form, at as u64, nodes.len() as u64)?;
    nodes[at].write(value, nesting, encoder)
}

pub(super) fn read<S: Source>(
    nodes: &[Node],
    node: u32,
    nesting: Nesting,
    decoder: &mut Decoder<'_, S>,
    out: &mut Value,
) -> Result<(), Error> {
    let offset = decoder.source.offset();
    let at = decoder.index(node, Part::Form, nodes.len() as u64)? as usize;
    decoder.fill_counted(&nodes[at], nesting, out)?;
    match first(&nodes[..at], out, &decoder.carrier)? {
        Some(_) => Err(Error::new(Kind::Malformed, offset, "a value that an earlier type carries")),
        None => Ok(()),
    }
}

pub(super) fn bits(nodes: &[Node]) -> Bits {
    let either = nodes.iter().map(Node::bits).reduce(Bits::or);
    Bits::index(nodes.len() as u64).and(either.unwrap_or(Bits::exactly(0)))
}

pub(super) fn canonical(nodes: &[Node], modelled: bool, out: &mut String) {
    json::tagged("union", out, |out| {
        json::list(out, '[', nodes, ']', |node, out| node.canonical(modelled, out));
    });
}

pub(super) fn leaves(nodes: &[Node], node: u32, leaves: &mut Leaves) {
    leaves.index(node, Part::Form, 0, nodes.len() as u64);
    nodes.iter().for_each(|node| node.leaves(leaves));
}

pub(super) fn expected(nodes: &[Node], node: u32, times: expected::Times, walk: &mut expected::Walk<'_>) {
    let count = nodes.len() as u64;
    let leaf = walk.index(node, Part::Form, 0, count, times);
    for (nth, node) in (0..).zip(nodes) {
        let likely = walk.from(leaf, count, nth) - walk.from(leaf, count, nth + 1);
        node.expected(times.by(likely, 1.0), walk);
    }
}

pub(super) fn meaning(nodes: &[Node], index: u64) -> String {
    format!("type {} of {}", index + 1, nodes.len())
}

pub(super) fn explain(nodes: &[Node]) -> Words {
    let why = "the index of its type, then the largest of them";
    Words::says(&format!("{} types", nodes.len()), why)
}
