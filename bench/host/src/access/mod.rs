//! Reads one value of an encoded message: without decoding the rest, in the formats whose readers allow it, and after decoding all of it in the others.

mod archived;
mod readers;

pub use archived::{NOTE as ARCHIVED_NOTE, encoded as archived};

use crate::{
    corpus::MessageSet,
    others::{Flatbuffers, Flexbuffers, records::RecordCodec},
};
use dunnage_codegen::{Mapped, Mapping};
use dunnage_formats::{Cbor, Error, Format, Id, Json, Msgpack, Pson, Value};

/// The messages of which values are read.
pub const MESSAGES: [&str; 4] = ["container", "weather", "ocpp-meter-values", "tasmota-status"];

/// A step to a value inside a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// The value of a key.
    Key(String),
    /// The element at an index.
    Index(usize),
}

/// A scalar value. Its text is borrowed from the message.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Leaf<'a> {
    /// `null`
    Null,
    /// `true` or `false`
    Bool(bool),
    /// A whole number.
    Integer(i128),
    /// Any other number.
    Float(f64),
    /// Text.
    Text(&'a str),
}

impl<'a> Leaf<'a> {
    /// Returns the value as a leaf, unless it is bytes, a map or an array.
    pub fn of(value: &'a Value) -> Option<Leaf<'a>> {
        match value {
            Value::Null => Some(Leaf::Null),
            Value::Bool(b) => Some(Leaf::Bool(*b)),
            Value::Text(text) => Some(Leaf::Text(text)),
            Value::F64(f) => Some(value.as_integer().map_or(Leaf::Float(*f), Leaf::Integer)),
            _ => value.as_integer().map(Leaf::Integer),
        }
    }

    /// Returns a number as a leaf: whole numbers are integers.
    pub fn number(number: f64) -> Leaf<'static> {
        Value::F64(number).as_integer().map_or(Leaf::Float(number), Leaf::Integer)
    }
}

/// Passes the value to a function. Not if the message has no such value.
pub type Read = Box<dyn Fn(&[u8], &mut dyn FnMut(Leaf<'_>))>;

/// A way to read one value.
pub struct Access {
    /// The format's name in records.
    pub format: &'static str,
    /// The crate of the library.
    pub library: &'static str,
    /// How it is read.
    pub note: &'static str,
    /// The encoded message, aligned to 16 bytes because rkyv needs it.
    pub bytes: rkyv::util::AlignedVec,
    /// Reads the value.
    pub read: Read,
}

/// The first and the last value of a message, and the first of those that are nested deepest if they are nested deeper than the first.
pub fn paths(message: &Value) -> Vec<(&'static str, Vec<Step>)> {
    let mut leaves = Vec::new();
    collect(message, &mut Vec::new(), &mut leaves);
    let (Some(first), Some(last)) = (leaves.first(), leaves.last()) else { return Vec::new() };
    let deepest = leaves.iter().rev().max_by_key(|path| path.len()).filter(|path| path.len() > first.len());
    let mut paths = vec![("read first", first.clone()), ("read last", last.clone())];
    paths.extend(deepest.map(|path| ("read nested", path.clone())));
    paths
}

fn collect(value: &Value, path: &mut Vec<Step>, leaves: &mut Vec<Vec<Step>>) {
    let mut inside = |step, value| {
        path.push(step);
        collect(value, path, leaves);
        path.pop();
    };
    match value {
        Value::Map(entries) => entries.iter().for_each(|(key, value)| inside(Step::Key(key.clone()), value)),
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(at, value)| inside(Step::Index(at), value));
        }
        _ => leaves.push(path.clone()),
    }
}

/// Returns the value at a path.
pub fn at<'a>(message: &'a Value, path: &[Step]) -> Option<&'a Value> {
    path.iter().try_fold(message, |value, step| match (value, step) {
        (Value::Map(_), Step::Key(key)) => value.get(key),
        (Value::Array(items), Step::Index(at)) => items.get(*at),
        _ => None,
    })
}

/// Returns every way to read the value at `path` of the set's first message.
///
/// # Errors
/// A format cannot carry the message.
pub fn accesses(set: &MessageSet, path: &[Step]) -> Result<Vec<Access>, Error> {
    let message = &set.messages[0];
    let packed = Id::Packed.open(Some(&set.model), Mapping::Exact)?;
    let full = "decodes the whole message";
    let skip = "skips the values before it";
    let mut accesses = vec![
        access("json", "dunnage", full, &encoded(&Json, message)?, decoded(Box::new(Json), path)),
        access("packed", "dunnage", full, &encoded(&*packed, message)?, decoded(packed, path)),
        access("pson", "dunnage", skip, &encoded(&Pson, message)?, readers::pson(path)),
        access("cbor", "minicbor", skip, &encoded(&Cbor, message)?, readers::cbor(path)),
        access("msgpack", "rmp", skip, &encoded(&Msgpack, message)?, readers::msgpack(path)),
        access(
            "flexbuffers",
            "flexbuffers",
            "finds each key by a binary search",
            &encoded(&Flexbuffers, message)?,
            readers::flexbuffers(path),
        ),
    ];
    let mapped = Mapped::of(&set.model, Mapping::Exact);
    if let Some(read) = readers::flatbuffers(mapped.record(), path) {
        let mut bytes = Vec::new();
        Flatbuffers.write(mapped.record(), &mapped.to_record(message)?, &mut bytes)?;
        let note = "finds each field by its number; reads the integer that the record of the schema has for a decimal, \
            a text of digits or a name";
        accesses.push(access("flatbuffers", "planus", note, &bytes, read));
    }
    accesses.extend(archived::accesses(set, path));
    Ok(accesses)
}

fn access(
    format: &'static str,
    library: &'static str,
    note: &'static str,
    bytes: &[u8],
    read: Read,
) -> Access {
    let mut aligned = rkyv::util::AlignedVec::with_capacity(bytes.len());
    aligned.extend_from_slice(bytes);
    Access { format, library, note, bytes: aligned, read }
}

fn encoded(format: &dyn Format, message: &Value) -> Result<Vec<u8>, Error> {
    let mut bytes = Vec::new();
    format.encode(message, &mut bytes)?;
    Ok(bytes)
}

/// Decodes the whole message, and takes the value.
fn decoded(format: Box<dyn Format>, path: &[Step]) -> Read {
    let path = path.to_vec();
    Box::new(move |bytes, found| {
        let message = format.decode(bytes).ok();
        if let Some(leaf) = message.as_ref().and_then(|message| at(message, &path)).and_then(Leaf::of) {
            found(leaf);
        }
    })
}

/// Returns what a reader must find at `path`: in FlatBuffers the value of the record, in the other formats that of the message.
pub fn expected(set: &MessageSet, format: &str, path: &[Step]) -> Option<Value> {
    let message = &set.messages[0];
    if format != "flatbuffers" {
        return at(message, path).cloned();
    }
    let mapped = Mapped::of(&set.model, Mapping::Exact);
    let tree = mapped.to_record(message).ok()?;
    let indices = readers::indices(mapped.record(), path)?;
    at(&tree, &indices.into_iter().map(Step::Index).collect::<Vec<_>>()).cloned()
}

#[cfg(test)]
mod tests;
