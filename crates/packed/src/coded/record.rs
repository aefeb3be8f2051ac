//! The parts of a message, kept as the reference of later messages and for training.

use super::leaf::Key;
use crate::Error;
use crate::bits::Writer;
use crate::wire::{At, Sink, Source};
use dunnage_pson::Value;
use std::sync::OnceLock;

/// A part of a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Datum {
    Index { value: u64, count: u64 },
    Sized(u64),
    Raw { value: u64, bits: u32 },
    Text(String),
}

impl Datum {
    /// Returns whether `other` has the same form, so that it may be the same part.
    pub fn is_alike(&self, other: &Datum) -> bool {
        match (self, other) {
            (Datum::Raw { bits: a, .. }, Datum::Raw { bits: b, .. }) => a == b,
            _ => std::mem::discriminant(self) == std::mem::discriminant(other),
        }
    }

    /// Returns the index, if it is one out of `count`.
    pub fn index_of(&self, count: u64) -> Option<u64> {
        match self {
            Datum::Index { value, count: same } if *same == count => Some(*value),
            _ => None,
        }
    }
}

/// The indices of the elements around a part, from the outside.
type Path = Box<[u32]>;

/// Where in a message a part is.
#[derive(Debug, Clone, Default)]
pub(crate) struct Place {
    /// The indices of the elements around the part, from the outside.
    pub path: Vec<u32>,
    node: u32,
    nth: u32,
}

impl Place {
    /// Announces the n-th number or piece of a text.
    pub fn nth(&mut self, node: u32, nth: usize) {
        (self.node, self.nth) = (node, nth as u32);
    }

    /// Returns the key of a part at this place.
    pub fn key(&self, at: At, opaque: bool) -> Key {
        let nth = if self.node == at.node { self.nth } else { 0 };
        Key { node: at.node, part: at.part, nth, opaque }
    }
}

/// The parts of one message.
#[derive(Debug, Clone, Default)]
pub(crate) struct Record {
    /// The parts in the order of the layout.
    parts: Vec<Part>,
    /// The paths of the parts in arrays, in the order of the layout.
    paths: Vec<Path>,
    texts: Vec<String>,
    /// The indices of the parts, in the order of their keys and paths, once a part was not at its likely place.
    sorted: OnceLock<Vec<u32>>,
}

/// A part as a record keeps it. It has no memory of its own, so that a record is dropped without a look at each part.
#[derive(Debug, Clone, Copy)]
struct Part {
    key: Key,
    /// One more than the index of its path, or 0 outside of arrays.
    path: u32,
    /// The number, or the index of the text.
    value: u64,
    form: Form,
}

#[derive(Debug, Clone, Copy)]
enum Form {
    Index { count: u64 },
    Sized,
    Raw { bits: u32 },
    Text,
}

impl Record {
    /// Returns the number of parts.
    pub fn len(&self) -> usize {
        self.parts.len()
    }

    /// Returns the parts in the order of the layout, with the indices of the elements around each.
    pub fn parts(&self) -> impl Iterator<Item = (Key, &[u32], Datum)> {
        self.parts.iter().map(|part| (part.key, self.path(part), self.datum_of(part)))
    }

    /// Returns the place of the part with this key in the elements `path`. The part at `likely` is looked at first: two messages mostly have
    /// the same parts in the same order.
    pub fn find(&self, key: Key, path: &[u32], likely: usize) -> Option<usize> {
        // Most parts are in no array, so that their paths need not be compared.
        let is = |part: &Part| {
            part.key == key && if part.path == 0 { path.is_empty() } else { self.path(part) == path }
        };
        if self.parts.get(likely).is_some_and(is) {
            return Some(likely);
        }
        let sorted = self.sorted.get_or_init(|| self.sort());
        let found = sorted.binary_search_by(|at| {
            let part = &self.parts[*at as usize];
            part.key.cmp(&key).then_with(|| self.path(part).cmp(path))
        });
        Some(sorted[found.ok()?] as usize)
    }

    #[cold]
    fn sort(&self) -> Vec<u32> {
        let mut sorted: Vec<u32> = (0..self.parts.len() as u32).collect();
        sorted.sort_unstable_by_key(|at| {
            let part = &self.parts[*at as usize];
            (part.key, self.path(part))
        });
        sorted
    }

    fn path(&self, part: &Part) -> &[u32] {
        match part.path {
            0 => &[],
            path => &self.paths[path as usize - 1],
        }
    }

    /// Returns the index at a place, if it is one out of `count`.
    pub fn index_of(&self, at: usize, count: u64) -> Option<u64> {
        match self.parts[at] {
            Part { value, form: Form::Index { count: same }, .. } if same == count => Some(value),
            _ => None,
        }
    }

    /// Returns the part at a place.
    pub fn datum(&self, at: usize) -> Datum {
        self.datum_of(&self.parts[at])
    }

    fn datum_of(&self, part: &Part) -> Datum {
        match (part.form, part.value) {
            (Form::Index { count }, value) => Datum::Index { value, count },
            (Form::Sized, value) => Datum::Sized(value),
            (Form::Raw { bits }, value) => Datum::Raw { value, bits },
            (Form::Text, at) => Datum::Text(self.texts[at as usize].clone()),
        }
    }

    /// Returns about how much memory the parts take at most, in bytes.
    pub fn memory(&self) -> usize {
        let paths = self.paths.iter().map(|path| size_of::<Path>() + size_of_val(&**path)).sum::<usize>();
        let texts = self.texts.iter().map(|text| size_of::<String>() + text.len()).sum::<usize>();
        self.parts.capacity() * (size_of::<Part>() + size_of::<u32>()) + paths + texts
    }
}

/// A sink that keeps the parts.
#[derive(Debug, Default)]
pub(crate) struct Recorder {
    place: Place,
    record: Record,
}

impl Recorder {
    /// Creates a recorder of a message that probably has `parts` parts.
    fn with_room(parts: usize) -> Recorder {
        let record = Record { parts: Vec::with_capacity(parts), ..Record::default() };
        Recorder { record, ..Recorder::default() }
    }

    /// Returns the parts of the message.
    pub fn finish(self) -> Record {
        self.record
    }

    fn keep(&mut self, at: At, value: u64, form: Form) -> Result<(), Error> {
        let key = self.place.key(at, !matches!(form, Form::Index { .. }));
        let path = if self.place.path.is_empty() { 0 } else { self.path() };
        self.record.parts.push(Part { key, path, value, form });
        Ok(())
    }

    /// Returns the path of a part in an array.
    fn path(&mut self) -> u32 {
        let (paths, path) = (&mut self.record.paths, &self.place.path);
        if paths.last().is_none_or(|last| **last != **path) {
            paths.push(path.as_slice().into());
        }
        paths.len() as u32
    }
}

impl Sink for Recorder {
    const MODELLED: bool = false;
    const CODED: bool = true;

    fn index(&mut self, at: At, value: u64, count: u64) -> Result<(), Error> {
        self.keep(at, value, Form::Index { count })
    }

    fn sized(&mut self, at: At, value: u64) -> Result<(), Error> {
        self.keep(at, value, Form::Sized)
    }

    fn raw(&mut self, at: At, value: u64, bits: u32) -> Result<(), Error> {
        self.keep(at, value, Form::Raw { bits })
    }

    fn text(&mut self, at: At, text: &str, _: u32, _: Option<u32>) -> Result<(), Error> {
        self.record.texts.push(text.to_owned());
        self.keep(at, self.record.texts.len() as u64 - 1, Form::Text)
    }

    fn nth(&mut self, node: u32, nth: usize) {
        self.place.nth(node, nth);
    }

    fn enter(&mut self, index: usize) {
        self.place.path.push(index as u32);
    }

    fn leave(&mut self) {
        self.place.path.pop();
    }
}

/// A source that keeps the parts that are read from another one, and writes what they are in a plain body.
pub(crate) struct Recorded<'p, S> {
    source: S,
    recorder: Recorder,
    plain: Writer<'p>,
    /// Whether the parts that are read now have another form in a plain body.
    has_other: bool,
}

impl<'p, S: Source> Recorded<'p, S> {
    /// Creates a source that reads from `source` about as many parts as `like` has, and appends the plain bits to `plain`.
    pub fn new(source: S, like: &Record, plain: &'p mut Vec<u8>) -> Self {
        let recorder = Recorder::with_room(like.len());
        Recorded { source, recorder, plain: Writer::new(plain), has_other: false }
    }

    /// Writes the last plain bits, and returns the source and the parts that were read.
    pub fn finish(self) -> (S, Record) {
        self.plain.finish();
        (self.source, self.recorder.finish())
    }
}

impl<'p, S: Source> Source for Recorded<'p, S> {
    const MODELLED: bool = S::MODELLED;
    const CODED: bool = S::CODED;
    type Plain = Writer<'p>;

    fn index(&mut self, at: At, count: u64) -> Result<u64, Error> {
        let value = self.source.index(at, count)?;
        self.recorder.index(at, value, count)?;
        if !self.has_other {
            self.plain.index(at, value, count)?;
        }
        Ok(value)
    }

    fn sized(&mut self, at: At) -> Result<u64, Error> {
        let value = self.source.sized(at)?;
        self.recorder.sized(at, value)?;
        if !self.has_other {
            self.plain.sized(at, value)?;
        }
        Ok(value)
    }

    fn raw(&mut self, at: At, bits: u32) -> Result<u64, Error> {
        let value = self.source.raw(at, bits)?;
        self.recorder.raw(at, value, bits)?;
        if !self.has_other {
            self.plain.raw(at, value, bits)?;
        }
        Ok(value)
    }

    fn text(&mut self, at: At, min: u32, max: Option<u32>) -> Result<String, Error> {
        let text = self.source.text(at, min, max)?;
        self.recorder.text(at, &text, min, max)?;
        if !self.has_other {
            self.plain.text(at, &text, min, max)?;
        }
        Ok(text)
    }

    fn read_other<T>(
        &mut self,
        read: impl FnOnce(&mut Self) -> Result<T, Error>,
        write: impl FnOnce(&T, &mut Writer<'p>) -> Result<(), Error>,
    ) -> Result<T, Error> {
        self.has_other = true;
        let value = read(self)?;
        self.has_other = false;
        write(&value, &mut self.plain)?;
        Ok(value)
    }

    fn offset(&self) -> usize {
        self.source.offset()
    }

    fn nth(&mut self, node: u32, nth: usize) {
        self.source.nth(node, nth);
        self.recorder.nth(node, nth);
    }

    fn enter(&mut self, index: usize) {
        self.source.enter(index);
        self.recorder.enter(index);
    }

    fn leave(&mut self) {
        self.source.leave();
        self.recorder.leave();
    }

    fn begin(&mut self, node: u32) {
        self.source.begin(node);
    }

    fn end(&mut self, value: &Value) {
        self.source.end(value);
    }
}
