//! An array whose first elements have types of their own: `spec/packed.md`, "Plain bodies".

use super::bounds::Bounds;
use crate::carries::Carrier;
use crate::coded::{Leaves, expected};
use crate::decode::{Decoder, items};
use crate::encode::{Encoder, elements_of};
use crate::limits::Nesting;
use crate::path::Place;
use crate::wire::{Sink, Source};
use crate::{Bits, Error, Node, explain, json, open};
use dunnage_pson::{Kind, Value};

/// An array whose first elements have types of their own.
#[derive(Debug, Clone, PartialEq)]
pub struct TupleNode {
    /// The types of the first elements.
    pub items: Vec<Node>,
    /// The type of the elements after those.
    pub rest: Option<Box<Node>>,
    /// The minimum number of elements.
    pub min: u32,
    /// The maximum number of elements, if there is a bound.
    pub max: Option<u32>,
}

impl TupleNode {
    fn bounds(&self) -> Bounds {
        Bounds(self.min, self.max)
    }

    /// Returns the type of the element `at`, if there may be one.
    pub(crate) fn element(&self, at: usize) -> Option<&Node> {
        self.items.get(at).or(self.rest.as_deref())
    }

    pub(super) fn children(&self) -> impl Iterator<Item = (Place<'_>, &Node)> {
        let items = self.items.iter().enumerate().map(|(at, item)| (Place::Element(at), item));
        items.chain(self.rest.as_deref().map(|rest| (Place::Elements, rest)))
    }

    pub(super) fn carries(&self, value: &Value, carrier: &Carrier<'_>) -> Result<bool, Error> {
        let Value::Array(items) = value else { return Ok(false) };
        let values = items.iter().enumerate().map(|(i, item)| (self.element(i), item));
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
            let Some(kind) = self.element(i) else {
                return Err(Error::new(Kind::Range, 0, "no such element").at_index(i));
            };
            encoder.element(kind, i, item, nesting)?;
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
        let offset = decoder.source.offset();
        let count = self.bounds().read(node, decoder.source)?;
        let mut at = 0;
        while (at as u64) < count {
            let Some(kind) = self.element(at) else {
                return Err(Error::new(Kind::Range, offset, format!("an array of {count}")));
            };
            decoder.element(kind, nesting, &mut items, at)?;
            at += 1;
        }
        items.truncate(at);
        *out = Value::Array(items);
        Ok(())
    }

    pub(super) fn bits(&self) -> Bits {
        let first = |count: u32| Bits::sum(self.items.iter().take(count as usize).map(Node::bits));
        let rest = self.rest.as_ref().map_or(Bits::exactly(0), |rest| rest.bits());
        let more = |count: u32| count.saturating_sub(self.items.len() as u32);
        let least = first(self.min).and(rest.times(more(self.min), None));
        let most = self.max.map(|max| first(max).and(rest.times(0, Some(more(max)))));
        self.bounds().bits().and(Bits { min: least.min, max: most.and_then(|most| most.max) })
    }

    pub(super) fn canonical(&self, modelled: bool, out: &mut String) {
        json::tagged("tuple", out, |out| {
            self.bounds().canonical(out);
            out.push_str(",\"items\":");
            json::list(out, '[', &self.items, ']', |node, out| node.canonical(modelled, out));
            if let Some(rest) = &self.rest {
                out.push_str(",\"rest\":");
                rest.canonical(modelled, out);
            }
        });
    }

    pub(super) fn open_parts(&self, path: &str, times: u64, walk: &mut open::Walk) {
        self.bounds().open_parts(path, walk);
        for (i, item) in self.items.iter().enumerate() {
            item.open_parts(&Place::Element(i).below(path), times, walk);
        }
        if let Some(rest) = &self.rest {
            let most = times.saturating_mul(self.max.unwrap_or(1).into());
            rest.open_parts(&Place::Elements.below(path), most, walk);
        }
    }

    pub(super) fn leaves(&self, node: u32, leaves: &mut Leaves) {
        self.bounds().leaves(node, leaves);
        self.children().for_each(|(_, item)| item.leaves(leaves));
    }

    pub(super) fn expected(&self, node: u32, times: expected::Times, walk: &mut expected::Walk<'_>) {
        let max = self.max.unwrap_or(self.min);
        let (leaf, mut rest) = self.bounds().expected(node, times, walk);
        for (at, item) in (0..max).zip(&self.items) {
            let least = (at + 1).saturating_sub(self.min);
            let there = walk.from(leaf, u64::from(max - self.min) + 1, least.into());
            rest -= there;
            walk.under(Place::Element(at as usize), |walk| item.expected(times.by(there, 1.0), walk));
        }
        if let Some(item) = &self.rest {
            let most = f64::from(max.saturating_sub(self.items.len() as u32));
            walk.under(Place::Elements, |walk| item.expected(times.by(rest.max(0.0), most), walk));
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
        let (times, none) = (times.behind(lead), explain::Lead::default());
        for (i, item) in (0..self.max.unwrap_or(u32::MAX)).zip(&self.items) {
            let times = times.by(u32::from(i < self.min), Some(1));
            item.explain(&Place::Element(i as usize).below(path), times, &none, walk);
        }
        if let Some(rest) = &self.rest {
            let first = self.items.len() as u32;
            let max = self.max.map(|max| max.saturating_sub(first));
            let times = times.by(self.min.saturating_sub(first), max);
            rest.explain(&Place::Elements.below(path), times, &none, walk);
        }
    }
}
