//! An object: `spec/packed.md`, "Plain bodies"; the order of its properties: "Modelled bodies".

use crate::carries::Carrier;
use crate::coded::{Leaves, expected};
use crate::decode::Decoder;
use crate::encode::{Encoder, wrong};
use crate::explain::Words;
use crate::limits::Nesting;
use crate::path::Place;
use crate::size::SIZED;
use crate::wire::{At, Part, Sink, Source};
use crate::{Bits, Error, Node, explain, json, open, order};
use dunnage_pson::{DUPLICATE_KEY, Kind, Value};
use std::collections::{HashMap, HashSet};
use std::mem;

/// An object with more entries than this is searched by a hash table.
const MANY: usize = 32;
/// The maximum number of fields for which memory is reserved before they are read.
const ROOM: usize = 64;

/// An object with its fields in the order of the schema.
#[derive(Debug, Clone, PartialEq)]
pub struct ObjectNode {
    /// The named fields.
    pub fields: Vec<FieldNode>,
    /// The type of other fields, if the schema allows any.
    pub additional: Option<Box<Node>>,
}

/// A named field.
#[derive(Debug, Clone, PartialEq)]
pub struct FieldNode {
    /// The key in the message.
    pub name: String,
    /// Whether a bit says that the field is present.
    pub optional: bool,
    /// The value of the field.
    pub node: Node,
    /// The `description` in the schema.
    pub description: Option<String>,
    /// Its rank among those that [`Layout::encode_fit`](crate::Layout::encode_fit) leaves out, if it may.
    pub drop: Option<u8>,
}

/// The entries of a message, in its order.
type Entries = Vec<(String, Value)>;

impl ObjectNode {
    pub(super) fn children(&self) -> impl Iterator<Item = (Place<'_>, &Node)> {
        let fields = self.fields.iter().map(|field| (Place::Field(&field.name), &field.node));
        fields.chain(self.additional.as_deref().map(|additional| (Place::Additional, additional)))
    }

    pub(super) fn carries(&self, value: &Value, carrier: &Carrier<'_>) -> Result<bool, Error> {
        let Value::Map(entries) = value else { return Ok(false) };
        let required = self.fields.iter().filter(|field| !field.optional);
        let mut found = 0;
        for (key, value) in entries {
            carrier.compare(self.fields.len())?;
            let field = self.fields.iter().find(|field| field.name == *key);
            found += usize::from(field.is_some_and(|field| !field.optional));
            match field.map(|field| &field.node).or(self.additional.as_deref()) {
                Some(node) if carrier.carries(node, value)? => {}
                _ => return Ok(false),
            }
        }
        Ok(found == required.count())
    }

    pub(super) fn write<S: Sink>(
        &self,
        node: u32,
        value: &Value,
        nesting: Nesting,
        encoder: &mut Encoder<'_, S>,
    ) -> Result<(), Error> {
        let nesting = nesting.inside(0)?;
        let Value::Map(entries) = value else { return Err(wrong("an object", value)) };
        // The index of each property in the message, in the order in which properties are written.
        let mut written = Vec::new();
        let mut finder = Finder::new(entries);
        for field in &self.fields {
            let found = finder.find(&field.name);
            field.write(found.map(|at| &entries[at].1), nesting, encoder)?;
            written.extend(found);
        }
        if let Some(additional) = &self.additional {
            self.write_additional(node, additional, entries, &mut written, nesting, encoder)?;
        }
        if written.len() < entries.len() {
            return Err(Error::new(Kind::Type, 0, "a key that the schema does not have"));
        }
        if S::MODELLED { order::write(node, &written, encoder.sink) } else { Ok(()) }
    }

    fn write_additional<S: Sink>(
        &self,
        node: u32,
        additional: &Node,
        entries: &[(String, Value)],
        written: &mut Vec<usize>,
        nesting: Nesting,
        encoder: &mut Encoder<'_, S>,
    ) -> Result<(), Error> {
        encoder.sink.sized(At { node, part: Part::Count }, (entries.len() - written.len()) as u64)?;
        let mut names: HashSet<&str> = self.fields.iter().map(|field| field.name.as_str()).collect();
        let found: HashSet<usize> = written.iter().copied().collect();
        for (i, (key, value)) in entries.iter().enumerate().filter(|(i, _)| !found.contains(i)) {
            if !names.insert(key) {
                return Err(Error::new(Kind::Range, 0, DUPLICATE_KEY).under(key));
            }
            encoder.values.take_text(key, 0)?;
            encoder.sink.text(At { node, part: Part::Key }, key, 0, None)?;
            encoder.value(additional, value, nesting).map_err(|error| error.under(key))?;
            written.push(i);
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
        let mut entries = if let Value::Map(entries) = out { mem::take(entries) } else { Vec::new() };
        entries.reserve(self.fields.len().min(ROOM).saturating_sub(entries.len()));
        let mut named = 0;
        for field in &self.fields {
            named += usize::from(field.read(nesting, decoder, &mut entries, named)?);
        }
        entries.truncate(named);
        if let Some(additional) = &self.additional {
            self.read_additional(node, additional, &mut entries, nesting, decoder)?;
        }
        if S::MODELLED {
            entries = order::read(node, entries, named, decoder.source)?;
        }
        *out = Value::Map(entries);
        Ok(())
    }

    fn read_additional<S: Source>(
        &self,
        node: u32,
        additional: &Node,
        entries: &mut Entries,
        nesting: Nesting,
        decoder: &mut Decoder<'_, S>,
    ) -> Result<(), Error> {
        let count = decoder.source.sized(At { node, part: Part::Count })?;
        let mut keys = HashSet::new();
        if count > 0 {
            keys.extend(self.fields.iter().map(|field| field.name.clone()));
        }
        for _ in 0..count {
            let key = decoder.key(node, &mut keys)?;
            let value = decoder.value(additional, nesting).map_err(|error| error.under(&key))?;
            entries.push((key, value));
        }
        Ok(())
    }

    pub(super) fn bits(&self) -> Bits {
        let fields = Bits::sum(self.fields.iter().map(|field| {
            let bits = field.node.bits();
            if field.optional { bits.optional() } else { bits }
        }));
        if self.additional.is_some() { fields.and(Bits::open(SIZED.min)) } else { fields }
    }

    pub(super) fn canonical(&self, modelled: bool, out: &mut String) {
        json::tagged("object", out, |out| {
            json::list(out, '[', &self.fields, ']', |field, out| {
                out.push('[');
                json::string(&field.name, out);
                out.push_str(&format!(",{},", !field.optional));
                field.node.canonical(modelled, out);
                out.push(']');
            });
            if let Some(additional) = &self.additional {
                out.push_str(",\"additional\":");
                additional.canonical(modelled, out);
            }
        });
    }

    pub(super) fn open_parts(&self, path: &str, times: u64, walk: &mut open::Walk) {
        for field in &self.fields {
            field.node.open_parts(&Place::Field(&field.name).below(path), times, walk);
        }
        if self.additional.is_some() {
            walk.open(path, "may have other properties", "add additionalProperties: false");
        }
    }

    pub(super) fn leaves(&self, leaves: &mut Leaves) {
        for field in &self.fields {
            if field.optional {
                leaves.index(field.node.id, Part::Presence, 0, 2);
            }
            field.node.leaves(leaves);
        }
    }

    pub(super) fn expected(&self, times: expected::Times, walk: &mut expected::Walk<'_>) {
        for field in &self.fields {
            walk.under(Place::Field(&field.name), |walk| {
                let mut there = 1.0;
                if field.optional {
                    let leaf = walk.index(field.node.id, Part::Presence, 0, 2, times);
                    there = walk.from(leaf, 2, 1);
                }
                field.node.expected(times.by(there, 1.0), walk);
            });
        }
    }

    pub(super) fn explain(
        &self,
        path: &str,
        times: explain::Times,
        lead: &explain::Lead,
        walk: &mut explain::Walk,
    ) {
        if !lead.is_empty() {
            walk.push(path, "object", Bits::exactly(0), Words::default(), times, lead);
        }
        let (times, none) = (times.behind(lead), explain::Lead::default());
        for field in &self.fields {
            let lead = if field.optional { &none.and("1 bit for there or not") } else { &none };
            field.node.explain(&Place::Field(&field.name).below(path), times, lead, walk);
        }
        if let Some(additional) = &self.additional {
            let path = Place::Additional.below(path);
            let words = Words::says("any other keys", "how many, and the key of each");
            walk.push(&path, "additional", Bits::open(SIZED.min), words, times, &none);
            additional.explain(&path, times.by(0, None), &none, walk);
        }
    }
}

impl FieldNode {
    fn write<S: Sink>(
        &self,
        value: Option<&Value>,
        nesting: Nesting,
        encoder: &mut Encoder<'_, S>,
    ) -> Result<(), Error> {
        if self.optional {
            encoder.sink.nth(self.node.id, 0);
            // The bit belongs to the node of the field, so that the modelled coder learns the presence of each field separately.
            encoder.index(self.node.id, Part::Presence, value.is_some().into(), 2)?;
        }
        match value {
            Some(value) => {
                encoder.values.take_text(&self.name, 0)?;
                encoder.value(&self.node, value, nesting).map_err(|error| error.under(&self.name))
            }
            None if self.optional => Ok(()),
            None => Err(Error::new(Kind::Range, 0, format!("the field {:?} is missing", self.name))),
        }
    }

    /// Reads the field into the place `at` of `entries`, or appends it. Returns whether it is present.
    #[inline]
    fn read<S: Source>(
        &self,
        nesting: Nesting,
        decoder: &mut Decoder<'_, S>,
        entries: &mut Entries,
        at: usize,
    ) -> Result<bool, Error> {
        decoder.source.nth(self.node.id, 0);
        if self.optional && decoder.index(self.node.id, Part::Presence, 2)? == 0 {
            return Ok(false);
        }
        let offset = decoder.source.offset();
        decoder.values.take_text(&self.name, offset)?;
        decoder.memory.value(offset)?;
        decoder.memory.content(self.name.len(), offset)?;
        // Fills the entry in place, which avoids a copy of the value. One that is there from before mostly has the key already.
        if at == entries.len() {
            entries.push((self.name.clone(), Value::Null));
        }
        let (key, value) = &mut entries[at];
        if *key != self.name {
            key.clone_from(&self.name);
        }
        decoder.fill(&self.node, nesting, value).map_err(|error| error.under(&self.name))?;
        Ok(true)
    }
}

/// Finds the entries of an object by key. They are usually in the order of the schema, so the next entry is tried first.
struct Finder<'a> {
    entries: &'a [(String, Value)],
    /// The index after the entry that was found last.
    next: usize,
    table: Option<HashMap<&'a str, usize>>,
}

impl<'a> Finder<'a> {
    fn new(entries: &'a [(String, Value)]) -> Self {
        Finder { entries, next: 0, table: None }
    }

    fn find(&mut self, name: &str) -> Option<usize> {
        let found = match self.entries.get(self.next) {
            Some((key, _)) if key == name => Some(self.next),
            _ if self.entries.len() > MANY => {
                let keys = || self.entries.iter().enumerate().map(|(i, (key, _))| (key.as_str(), i));
                self.table.get_or_insert_with(|| keys().collect()).get(name).copied()
            }
            _ => self.entries.iter().position(|(key, _)| key == name),
        };
        self.next = found.map_or(self.next, |at| at + 1);
        found
    }
}
