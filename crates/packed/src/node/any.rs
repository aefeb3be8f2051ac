//! Values without a schema, each written with its type: `spec/packed.md`, "Modelled bodies".

use super::{float, number};
use crate::decode::Decoder;
use crate::encode::Encoder;
use crate::limits::Nesting;
use crate::wire::{At, Part, Sink, Source};
use crate::{Bits, Error, open};
use dunnage_pson::{DUPLICATE_KEY, Kind, Value};
use std::collections::HashSet;

const FORMS: u64 = 10;
const NULL: u64 = 0;
const FALSE: u64 = 1;
const TRUE: u64 = 2;
const WHOLE: u64 = 3;
const NEGATIVE: u64 = 4;
const FLOAT: u64 = 5;
const TEXT: u64 = 6;
const BYTES: u64 = 7;
const ARRAY: u64 = 8;
const MAP: u64 = 9;

/// The bits of a value: its form, at least.
pub(super) const BITS: Bits = Bits { min: 4, max: None };

fn form_of(value: &Value) -> u64 {
    match value {
        Value::Null => NULL,
        Value::Bool(b) => FALSE + u64::from(*b),
        Value::U64(_) | Value::I64(_) | Value::F64(_) => match value.as_integer() {
            Some(n) if n < 0 => NEGATIVE,
            Some(_) => WHOLE,
            None => FLOAT,
        },
        Value::Text(_) => TEXT,
        Value::Bytes(_) => BYTES,
        Value::Array(_) => ARRAY,
        Value::Map(_) => MAP,
    }
}

/// Writes a value of any type, which is already counted.
pub(super) fn write<S: Sink>(
    node: u32,
    value: &Value,
    nesting: Nesting,
    encoder: &mut Encoder<'_, S>,
) -> Result<(), Error> {
    let part = |part| At { node, part };
    encoder.index(node, Part::Form, form_of(value), FORMS)?;
    match value {
        Value::Null | Value::Bool(_) => Ok(()),
        Value::U64(_) | Value::I64(_) | Value::F64(_) => match value.as_integer() {
            Some(n) if n < 0 => encoder.sink.sized(part(Part::Value), (-1 - n) as u64),
            Some(n) => encoder.sink.sized(part(Part::Value), n as u64),
            None => float::write(node, value, encoder.sink),
        },
        Value::Text(text) => {
            encoder.values.take_text(text, 0)?;
            encoder.sink.text(part(Part::Value), text, 0, None)
        }
        Value::Bytes(bytes) => {
            encoder.sink.sized(part(Part::Count), bytes.len() as u64)?;
            bytes.iter().try_for_each(|byte| encoder.sink.raw(part(Part::Value), (*byte).into(), 8))
        }
        Value::Array(items) => {
            let nesting = nesting.inside(0)?;
            encoder.sink.sized(part(Part::Count), items.len() as u64)?;
            for (i, item) in items.iter().enumerate() {
                encoder.values.take(1, 0)?;
                write(node, item, nesting, encoder).map_err(|error| error.at_index(i))?;
            }
            Ok(())
        }
        Value::Map(entries) => write_map(node, entries, nesting.inside(0)?, encoder),
    }
}

fn write_map<S: Sink>(
    node: u32,
    entries: &[(String, Value)],
    nesting: Nesting,
    encoder: &mut Encoder<'_, S>,
) -> Result<(), Error> {
    encoder.sink.sized(At { node, part: Part::Count }, entries.len() as u64)?;
    let mut keys = HashSet::new();
    for (key, value) in entries {
        if !keys.insert(key) {
            return Err(Error::new(Kind::Range, 0, DUPLICATE_KEY).under(key));
        }
        encoder.values.take(1, 0)?;
        encoder.values.take_text(key, 0)?;
        encoder.sink.text(At { node, part: Part::Key }, key, 0, None)?;
        write(node, value, nesting, encoder).map_err(|error| error.under(key))?;
    }
    Ok(())
}

/// Reads a value of any type, which is already counted.
pub(super) fn read<S: Source>(
    node: u32,
    nesting: Nesting,
    decoder: &mut Decoder<'_, S>,
) -> Result<Value, Error> {
    let part = |part| At { node, part };
    let offset = decoder.source.offset();
    Ok(match decoder.source.index(part(Part::Form), FORMS)? {
        NULL => Value::Null,
        form @ (FALSE | TRUE) => Value::Bool(form == TRUE),
        WHOLE => Value::U64(decoder.source.sized(part(Part::Value))?),
        NEGATIVE => match -1 - i128::from(decoder.source.sized(part(Part::Value))?) {
            n if n < i64::MIN.into() => {
                return Err(Error::new(Kind::Range, offset, format!("{n} does not fit 64 bits")));
            }
            n => number::integer(n),
        },
        FLOAT => match Value::F64(float::read(node, decoder.source)?) {
            whole if whole.as_integer().is_some() => {
                return Err(Error::new(Kind::Malformed, offset, "a whole number as a float"));
            }
            value => value,
        },
        TEXT => {
            let text = decoder.source.text(part(Part::Value), 0, None)?;
            decoder.text(text, offset)?
        }
        BYTES => {
            let count = decoder.source.sized(part(Part::Count))?;
            decoder.memory.content(usize::try_from(count).unwrap_or(usize::MAX), offset)?;
            let mut bytes = Vec::new();
            for _ in 0..count {
                bytes.push(decoder.source.raw(part(Part::Value), 8)? as u8);
            }
            Value::Bytes(bytes)
        }
        ARRAY => {
            let nesting = nesting.inside(offset)?;
            decoder.memory.container(offset)?;
            let count = decoder.source.sized(part(Part::Count))?;
            let mut items = Vec::new();
            for i in 0..count {
                decoder.count_value()?;
                decoder.memory.value(decoder.source.offset())?;
                items.push(read(node, nesting, decoder).map_err(|error| error.at_index(i as usize))?);
            }
            Value::Array(items)
        }
        _ => Value::Map(read_map(node, nesting.inside(offset)?, decoder)?),
    })
}

fn read_map<S: Source>(
    node: u32,
    nesting: Nesting,
    decoder: &mut Decoder<'_, S>,
) -> Result<Vec<(String, Value)>, Error> {
    decoder.memory.container(decoder.source.offset())?;
    let count = decoder.source.sized(At { node, part: Part::Count })?;
    let (mut entries, mut keys) = (Vec::new(), HashSet::new());
    for _ in 0..count {
        decoder.count_value()?;
        let key = decoder.key(node, &mut keys)?;
        decoder.memory.value(decoder.source.offset())?;
        let value = read(node, nesting, decoder).map_err(|error| error.under(&key))?;
        entries.push((key, value));
    }
    Ok(entries)
}

pub(super) fn open_parts(path: &str, walk: &mut open::Walk) {
    walk.open(path, "may be anything", "give it a type");
}
