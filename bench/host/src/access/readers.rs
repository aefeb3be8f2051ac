//! Readers that find one value.

use super::{Leaf, Read, Step};
use crate::others::{Slot, root, slot, stride};
use dunnage_codegen::{FieldType, Record};
use dunnage_formats::Value;
use dunnage_pson::{Item, Reader as PsonReader};
use flexbuffers::{FlexBufferType, Reader as FlexReader};
use minicbor::{Decoder, data::Type};
use rmp::{Marker, decode as msg};

/// Passes the value at a path of a message to a function. `None` if there is none.
type Find = fn(&[u8], &[Step], &mut dyn FnMut(Leaf<'_>)) -> Option<()>;

fn reader(path: &[Step], find: Find) -> Read {
    let path = path.to_vec();
    Box::new(move |bytes, found| {
        let _ = find(bytes, &path, found);
    })
}

/// Reads PSON, and skips what is before the value.
pub fn pson(path: &[Step]) -> Read {
    reader(path, |bytes, path, found| {
        let mut reader = PsonReader::new(bytes).ok()?;
        for step in path {
            match step {
                Step::Key(key) => {
                    reader.enter_map().ok()?;
                    while reader.key().ok()? != key {
                        reader.skip().ok()?;
                    }
                }
                Step::Index(at) => {
                    reader.enter_array().ok()?;
                    (0..*at).try_for_each(|_| reader.skip().ok())?;
                }
            }
        }
        found(match reader.item().ok()? {
            Item::Unsigned(n) => Leaf::Integer(n.into()),
            Item::Negative(n) => Leaf::Integer(-i128::from(n)),
            Item::Float(f) => Leaf::number(f),
            Item::Bool(b) => Leaf::Bool(b),
            Item::Null => Leaf::Null,
            Item::Text(text) => Leaf::Text(text),
            _ => return None,
        });
        Some(())
    })
}

/// Reads CBOR with minicbor, and skips what is before the value.
pub fn cbor(path: &[Step]) -> Read {
    reader(path, |bytes, path, found| {
        let mut decoder = Decoder::new(bytes);
        for step in path {
            match step {
                Step::Key(key) => {
                    decoder.map().ok()?;
                    while decoder.str().ok()? != key {
                        decoder.skip().ok()?;
                    }
                }
                Step::Index(at) => {
                    decoder.array().ok()?;
                    (0..*at).try_for_each(|_| decoder.skip().ok())?;
                }
            }
        }
        found(match decoder.datatype().ok()? {
            Type::Null => Leaf::Null,
            Type::Bool => Leaf::Bool(decoder.bool().ok()?),
            Type::F16 | Type::F32 | Type::F64 => Leaf::number(decoder.f64().ok()?),
            Type::String => Leaf::Text(decoder.str().ok()?),
            _ => Leaf::Integer(decoder.int().ok()?.into()),
        });
        Some(())
    })
}

/// Reads MessagePack with rmp, and skips what is before the value.
pub fn msgpack(path: &[Step]) -> Read {
    reader(path, |bytes, path, found| {
        let mut rest = bytes;
        for step in path {
            match step {
                Step::Key(key) => {
                    msg::read_map_len(&mut rest).ok()?;
                    while msgpack_text(&mut rest)? != key {
                        skip_msgpack(&mut rest)?;
                    }
                }
                Step::Index(at) => {
                    msg::read_array_len(&mut rest).ok()?;
                    (0..*at).try_for_each(|_| skip_msgpack(&mut rest))?;
                }
            }
        }
        found(match Marker::from_u8(*rest.first()?) {
            Marker::Null => Leaf::Null,
            Marker::True => Leaf::Bool(true),
            Marker::False => Leaf::Bool(false),
            Marker::F32 => Leaf::number(msg::read_f32(&mut rest).ok()?.into()),
            Marker::F64 => Leaf::number(msg::read_f64(&mut rest).ok()?),
            Marker::FixStr(_) | Marker::Str8 | Marker::Str16 | Marker::Str32 => {
                Leaf::Text(msgpack_text(&mut rest)?)
            }
            _ => Leaf::Integer(msg::read_int(&mut rest).ok()?),
        });
        Some(())
    })
}

fn msgpack_text<'a>(rest: &mut &'a [u8]) -> Option<&'a str> {
    let (text, after) = msg::read_str_from_slice(*rest).ok()?;
    *rest = after;
    Some(text)
}

/// Skips one item with everything in it. rmp has no function for that.
fn skip_msgpack(rest: &mut &[u8]) -> Option<()> {
    let mut items = 1;
    while items > 0 {
        items -= 1;
        let bytes = match Marker::from_u8(*rest.first()?) {
            Marker::FixPos(_) | Marker::FixNeg(_) | Marker::Null | Marker::True | Marker::False => 1,
            Marker::U8 | Marker::I8 => 2,
            Marker::U16 | Marker::I16 => 3,
            Marker::U32 | Marker::I32 | Marker::F32 => 5,
            Marker::U64 | Marker::I64 | Marker::F64 => 9,
            Marker::FixStr(_) | Marker::Str8 | Marker::Str16 | Marker::Str32 => {
                msg::read_str_len(rest).ok()? as usize
            }
            Marker::Bin8 | Marker::Bin16 | Marker::Bin32 => msg::read_bin_len(rest).ok()? as usize,
            Marker::FixArray(_) | Marker::Array16 | Marker::Array32 => {
                items += msg::read_array_len(rest).ok()?;
                0
            }
            Marker::FixMap(_) | Marker::Map16 | Marker::Map32 => {
                items += 2 * msg::read_map_len(rest).ok()?;
                0
            }
            _ => return None,
        };
        *rest = rest.get(bytes..)?;
    }
    Some(())
}

/// Reads FlexBuffers, whose maps are sorted by their keys.
pub fn flexbuffers(path: &[Step]) -> Read {
    reader(path, |bytes, path, found| {
        let mut value = FlexReader::get_root(bytes).ok()?;
        for step in path {
            value = match step {
                Step::Key(key) => value.get_map().ok()?.index(key.as_str()).ok()?,
                Step::Index(at) => value.get_vector().ok()?.index(*at).ok()?,
            };
        }
        found(match value.flexbuffer_type() {
            FlexBufferType::Null => Leaf::Null,
            FlexBufferType::Bool => Leaf::Bool(value.get_bool().ok()?),
            FlexBufferType::Float => Leaf::number(value.get_f64().ok()?),
            FlexBufferType::UInt => Leaf::Integer(value.get_u64().ok()?.into()),
            FlexBufferType::Int => Leaf::Integer(value.get_i64().ok()?.into()),
            _ => Leaf::Text(value.get_str().ok()?),
        });
        Some(())
    })
}

/// A step in a FlatBuffers message: a field of a table, or an element of a vector with elements of this many bytes.
#[derive(Clone, Copy)]
enum Hop {
    Field(usize),
    Element(usize, usize),
}

/// Reads FlatBuffers with planus. `None` if no single field of the record has the value.
pub fn flatbuffers(record: &Record, path: &[Step]) -> Option<Read> {
    let (hops, kind) = route(record, path)?;
    let (Hop::Field(first), hops) = (*hops.first()?, hops.get(1..)?.to_vec()) else { return None };
    Some(Box::new(move |bytes, found| {
        let value = || {
            let place = slot(&root(bytes).ok()?, first).ok()??;
            hops.iter().try_fold(place, |place, hop| follow(place, *hop))
        };
        if let Some(place) = value() {
            let _ = flatbuffers_leaf(&kind, place, found);
        }
    }))
}

/// Returns the indices of fields and elements that lead to the value in the record.
pub fn indices(record: &Record, path: &[Step]) -> Option<Vec<usize>> {
    let index = |hop| match hop {
        Hop::Field(at) | Hop::Element(at, _) => at,
    };
    Some(route(record, path)?.0.into_iter().map(index).collect())
}

/// Returns the hops to a value, and its kind.
fn route(record: &Record, path: &[Step]) -> Option<(Vec<Hop>, FieldType)> {
    let mut kind = FieldType::Record(record.clone());
    let mut hops = Vec::new();
    for step in path {
        let (hop, inner) = match (step, kind) {
            (Step::Key(key), FieldType::Record(record)) => {
                let at = record.fields.iter().position(|field| field.key == *key)?;
                (Hop::Field(at), record.fields[at].kind.clone())
            }
            (Step::Index(at), FieldType::List(list)) => (Hop::Element(*at, stride(&list.item)), *list.item),
            _ => return None,
        };
        hops.push(hop);
        kind = inner;
    }
    let leaf = !matches!(kind, FieldType::Record(_) | FieldType::List(_) | FieldType::Bytes);
    leaf.then_some((hops, kind))
}

fn follow(place: Slot<'_>, hop: Hop) -> Option<Slot<'_>> {
    match hop {
        Hop::Field(at) => slot(&place.table().ok()?, at).ok()?,
        Hop::Element(at, stride) => {
            let (length, element) = place.elements(stride).ok()?;
            (at < length).then(|| element(at))
        }
    }
}

fn flatbuffers_leaf(kind: &FieldType, place: Slot<'_>, found: &mut dyn FnMut(Leaf<'_>)) -> Option<()> {
    let integer = |value: Value| value.as_integer().map(Leaf::Integer);
    found(match kind {
        FieldType::Bool => Leaf::Bool(place.read().ok()?),
        FieldType::Integer(range) => integer(place.integer(range.bytes(), range.signed()).ok()?)?,
        FieldType::Enum(_) => integer(place.integer(stride(kind), false).ok()?)?,
        FieldType::Float32 => Leaf::number(place.read::<f32>().ok()?.into()),
        FieldType::Float64 => Leaf::number(place.read().ok()?),
        _ => Leaf::Text(place.read().ok()?),
    });
    Some(())
}
