//! Messages that fit into the bytes of a link: with fewer readings of their series, and without properties that may be left out.
//! `spec/packed.md`, "Messages that fit".

use crate::path::Place;
use crate::{Bits, Error, Layout, Node, Shape};
use dunnage_pson::{Kind, Value};
use std::{collections::BTreeSet, iter};

/// The part of a message that was written: [`Layout::encode_fit`].
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Fit {
    /// The number of readings that were written, the first ones of the longest series; 0 for a message without a series. The others are for
    /// the next message.
    pub readings: usize,
    /// The paths of the properties that were left out: `position.hdop`, `readings[].humidity`.
    pub left_out: Vec<String>,
}

/// The numbers of readings beyond the result of bisection that are also tried: it may miss one that fits because statistics make it cheap.
const PROBES: usize = 4;

impl Layout {
    /// Appends as much of `message` to `out` as `limit` bytes hold: all of it, or else fewer readings of its series (`x-dunnage-series`), the
    /// first ones. Only if not even one reading fits, properties with `x-dunnage-drop` are left out, those of the highest rank first.
    ///
    /// # Errors
    /// As those of [`Layout::encode`], and `limit` if the smallest form of the message is larger. `out` is unchanged then.
    ///
    /// ```
    /// # use dunnage_packed::{Layout, Value};
    /// # use dunnage_schema::Model;
    /// let schema = r#"{"type": "array", "maxItems": 15, "x-dunnage-series": true, "items": {"type": "integer", "minimum": 0, "maximum": 255}}"#;
    /// let layout = Layout::new(&Model::compile(schema)?)?;
    /// let readings: Vec<Value> = (0..10u64).map(Value::U64).collect();
    /// let mut bytes = Vec::new();
    /// let fit = layout.encode_fit(&Value::Array(readings.clone()), 8, &mut bytes)?;
    /// assert_eq!((fit.readings, bytes.len()), (6, 8)); // the slot, 4 bits for the number, 6 readings
    /// assert_eq!(layout.decode(&bytes, None)?, Value::Array(readings[..6].to_vec()));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn encode_fit(&self, message: &Value, limit: usize, out: &mut Vec<u8>) -> Result<Fit, Error> {
        encode(self, message, limit, out, |message, out| self.encode(message, out)).map(|(fit, _)| fit)
    }

    /// Returns a number of bytes, slot byte and check included, into which [`Layout::encode_fit`] fits some part of every message; `None` if the
    /// layout is modelled.
    pub fn fit_bytes(&self) -> Option<u64> {
        let around = self.max_bytes()? - self.root().bits().max?.div_ceil(8);
        Some(around + smallest_form(self.root(), true).max?.div_ceil(8))
    }

    /// Returns the numbers of the nodes of properties that a writer may leave out, each with its `x-dunnage-drop`, which the canonical text
    /// does not tell.
    pub fn dropped(&self) -> Vec<(u32, u8)> {
        let mut dropped = Vec::new();
        add_dropped(self.root(), &mut dropped);
        dropped
    }

    /// Returns the paths of the properties with `x-dunnage-drop` that `message`, or one of its readings, does not have. A receiver takes
    /// them as left out.
    pub fn left_out(&self, message: &Value) -> Vec<String> {
        let mut paths = Vec::new();
        if self.drops {
            absent(self.root(), message, "", &mut paths);
        }
        paths
    }
}

/// Appends as much of `message` as fits, with `write`. Returns also the message that was written.
pub(crate) fn encode(
    layout: &Layout,
    message: &Value,
    limit: usize,
    out: &mut Vec<u8>,
    write: impl Fn(&Value, &mut Vec<u8>) -> Result<(), Error>,
) -> Result<(Fit, Value), Error> {
    let mut search = Search { root: layout.root(), message, limit, write, smallest: usize::MAX };
    let ranks: BTreeSet<u16> = layout.dropped().into_iter().map(|(_, rank)| rank.into()).collect();
    // Without the properties of a rank or above; none is above the first of these.
    for rank in iter::once(u16::MAX).chain(ranks.into_iter().rev()) {
        let Some(Part { message, left_out, bytes }) = search.most_readings(rank)? else { continue };
        out.extend(bytes);
        return Ok((Fit { readings: readings(layout.root(), &message), left_out }, message));
    }
    let reason =
        format!("the smallest form of the message has {} bytes, and {limit} are available", search.smallest);
    Err(Error::new(Kind::Limit, 0, reason).without_offset())
}

/// Looks for the largest part of a message that fits.
struct Search<'a, W> {
    root: &'a Node,
    message: &'a Value,
    limit: usize,
    write: W,
    /// The size of the smallest form so far.
    smallest: usize,
}

/// A part of the message.
struct Part {
    message: Value,
    /// The paths of the properties that it lacks.
    left_out: Vec<String>,
    bytes: Vec<u8>,
}

impl<W: Fn(&Value, &mut Vec<u8>) -> Result<(), Error>> Search<'_, W> {
    /// Returns the message with the most readings that fits without the properties of `rank` and above.
    fn most_readings(&mut self, rank: u16) -> Result<Option<Part>, Error> {
        let all = readings(self.root, self.message);
        let whole = self.part(all, rank)?;
        if whole.is_some() || all < 2 {
            return Ok(whole);
        }
        let Some(mut best) = self.part(1, rank)? else { return Ok(None) };
        let (mut fits, mut too_many) = (1, all);
        while too_many - fits > 1 {
            let middle = fits.midpoint(too_many);
            match self.part(middle, rank)? {
                Some(part) => (best, fits) = (part, middle),
                None => too_many = middle,
            }
        }
        let mut next = fits + 2;
        while next < all.min(fits + 2 + PROBES) {
            if let Some(part) = self.part(next, rank)? {
                (best, fits) = (part, next);
            }
            next += 1;
        }
        Ok(Some(best))
    }

    /// Returns the message with so many readings and without the properties of `rank` and above, and its bytes, if it fits.
    fn part(&mut self, readings: usize, rank: u16) -> Result<Option<Part>, Error> {
        let (mut message, mut left_out, mut bytes) = (self.message.clone(), Vec::new(), Vec::new());
        Cut { rank, left_out: &mut left_out }.cut(self.root, &mut message, Some(readings), "");
        (self.write)(&message, &mut bytes)?;
        self.smallest = self.smallest.min(bytes.len());
        Ok((bytes.len() <= self.limit).then_some(Part { message, left_out, bytes }))
    }
}

/// Collects the properties below `node` that may be left out. Those in unions and definitions stay, because it depends on the message which
/// of their nodes carries a value.
fn add_dropped(node: &Node, dropped: &mut Vec<(u32, u8)>) {
    match &node.shape {
        Shape::Union(_) => {}
        Shape::Object(object) => {
            for field in &object.fields {
                dropped.extend(field.drop.map(|rank| (field.node.id, rank)));
                add_dropped(&field.node, dropped);
            }
        }
        _ => node.children().into_iter().for_each(|(_, child)| add_dropped(child, dropped)),
    }
}

/// Returns the bits of the values of `node` without what may be left out. `outside`: of arrays.
fn smallest_form(node: &Node, outside: bool) -> Bits {
    match &node.shape {
        Shape::Object(object) if object.additional.is_none() => {
            Bits::sum(object.fields.iter().map(|field| {
                let bits =
                    if field.drop.is_some() { Bits::exactly(0) } else { smallest_form(&field.node, outside) };
                if field.optional { bits.optional() } else { bits }
            }))
        }
        Shape::Array(array) => {
            let most = if array.series && outside { Some(array.min.max(1)) } else { array.max };
            array.count_bits().and(smallest_form(&array.item, false).times(array.min, most))
        }
        Shape::Nullable(inner) => smallest_form(inner, outside).optional(),
        _ => node.bits(),
    }
}

/// Leaves out the properties of `rank` and above.
struct Cut<'a> {
    rank: u16,
    /// Their paths, each once.
    left_out: &'a mut Vec<String>,
}

impl Cut<'_> {
    /// Cuts the value at `path`. Of a series, the first `keep` readings stay, and in arrays, where that is `None`, all.
    fn cut(&mut self, node: &Node, value: &mut Value, keep: Option<usize>, path: &str) {
        match (&node.shape, value) {
            (Shape::Object(object), Value::Map(entries)) => {
                for field in &object.fields {
                    let Some(at) = entries.iter().position(|(name, _)| *name == field.name) else { continue };
                    let path = Place::Field(&field.name).below(path);
                    if field.drop.is_none_or(|drop| u16::from(drop) < self.rank) {
                        self.cut(&field.node, &mut entries[at].1, keep, &path);
                        continue;
                    }
                    entries.remove(at);
                    add(self.left_out, path);
                }
            }
            (Shape::Array(array), Value::Array(items)) => {
                if let Some(keep) = keep.filter(|_| array.series) {
                    items.truncate(keep.max(array.min as usize));
                }
                let path = Place::Elements.below(path);
                items.iter_mut().for_each(|item| self.cut(&array.item, item, None, &path));
            }
            (Shape::Tuple(tuple), Value::Array(items)) => {
                for (at, item) in items.iter_mut().enumerate() {
                    if let Some(node) = tuple.element(at) {
                        self.cut(node, item, None, &Place::Element(at).below(path));
                    }
                }
            }
            (Shape::Nullable(inner), value) => self.cut(inner, value, keep, path),
            _ => {}
        }
    }
}

fn add(paths: &mut Vec<String>, path: String) {
    if !paths.contains(&path) {
        paths.push(path);
    }
}

/// Returns the number of elements of the longest series that is not inside of an array.
fn readings(node: &Node, value: &Value) -> usize {
    match (&node.shape, value) {
        (Shape::Array(array), Value::Array(items)) if array.series => items.len(),
        (Shape::Array(_) | Shape::Tuple(_), _) => 0,
        _ => below(node, value).into_iter().map(|(_, node, value)| readings(node, value)).max().unwrap_or(0),
    }
}

/// Collects the paths of the properties that may be left out and are absent, each once.
fn absent(node: &Node, value: &Value, path: &str, out: &mut Vec<String>) {
    if let (Shape::Object(object), Value::Map(_)) = (&node.shape, value) {
        for field in
            object.fields.iter().filter(|field| field.drop.is_some() && value.get(&field.name).is_none())
        {
            add(out, Place::Field(&field.name).below(path));
        }
    }
    for (place, node, value) in below(node, value) {
        absent(node, value, &place.below(path), out);
    }
}

/// Returns the values directly inside `value`, with their nodes and places; none of unions and definitions.
fn below<'a>(node: &'a Node, value: &'a Value) -> Vec<(Place<'a>, &'a Node, &'a Value)> {
    match (&node.shape, value) {
        (Shape::Object(object), Value::Map(_)) => {
            let fields = object.fields.iter();
            fields
                .filter_map(|field| Some((Place::Field(&field.name), &field.node, value.get(&field.name)?)))
                .collect()
        }
        (Shape::Array(array), Value::Array(items)) => {
            items.iter().map(|item| (Place::Elements, &*array.item, item)).collect()
        }
        (Shape::Tuple(tuple), Value::Array(items)) => {
            let node = |(at, item)| Some((Place::Element(at), tuple.element(at)?, item));
            items.iter().enumerate().filter_map(node).collect()
        }
        (Shape::Nullable(inner), value) => vec![(Place::Same, inner, value)],
        _ => Vec::new(),
    }
}
