//! FlatBuffers with a schema, without generated code: the official library's builder writes the tables, and planus's reader, which checks every
//! offset, reads them. Generated code calls the same functions with constants.

use super::{failed, records::RecordCodec, unfit};
use ::flatbuffers::{FlatBufferBuilder, Push, VOffsetT, WIPOffset};
use dunnage_codegen::{Field, FieldType, List, Record};
use dunnage_formats::{Error, Value};
use planus::{SliceWithStartOffset, TableRead, errors::ErrorKind, table_reader::Table};

pub(super) const NOTE: &str = "the record of the schema as a table, whose scalars are as wide as their ranges need; \
    read by planus";

/// FlatBuffers with a schema.
pub struct Flatbuffers;

impl RecordCodec for Flatbuffers {
    fn write(&self, record: &Record, tree: &Value, out: &mut Vec<u8>) -> Result<(), Error> {
        let mut builder = FlatBufferBuilder::new();
        let root = table(&mut builder, record, tree)?;
        builder.finish_minimal(root);
        out.extend_from_slice(builder.finished_data());
        Ok(())
    }

    fn read(&self, record: &Record, bytes: &[u8]) -> Result<Value, Error> {
        read_table(record, &root(bytes)?)
    }
}

/// The offset of a finished string, vector or table.
type Offset = WIPOffset<()>;

/// A field of a table that is about to be written.
#[derive(Clone, Copy)]
enum Part {
    Bool(bool),
    /// An integer and its bytes, 1, 2, 4 or 8.
    Integer(i128, usize),
    Float32(f32),
    Float64(f64),
    Offset(Offset),
}

impl Part {
    fn bytes(self) -> usize {
        match self {
            Part::Bool(_) => 1,
            Part::Integer(_, bytes) => bytes,
            Part::Float32(_) | Part::Offset(_) => 4,
            Part::Float64(_) => 8,
        }
    }

    fn push(self, builder: &mut FlatBufferBuilder<'_>, slot: VOffsetT, optional: bool) {
        match self {
            Part::Bool(b) => push(builder, slot, b, optional),
            // Two's complement: signed and unsigned integers have the same bits.
            Part::Integer(n, 1) => push(builder, slot, n as u8, optional),
            Part::Integer(n, 2) => push(builder, slot, n as u16, optional),
            Part::Integer(n, 4) => push(builder, slot, n as u32, optional),
            Part::Integer(n, _) => push(builder, slot, n as u64, optional),
            Part::Float32(f) => push(builder, slot, f, optional),
            Part::Float64(f) => push(builder, slot, f, optional),
            Part::Offset(offset) => builder.push_slot_always(slot, offset),
        }
    }
}

/// Writes a scalar. One with its default value, 0, is left out unless it is optional.
fn push<T: Push + PartialEq + Default>(
    builder: &mut FlatBufferBuilder<'_>,
    slot: VOffsetT,
    scalar: T,
    optional: bool,
) {
    match optional {
        true => builder.push_slot_always(slot, scalar),
        false => builder.push_slot(slot, scalar, T::default()),
    }
}

fn table(builder: &mut FlatBufferBuilder<'_>, record: &Record, tree: &Value) -> Result<Offset, Error> {
    let Value::Array(values) = tree else { return Err(unfit("a record")) };
    let mut parts = Vec::with_capacity(values.len());
    for (at, (field, value)) in record.fields.iter().zip(values).enumerate() {
        if !(field.optional && matches!(value, Value::Null)) {
            parts.push((at, field, part(builder, &field.kind, value)?));
        }
    }
    // The largest first, as in generated code, so that there is little padding.
    parts.sort_by_key(|(_, _, part)| std::cmp::Reverse(part.bytes()));
    let table = builder.start_table();
    for (at, field, part) in parts {
        let slot = VOffsetT::try_from(4 + 2 * at).map_err(failed)?;
        part.push(builder, slot, field.optional);
    }
    Ok(WIPOffset::new(builder.end_table(table).value()))
}

fn part(builder: &mut FlatBufferBuilder<'_>, kind: &FieldType, value: &Value) -> Result<Part, Error> {
    let integer = || value.as_integer().ok_or_else(|| unfit("an integer"));
    Ok(match (kind, value) {
        (FieldType::Bool, Value::Bool(b)) => Part::Bool(*b),
        (FieldType::Integer(range), _) => Part::Integer(integer()?, range.bytes()),
        (FieldType::Enum(names), _) => Part::Integer(integer()?, enum_bytes(names.symbols.len())),
        (FieldType::Float32, Value::F64(f)) => Part::Float32(*f as f32),
        (FieldType::Float64, Value::F64(f)) => Part::Float64(*f),
        (FieldType::Text, Value::Text(text)) => {
            Part::Offset(WIPOffset::new(builder.create_string(text).value()))
        }
        (FieldType::Bytes, Value::Bytes(bytes)) => {
            Part::Offset(WIPOffset::new(builder.create_vector(bytes).value()))
        }
        (FieldType::List(list), Value::Array(items)) => Part::Offset(vector(builder, list, items)?),
        (FieldType::Record(record), value) => Part::Offset(table(builder, record, value)?),
        _ => return Err(unfit("what the definition has here")),
    })
}

fn vector(builder: &mut FlatBufferBuilder<'_>, list: &List, items: &[Value]) -> Result<Offset, Error> {
    let parts: Vec<Part> =
        items.iter().map(|item| part(builder, &list.item, item)).collect::<Result<_, _>>()?;
    macro_rules! vector {
        ($of:expr) => {
            builder.create_vector(&parts.iter().map($of).collect::<Result<Vec<_>, _>>()?).value()
        };
    }
    let integer = |part: &Part| match part {
        Part::Integer(n, _) => Ok(*n),
        _ => Err(unfit("an integer")),
    };
    let at = match parts.first() {
        None => builder.create_vector::<u8>(&[]).value(),
        Some(Part::Bool(_)) => vector!(|part: &Part| Ok::<_, Error>(matches!(part, Part::Bool(true)))),
        Some(Part::Integer(_, 1)) => vector!(|part: &Part| integer(part).map(|n| n as u8)),
        Some(Part::Integer(_, 2)) => vector!(|part: &Part| integer(part).map(|n| n as u16)),
        Some(Part::Integer(_, 4)) => vector!(|part: &Part| integer(part).map(|n| n as u32)),
        Some(Part::Integer(..)) => vector!(|part: &Part| integer(part).map(|n| n as u64)),
        Some(Part::Float32(_)) => vector!(|part: &Part| match part {
            Part::Float32(f) => Ok(*f),
            _ => Err(unfit("a float")),
        }),
        Some(Part::Float64(_)) => vector!(|part: &Part| match part {
            Part::Float64(f) => Ok(*f),
            _ => Err(unfit("a float")),
        }),
        Some(Part::Offset(_)) => vector!(|part: &Part| match part {
            Part::Offset(offset) => Ok(*offset),
            _ => Err(unfit("an offset")),
        }),
    };
    Ok(WIPOffset::new(at))
}

fn enum_bytes(symbols: usize) -> usize {
    if symbols <= 256 { 1 } else { 2 }
}

/// Returns the table of the message.
///
/// # Errors
/// Its offsets are outside of the bytes.
pub fn root(bytes: &[u8]) -> Result<Table<'_>, Error> {
    Table::from_buffer(SliceWithStartOffset { buffer: bytes, offset_from_start: 0 }, 0).map_err(failed)
}

/// The place of a field or of a vector's element.
#[derive(Clone, Copy)]
pub struct Slot<'a> {
    buffer: SliceWithStartOffset<'a>,
    offset: usize,
}

impl<'a> TableRead<'a> for Slot<'a> {
    fn from_buffer(buffer: SliceWithStartOffset<'a>, offset: usize) -> Result<Self, ErrorKind> {
        Ok(Slot { buffer, offset })
    }
}

/// Returns the place of the field at this index, if the table has it.
///
/// # Errors
/// Its offset is outside of the bytes.
pub fn slot<'a>(table: &Table<'a>, at: usize) -> Result<Option<Slot<'a>>, Error> {
    table.access(at, "", "").map_err(failed)
}

impl<'a> Slot<'a> {
    /// Reads it as `T`.
    ///
    /// # Errors
    /// Its bytes are no `T`.
    pub fn read<T: TableRead<'a>>(self) -> Result<T, Error> {
        T::from_buffer(self.buffer, self.offset).map_err(failed)
    }

    /// Reads it as a table.
    ///
    /// # Errors
    /// Its offsets are outside of the bytes.
    pub fn table(self) -> Result<Table<'a>, Error> {
        Table::from_buffer(self.buffer, self.offset).map_err(failed)
    }

    /// Returns the length of a vector, and the place of its elements, each of `stride` bytes.
    ///
    /// # Errors
    /// Its offset is outside of the bytes.
    pub fn elements(self, stride: usize) -> Result<(usize, impl Fn(usize) -> Slot<'a>), Error> {
        let at = self.offset + self.read::<u32>()? as usize;
        let buffer = self.buffer.advance(at).map_err(failed)?;
        let length = Slot { buffer, offset: 0 }.read::<u32>()? as usize;
        Ok((length, move |index| Slot { buffer, offset: 4 + stride * index }))
    }

    /// Reads it as an integer of the field's width.
    ///
    /// # Errors
    /// It is outside of the bytes.
    pub fn integer(self, bytes: usize, signed: bool) -> Result<Value, Error> {
        Ok(match (bytes, signed) {
            (1, false) => Value::U64(self.read::<u8>()?.into()),
            (2, false) => Value::U64(self.read::<u16>()?.into()),
            (4, false) => Value::U64(self.read::<u32>()?.into()),
            (_, false) => Value::U64(self.read()?),
            (1, true) => Value::from(i64::from(self.read::<i8>()?)),
            (2, true) => Value::from(i64::from(self.read::<i16>()?)),
            (4, true) => Value::from(i64::from(self.read::<i32>()?)),
            (_, true) => Value::from(self.read::<i64>()?),
        })
    }
}

fn read_table(record: &Record, table: &Table<'_>) -> Result<Value, Error> {
    let value = |(at, field): (usize, &Field)| match slot(table, at)? {
        Some(slot) => read_value(&field.kind, slot),
        None if field.optional => Ok(Value::Null),
        None => default(&field.kind),
    };
    record.fields.iter().enumerate().map(value).collect::<Result<_, _>>().map(Value::Array)
}

/// Returns the value of a scalar that the table leaves out.
fn default(kind: &FieldType) -> Result<Value, Error> {
    match kind {
        FieldType::Bool => Ok(Value::Bool(false)),
        FieldType::Integer(_) | FieldType::Enum(_) => Ok(Value::U64(0)),
        FieldType::Float32 | FieldType::Float64 => Ok(Value::F64(0.0)),
        _ => Err(unfit("a table with all required fields")),
    }
}

fn read_value(kind: &FieldType, slot: Slot<'_>) -> Result<Value, Error> {
    Ok(match kind {
        FieldType::Bool => Value::Bool(slot.read()?),
        FieldType::Integer(range) => slot.integer(range.bytes(), range.signed())?,
        FieldType::Enum(names) => slot.integer(enum_bytes(names.symbols.len()), false)?,
        FieldType::Float32 => Value::F64(slot.read::<f32>()?.into()),
        FieldType::Float64 => Value::F64(slot.read()?),
        FieldType::Text => Value::from(slot.read::<&str>()?),
        FieldType::Bytes => Value::Bytes(slot.read::<&[u8]>()?.to_vec()),
        FieldType::List(list) => {
            let (length, element) = slot.elements(stride(&list.item))?;
            let items = (0..length).map(|at| read_value(&list.item, element(at)));
            Value::Array(items.collect::<Result<_, _>>()?)
        }
        FieldType::Record(record) => read_table(record, &slot.table()?)?,
    })
}

/// Returns the bytes of a vector's element.
pub fn stride(kind: &FieldType) -> usize {
    match kind {
        FieldType::Bool => 1,
        FieldType::Integer(range) => range.bytes(),
        FieldType::Enum(names) => enum_bytes(names.symbols.len()),
        FieldType::Float64 => 8,
        _ => 4,
    }
}
