//! Values without a schema: each is written with its type.

use crate::Error;
use crate::decode::{Decoder, taken};
use crate::encode::Encoder;
use crate::float;
use crate::limits::Nesting;
use crate::number::integer;
use crate::wire::{At, Part, Sink, Source};
use dunnage_pson::{Kind, Value};
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

impl<S: Sink> Encoder<'_, S> {
    /// Writes a value of any type. The caller has counted it in `self.values`.
    pub(crate) fn any(&mut self, node: u32, value: &Value, nesting: Nesting) -> Result<(), Error> {
        write(self, node, value, nesting)
    }
}

impl<S: Source> Decoder<'_, S> {
    /// Reads a value of any type. The caller has counted it in `self.values`.
    pub(crate) fn any(&mut self, node: u32, nesting: Nesting) -> Result<Value, Error> {
        read(self, node, nesting)
    }
}

fn write<S: Sink>(
    encoder: &mut Encoder<'_, S>,
    node: u32,
    value: &Value,
    nesting: Nesting,
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
                write(encoder, node, item, nesting).map_err(|error| error.at_index(i))?;
            }
            Ok(())
        }
        Value::Map(entries) => map(encoder, node, entries, nesting.inside(0)?),
    }
}

fn map<S: Sink>(
    encoder: &mut Encoder<'_, S>,
    node: u32,
    entries: &[(String, Value)],
    nesting: Nesting,
) -> Result<(), Error> {
    encoder.sink.sized(At { node, part: Part::Count }, entries.len() as u64)?;
    let mut keys = HashSet::new();
    for (key, value) in entries {
        if !keys.insert(key) {
            return Err(Error::new(Kind::Range, 0, "a key that stands twice").under(key));
        }
        encoder.values.take(1, 0)?;
        encoder.values.take_text(key, 0)?;
        encoder.sink.text(At { node, part: Part::Key }, key, 0, None)?;
        write(encoder, node, value, nesting).map_err(|error| error.under(key))?;
    }
    Ok(())
}

fn read<S: Source>(decoder: &mut Decoder<'_, S>, node: u32, nesting: Nesting) -> Result<Value, Error> {
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
            n => integer(n),
        },
        FLOAT => match Value::F64(float::read(node, decoder.source)?) {
            whole if whole.as_integer().is_some() => {
                return Err(Error::new(Kind::Malformed, offset, "a whole number as a float"));
            }
            value => value,
        },
        TEXT => {
            let text = decoder.source.text(part(Part::Value), 0, None)?;
            decoder.values.take_text(&text, offset)?;
            taken(decoder.memory, text, offset)?
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
                items.push(read(decoder, node, nesting).map_err(|error| error.at_index(i as usize))?);
            }
            Value::Array(items)
        }
        _ => Value::Map(read_map(decoder, node, nesting.inside(offset)?)?),
    })
}

fn read_map<S: Source>(
    decoder: &mut Decoder<'_, S>,
    node: u32,
    nesting: Nesting,
) -> Result<Vec<(String, Value)>, Error> {
    decoder.memory.container(decoder.source.offset())?;
    let count = decoder.source.sized(At { node, part: Part::Count })?;
    let (mut entries, mut keys) = (Vec::new(), HashSet::new());
    for _ in 0..count {
        decoder.count_value()?;
        let key = decoder.key(node, &mut keys)?;
        decoder.memory.value(decoder.source.offset())?;
        let value = read(decoder, node, nesting).map_err(|error| error.under(&key))?;
        entries.push((key, value));
    }
    Ok(entries)
}
