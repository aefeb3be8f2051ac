//! Reads and writes a [`Value`] as the items of a message.

use crate::{
    Budget, DUPLICATE_KEY, Error, Item, Kind, Reader, Sink, Value, Writer,
    keys::Keys,
    number::{OUT_OF_RANGE, negative},
};
use alloc::{string::String, vec::Vec};

impl Value {
    /// Reads the next item with everything in it.
    ///
    /// # Errors
    /// Those of every item; also `malformed` for a duplicate key in a map, and `range` for an integer below -2^63.
    pub fn read(reader: &mut Reader<'_>) -> Result<Value, Error> {
        Value::read_within(reader, &Budget::default())
    }

    /// Does the same as [`Value::read`], but takes memory from `budget`.
    ///
    /// # Errors
    /// Those of [`Value::read`], and `limit` at the item for which the budget has no memory left.
    pub fn read_within(reader: &mut Reader<'_>, budget: &Budget) -> Result<Value, Error> {
        let at = reader.offset();
        let item = reader.item()?;
        budget.value(at)?;
        Ok(match item {
            Item::Unsigned(n) => Value::U64(n),
            Item::Negative(n) => match negative(n) {
                Some(n) => Value::I64(n),
                None => return Err(Error::new(Kind::Range, at, OUT_OF_RANGE)),
            },
            Item::Float(f) => Value::from(f),
            Item::Bool(b) => Value::Bool(b),
            Item::Null => Value::Null,
            Item::Text(text) => {
                budget.content(text.len(), at)?;
                Value::Text(text.into())
            }
            Item::Bytes(bytes) => {
                budget.content(bytes.len(), at)?;
                Value::Bytes(bytes.into())
            }
            Item::Array(_) => {
                budget.container(at)?;
                Value::Array(read_array(reader, budget)?)
            }
            Item::Map(_) => {
                budget.container(at)?;
                Value::Map(read_map(reader, budget)?)
            }
        })
    }

    /// Writes this value with everything in it as the next item. A duplicate key in a map is an error of kind `type`, which the
    /// writer reports.
    pub fn write<S: Sink>(&self, writer: &mut Writer<S>) {
        match self {
            Value::Null => writer.null(),
            Value::Bool(b) => writer.bool(*b),
            Value::U64(n) => writer.u64(*n),
            Value::I64(n) => writer.i64(*n),
            Value::F64(f) => writer.f64(*f),
            Value::Text(text) => writer.text(text),
            Value::Bytes(bytes) => writer.bytes(bytes),
            Value::Array(elements) => write_elements(elements, writer),
            Value::Map(entries) => write_entries(entries, writer),
        };
    }
}

fn write_elements<'w, S: Sink>(elements: &[Value], writer: &'w mut Writer<S>) -> &'w mut Writer<S> {
    // After an error the writer ignores the elements too. Stopping here also ends the recursion into a value nested too deeply.
    if writer.array(elements.len()).is_whole() {
        elements.iter().for_each(|element| element.write(writer));
    }
    writer
}

fn write_entries<'w, S: Sink>(entries: &[(String, Value)], writer: &'w mut Writer<S>) -> &'w mut Writer<S> {
    if writer.map(entries.len()).is_whole() {
        let mut keys = Keys::new();
        for (key, value) in entries {
            if keys.add(key, writer.len()).is_err() {
                writer.fail(Kind::Type, DUPLICATE_KEY);
            }
            writer.key(key);
            value.write(writer);
        }
    }
    writer
}

fn read_array(reader: &mut Reader<'_>, budget: &Budget) -> Result<Vec<Value>, Error> {
    let mut elements = Vec::new();
    while reader.more() {
        elements.push(Value::read_within(reader, budget)?);
    }
    reader.leave()?;
    Ok(elements)
}

fn read_map(reader: &mut Reader<'_>, budget: &Budget) -> Result<Vec<(String, Value)>, Error> {
    let mut entries = Vec::new();
    let mut keys = Keys::new();
    while reader.more() {
        let at = reader.offset();
        let key = reader.key()?;
        keys.add(key, at)?;
        budget.content(key.len(), at)?;
        entries.push((String::from(key), Value::read_within(reader, budget)?));
    }
    reader.leave()?;
    Ok(entries)
}
