//! An array whose elements have one type: `spec/packed.md`, "Plain bodies".

use super::bounds::Bounds;
use crate::carries::Carrier;
use crate::coded::{Leaves, expected};
use crate::decode::{Decoder, items};
use crate::encode::{Encoder, elements_of};
use crate::limits::Nesting;
use crate::path::Place;
use crate::wire::{Sink, Source};
use crate::{Bits, Error, Node, explain, json, open};
use dunnage_pson::Value;

/// The maximum number of elements for which memory is reserved before they are read.
const ROOM: u64 = 64;

/// An array whose elements have one type.
#[derive(Debug, Clone, PartialEq)]
pub struct ArrayNode {
    /// The type of the elements.
    pub item: Box<Node>,
    /// The minimum number of elements.
    pub min: u32,
    /// The maximum number of elements, if there is a bound.
    pub max: Option<u32>,
    /// Whether coded bodies have each element as its distance from those before it (`x-dunnage-series`).
    pub series: bool,
}

impl ArrayNode {
    fn bounds(&self) -> Bounds {
        Bounds(self.min, self.max)
    }

    pub(super) fn carries(&self, value: &Value, carrier: &Carrier<'_>) -> Result<bool, Error> {
        let Value::Array(items) = value else { return Ok(false) };
        let values = items.iter().map(|item| (Some(&*self.item), item));
        Ok(self.bounds().hold(items.len()) && carrier.carries_all(values)?)
    }

    pub(super) fn write<S: Sink>(
        &self,
        node: u32,
        value: &Value,
        nesting: Nesting,
        encoder: &mut Encoder<'_, S>,
    ) -> Result<(), Error> {
        let nesting = nesting.inside(0)?;
        let items = elements_of(value)?;
        self.bounds().write(node, items.len(), encoder.sink)?;
        for (i, item) in items.iter().enumerate() {
            encoder.element(&self.item, i, item, nesting)?;
        }
        Ok(())
    }

    pub(super) fn read<S: Source>(
        &self,
        node: u32,
        nesting: Nesting,
        decoder: &mut Decoder<'_, S>,
        out: &mut Value,
    ) -> Result<(), Error> {
        let nesting = decoder.inside(nesting)?;
        let mut items = items(out);
        let count = self.bounds().read(node, decoder.source)?;
        items.reserve((count.min(ROOM) as usize).saturating_sub(items.len()));
        let mut at = 0;
        while (at as u64) < count {
            decoder.element(&self.item, nesting, &mut items, at)?;
            at += 1;
        }
        items.truncate(at);
        *out = Value::Array(items);
        Ok(())
    }

    /// Returns the bits of the number of elements.
    pub(crate) fn count_bits(&self) -> Bits {
        self.bounds().bits()
    }

    pub(super) fn bits(&self) -> Bits {
        self.count_bits().and(self.item.bits().times(self.min, self.max))
    }

    pub(super) fn canonical(&self, modelled: bool, out: &mut String) {
        json::tagged("array", out, |out| {
            self.bounds().canonical(out);
            if self.series {
                out.push_str(",\"series\":true");
            }
            out.push_str(",\"item\":");
            self.item.canonical(modelled, out);
        });
    }

    pub(super) fn open_parts(&self, path: &str, times: u64, walk: &mut open::Walk) {
        self.bounds().open_parts(path, walk);
        let most = times.saturating_mul(self.max.unwrap_or(1).into());
        self.item.open_parts(&Place::Elements.below(path), most, walk);
    }

    pub(super) fn leaves(&self, node: u32, leaves: &mut Leaves) {
        self.bounds().leaves(node, leaves);
        match self.series {
            true => leaves.series(|leaves| self.item.leaves(leaves)),
            false => self.item.leaves(leaves),
        }
    }

    pub(super) fn expected(&self, node: u32, times: expected::Times, walk: &mut expected::Walk<'_>) {
        let (leaf, mean) = self.bounds().expected(node, times, walk);
        let most = self.max.unwrap_or(self.min);
        let times = times.by(mean, most.into());
        let elements = |walk: &mut expected::Walk<'_>| {
            walk.under(Place::Elements, |walk| self.item.expected(times, walk));
        };
        if self.series && mean > 0.0 {
            // The first element of each message has none before it, unless the reference has some.
            let first = walk.from(leaf, u64::from(most - self.min) + 1, u64::from(self.min == 0));
            walk.series(1.0 - first / mean, elements);
        } else {
            elements(walk);
        }
    }

    pub(super) fn meaning(&self, index: u64) -> String {
        self.bounds().meaning(index)
    }

    pub(super) fn explain(
        &self,
        path: &str,
        times: explain::Times,
        lead: &explain::Lead,
        walk: &mut explain::Walk,
    ) {
        self.bounds().explain(path, times, lead, walk);
        let times = times.behind(lead).by(self.min, self.max);
        self.item.explain(&Place::Elements.below(path), times, &explain::Lead::default(), walk);
    }
}
