//! Turns bytes into the tree of values, in one pass.
//!
//! prost-reflect would first build a `DynamicMessage`, which costs a gateway more than everything else that it does with a message, and
//! would not report the offset of an error. The tests compare this reader with prost-reflect.

use super::shape::{FieldShape, Form, MessageShape, Scalar, Shapes};
use super::wire::Input;
use crate::{Budget, Error, Kind, Value, limits};
use prost_reflect::Kind as WireKind;
use prost_reflect::prost::encoding::WireType;

pub(super) fn read(shapes: &Shapes, bytes: &[u8], budget: &Budget) -> Result<Value, Error> {
    let mut reader = Reader { shapes, input: Input::new(bytes), budget };
    budget.value(0)?;
    let mut values = reader.initial(shapes.root(), 0)?;
    reader.message(shapes.root(), &mut values, Extent { end: bytes.len(), group: None }, 1)?;
    let mut tree = Value::Array(values);
    if shapes.has_maps() {
        sort_maps(shapes, shapes.root(), &mut tree);
    }
    Ok(tree)
}

struct Reader<'a> {
    shapes: &'a Shapes,
    input: Input<'a>,
    budget: &'a Budget,
}

impl Reader<'_> {
    /// Returns the values of a message of zero bytes. The field that holds the message starts at `start`.
    fn initial(&self, shape: &MessageShape, start: usize) -> Result<Vec<Value>, Error> {
        self.budget.container(start)?;
        let default = |field: &FieldShape| match field.kind {
            Scalar::Message(index) if field.form == Form::One && !field.optional => {
                self.budget.value(start)?;
                Ok(Value::Array(self.initial(self.shapes.message(index), start)?))
            }
            _ => {
                self.budget.copy_of(&field.initial, start)?;
                Ok(field.initial.clone())
            }
        };
        shape.fields.iter().map(default).collect()
    }

    /// Reads fields into `values`. A repeated occurrence of a field replaces the earlier one or adds to it.
    fn message(
        &mut self,
        shape: &MessageShape,
        values: &mut [Value],
        Extent { end, group }: Extent,
        depth: usize,
    ) -> Result<(), Error> {
        let mut next = 0;
        while group.is_some() || self.input.at < end {
            let start = self.input.at;
            let (number, wire_type) = self.input.tag(end)?;
            if wire_type == WireType::EndGroup && group == Some(number) {
                return Ok(());
            }
            // A field whose wire type differs from the definition's is treated as unknown, as Protobuf's own libraries do: the sender may
            // have another version of the definition.
            let known = shape.find(number, next).filter(|at| takes(&shape.fields[*at], wire_type));
            let Some(at) = known else {
                self.input.pass(number, wire_type, end, depth)?;
                continue;
            };
            next = at + 1;
            let field = &shape.fields[at];
            for &other in &field.rivals {
                values[other] = Value::Null;
            }
            self.field(field, &mut values[at], wire_type, (start, end), depth)?;
        }
        Ok(())
    }

    fn field(
        &mut self,
        field: &FieldShape,
        value: &mut Value,
        wire_type: WireType,
        (start, end): (usize, usize),
        depth: usize,
    ) -> Result<(), Error> {
        if wire_type != field.wire_type {
            // Numbers of a list that are packed.
            let end = self.input.length(end)?;
            while self.input.at < end {
                self.budget.value(self.input.at)?;
                let item = self.scalar(field, self.input.at, end)?;
                push(value, item, start)?;
            }
            return Ok(());
        }
        match (field.form, value) {
            (Form::One, value) => match field.kind {
                Scalar::Message(_) => self.inner(field, value, (start, end), depth)?,
                _ => *value = self.scalar(field, start, end)?,
            },
            (Form::List, list) => {
                self.budget.value(start)?;
                push(list, self.element(field, (start, end), depth)?, start)?;
            }
            (Form::Map, Value::Map(entries)) => {
                self.budget.value(start)?;
                entries.push(entry(self.element(field, (start, end), depth)?, start)?);
            }
            _ => return Err(misplaced(start)),
        }
        Ok(())
    }

    fn element(
        &mut self,
        field: &FieldShape,
        (start, end): (usize, usize),
        depth: usize,
    ) -> Result<Value, Error> {
        let Scalar::Message(index) = field.kind else { return self.scalar(field, start, end) };
        let mut value = Value::Null;
        self.inner(field, &mut value, (start, end), depth)?;
        if field.form == Form::Map {
            self.complete_entry(index, &mut value, start)?;
        }
        Ok(value)
    }

    /// Reads a nested message. `value` is `Null`, or holds what an earlier occurrence of the field contained.
    fn inner(
        &mut self,
        field: &FieldShape,
        value: &mut Value,
        (start, end): (usize, usize),
        depth: usize,
    ) -> Result<(), Error> {
        let Scalar::Message(index) = field.kind else { return Err(misplaced(start)) };
        let depth = limits::deeper(depth, start)?;
        let shape = self.shapes.message(index);
        if *value == Value::Null {
            *value = Value::Array(self.initial(shape, start)?);
        }
        let Value::Array(values) = value else { return Err(misplaced(start)) };
        let extent = match field.wire_type {
            WireType::StartGroup => Extent { end, group: Some(field.number) },
            _ => Extent { end: self.input.length(end)?, group: None },
        };
        self.message(shape, values, extent, depth)
    }

    /// Completes an entry of a map with defaults: it always has a key and a value, even if they are not on the wire.
    fn complete_entry(&self, index: usize, entry: &mut Value, start: usize) -> Result<(), Error> {
        let Value::Array(parts) = entry else { return Ok(()) };
        for (part, field) in parts.iter_mut().zip(&self.shapes.message(index).fields) {
            if let (Value::Null, Scalar::Message(inner)) = (&*part, &field.kind) {
                *part = Value::Array(self.initial(self.shapes.message(*inner), start)?);
            }
        }
        Ok(())
    }

    fn scalar(&mut self, field: &FieldShape, start: usize, end: usize) -> Result<Value, Error> {
        let input = &mut self.input;
        Ok(match &field.wire_kind {
            WireKind::Bool => Value::Bool(input.varint(end)? != 0),
            WireKind::Int32 => Value::from(i64::from(input.varint(end)? as i32)),
            WireKind::Int64 => Value::from(input.varint(end)? as i64),
            WireKind::Uint32 => Value::U64(u64::from(input.varint(end)? as u32)),
            WireKind::Uint64 => Value::U64(input.varint(end)?),
            WireKind::Sint32 => Value::from(unzigzag(u64::from(input.varint(end)? as u32))),
            WireKind::Sint64 => Value::from(unzigzag(input.varint(end)?)),
            WireKind::Fixed32 => Value::U64(u64::from(u32::from_le_bytes(input.array(end)?))),
            WireKind::Fixed64 => Value::U64(u64::from_le_bytes(input.array(end)?)),
            WireKind::Sfixed32 => Value::from(i64::from(i32::from_le_bytes(input.array(end)?))),
            WireKind::Sfixed64 => Value::from(i64::from_le_bytes(input.array(end)?)),
            WireKind::Float => Value::F64(f64::from(f32::from_le_bytes(input.array(end)?))),
            WireKind::Double => Value::F64(f64::from_le_bytes(input.array(end)?)),
            WireKind::String => {
                let text = input.text(end)?;
                self.budget.content(text.len(), start)?;
                Value::Text(text.to_owned())
            }
            WireKind::Bytes => {
                let bytes = input.bytes(end)?;
                self.budget.content(bytes.len(), start)?;
                Value::Bytes(bytes.to_owned())
            }
            WireKind::Enum(_) => {
                let number = input.varint(end)? as i32;
                let Scalar::Enum(values) = &field.kind else { return Err(misplaced(start)) };
                let index = values.iter().position(|(n, _)| *n == number);
                if index.is_none() && self.shapes.any_number {
                    return Ok(Value::F64(f64::from(number)));
                }
                let unknown = || Error::new(Kind::Range, start, format!("no value is numbered {number}"));
                Value::U64(index.ok_or_else(unknown)? as u64)
            }
            WireKind::Message(_) => return Err(misplaced(start)),
        })
    }
}

/// Where a message ends: at an offset, or before that at the tag that ends the group with this number.
#[derive(Clone, Copy)]
struct Extent {
    end: usize,
    group: Option<u32>,
}

/// Returns whether the field can be read with that wire type. A reader accepts lists of numbers both packed and unpacked, whichever the
/// definition declares.
fn takes(field: &FieldShape, wire_type: WireType) -> bool {
    let is_number = !matches!(field.kind, Scalar::Message(_) | Scalar::String | Scalar::Bytes);
    let packed = field.form == Form::List && is_number && wire_type == WireType::LengthDelimited;
    wire_type == field.wire_type || packed
}

/// Appends to a list. An optional list that is empty is `Null`.
fn push(list: &mut Value, item: Value, start: usize) -> Result<(), Error> {
    match list {
        Value::Null => *list = Value::Array(vec![item]),
        Value::Array(items) => items.push(item),
        _ => return Err(misplaced(start)),
    }
    Ok(())
}

fn unzigzag(n: u64) -> i64 {
    (n >> 1) as i64 ^ -((n & 1) as i64)
}

fn entry(value: Value, start: usize) -> Result<(String, Value), Error> {
    let Value::Array(parts) = value else { return Err(misplaced(start)) };
    let [key, value] = <[Value; 2]>::try_from(parts).map_err(|_| misplaced(start))?;
    let key = match key {
        Value::Text(text) => text,
        Value::Bool(b) => b.to_string(),
        Value::U64(n) => n.to_string(),
        Value::I64(n) => n.to_string(),
        _ => return Err(misplaced(start)),
    };
    Ok((key, value))
}

/// Sorts the entries of maps, which have no order of their own. The last of several entries with the same key wins.
fn sort_maps(shapes: &Shapes, shape: &MessageShape, tree: &mut Value) {
    let Value::Array(values) = tree else { return };
    for (value, field) in values.iter_mut().zip(&shape.fields) {
        if let Value::Map(entries) = value {
            entries.sort_by(|a, b| a.0.cmp(&b.0));
            entries.dedup_by(|later, earlier| {
                let same = later.0 == earlier.0;
                if same {
                    std::mem::swap(later, earlier);
                }
                same
            });
        }
        let Scalar::Message(index) = field.kind else { continue };
        let inner = shapes.message(index);
        match value {
            Value::Map(entries) => {
                let Some(Scalar::Message(index)) = inner.fields.get(1).map(|field| &field.kind) else {
                    continue;
                };
                entries.iter_mut().for_each(|entry| sort_maps(shapes, shapes.message(*index), &mut entry.1));
            }
            Value::Array(items) if field.form == Form::List => {
                items.iter_mut().for_each(|item| sort_maps(shapes, inner, item));
            }
            value => sort_maps(shapes, inner, value),
        }
    }
}

/// Unreachable in practice, because the shape was made for this tree.
fn misplaced(offset: usize) -> Error {
    Error::new(Kind::Type, offset, "not what the definition has here")
}

#[cfg(test)]
mod tests;
