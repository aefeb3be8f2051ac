//! Converts lines to a Parquet table.
//!
//! A column that the schema declares is always present and has the declared type; values that do not fit the type are null. The type of any
//! other column follows from its values: integers become INT64, other numbers, and integers among them, DOUBLE, and RFC 3339 times
//! TIMESTAMP. Values become text if they have several types, or if a number or time would not be exact. Such a column is left out if it is
//! null in all messages.

mod types;

use super::{
    columns::{Columns, FIRST, cost},
    declared::{ColumnType, Declaration, Declared},
    ndjson::Line,
};
use crate::{
    Catalog,
    leaves::{Leaf, flatten},
};
use dunnage_base::clock;
use parquet::{
    basic::{Compression, LogicalType, Repetition, TimeUnit, Type as Physical},
    data_type::{BoolType, ByteArray, ByteArrayType, DataType, DoubleType, Int64Type},
    errors::ParquetError,
    file::{
        properties::WriterProperties,
        writer::{SerializedFileWriter, SerializedRowGroupWriter},
    },
    schema::types::Type,
};
use std::{
    collections::HashMap,
    io::{self, BufRead, Write},
    sync::Arc,
};
use types::{fits, kind_of, widened};

/// Largest number of rows in a row group, and about how many bytes of memory they take.
const GROUP_ROWS: usize = 1 << 16;
const GROUP_BYTES: usize = 16 << 20;

/// The columns and the extent of a table.
pub struct Table {
    pub rows: u64,
    /// Lines up to this ID are in other files.
    after: i64,
    pub first_id: i64,
    pub last_id: i64,
    /// Values that do not fit the declared types.
    pub misfits: u64,
    columns: Columns,
    kinds: Vec<ColumnType>,
}

/// The known types of the values at a pointer.
enum Known {
    /// The schema declares the type.
    Declared(ColumnType),
    /// The schema declares that they have parts.
    Structure,
    /// The type follows from the values. The flag tells whether all integers have an exact double.
    Seen(ColumnType, bool),
}

/// A row of a row group.
struct Record {
    fixed: [Option<String>; FIRST.len()],
    id: i64,
    received_at: i64,
    leaves: HashMap<String, Leaf>,
}

impl Table {
    /// Determines the table of those lines with IDs above `after`. They are of one schema. `lines` opens all of them, from the first one on.
    /// Returns `None` if there are no such lines.
    pub fn survey<L: BufRead>(
        lines: impl Fn() -> io::Result<L>,
        after: i64,
        catalog: &dyn Catalog,
    ) -> io::Result<Option<Table>> {
        let schema = schema_of(lines()?)?;
        let declared = Declared::new(schema.iter().flat_map(|schema| catalog.versions(schema)));
        let mut survey = Survey::new(&declared);
        let (mut rows, mut first_id, mut last_id) = (0, 0, 0);
        for_each(lines()?, after, |line, _| {
            rows += 1;
            if rows == 1 {
                first_id = line.id;
            }
            last_id = line.id;
            flatten(line.value)?.iter().for_each(|(pointer, leaf)| survey.add(pointer, leaf));
            Ok(())
        })?;
        let kinds = survey.columns.names().iter().map(|name| survey.known[name].kind()).collect();
        let Survey { columns, misfits, .. } = survey;
        Ok((rows > 0).then_some(Table { rows, after, first_id, last_id, misfits, columns, kinds }))
    }

    /// Writes those of `lines` that were surveyed as Parquet to `to`, and returns it.
    pub fn write<W: Write + Send>(&self, lines: impl BufRead, to: W) -> io::Result<W> {
        let properties = WriterProperties::builder().set_compression(Compression::SNAPPY).build();
        let mut writer = SerializedFileWriter::new(to, Arc::new(self.schema()?), Arc::new(properties))?;
        let (mut group, mut bytes) = (Vec::new(), 0);
        for_each(lines, self.after, |line, length| {
            let leaves = flatten(line.value)?;
            bytes += length + cost(&leaves);
            group.push(Record::of(line, leaves)?);
            if group.len() == GROUP_ROWS || bytes >= GROUP_BYTES {
                self.write_group(&mut writer, &group)?;
                group.clear();
                bytes = 0;
            }
            Ok(())
        })?;
        if !group.is_empty() {
            self.write_group(&mut writer, &group)?;
        }
        Ok(writer.into_inner()?)
    }

    fn schema(&self) -> Result<Type, ParquetError> {
        let text = Some(LogicalType::String);
        let micros = Some(LogicalType::timestamp(true, TimeUnit::MICROS));
        let mut fields = Vec::new();
        for name in FIRST {
            let (physical, logical) = match name {
                "id" => (Physical::INT64, None),
                "received_at" => (Physical::INT64, micros.clone()),
                _ => (Physical::BYTE_ARRAY, text.clone()),
            };
            let repetition = match name {
                "device_name" | "tags" | "schema" | "link" | "origin" => Repetition::OPTIONAL,
                _ => Repetition::REQUIRED,
            };
            fields.push(field(name, physical, logical, repetition)?);
        }
        for (pointer, kind) in self.columns.names().iter().zip(&self.kinds) {
            let (physical, logical) = match kind {
                ColumnType::Bool => (Physical::BOOLEAN, None),
                ColumnType::Integer => (Physical::INT64, None),
                ColumnType::Double => (Physical::DOUBLE, None),
                ColumnType::Time => (Physical::INT64, micros.clone()),
                ColumnType::Text => (Physical::BYTE_ARRAY, text.clone()),
            };
            let name = if pointer.is_empty() { "(all)" } else { pointer };
            fields.push(field(name, physical, logical, Repetition::OPTIONAL)?);
        }
        Type::group_type_builder("message").with_fields(fields).build()
    }

    fn write_group<W: Write + Send>(
        &self,
        writer: &mut SerializedFileWriter<W>,
        group: &[Record],
    ) -> io::Result<()> {
        let mut columns = writer.next_row_group()?;
        for (n, name) in FIRST.into_iter().enumerate() {
            match name {
                "id" => required::<Int64Type, W>(&mut columns, group.iter().map(|r| r.id))?,
                "received_at" => required::<Int64Type, W>(&mut columns, group.iter().map(|r| r.received_at))?,
                "device_name" | "tags" | "schema" | "link" | "origin" => optional::<ByteArrayType, W>(
                    &mut columns,
                    group.iter().map(|r| r.fixed[n].as_deref().map(ByteArray::from)),
                )?,
                _ => required::<ByteArrayType, W>(
                    &mut columns,
                    group.iter().map(|r| ByteArray::from(r.fixed[n].as_deref().unwrap_or_default())),
                )?,
            }
        }
        for (pointer, kind) in self.columns.names().iter().zip(&self.kinds) {
            let leaves = group.iter().map(|record| record.leaves.get(pointer));
            match kind {
                ColumnType::Bool => optional::<BoolType, W>(&mut columns, leaves.map(|leaf| leaf?.bool()))?,
                ColumnType::Integer => {
                    optional::<Int64Type, W>(&mut columns, leaves.map(|leaf| leaf?.whole()))?;
                }
                ColumnType::Double => {
                    optional::<DoubleType, W>(&mut columns, leaves.map(|leaf| leaf?.double()))?;
                }
                ColumnType::Time => optional::<Int64Type, W>(&mut columns, leaves.map(|leaf| leaf?.time()))?,
                ColumnType::Text => {
                    let texts = leaves.map(|leaf| leaf?.text().map(|text| ByteArray::from(&*text)));
                    optional::<ByteArrayType, W>(&mut columns, texts)?;
                }
            }
        }
        columns.close()?;
        Ok(())
    }
}

/// The columns of the messages so far.
struct Survey<'d, 'm> {
    declared: &'d Declared<'m>,
    columns: Columns,
    known: HashMap<String, Known>,
    misfits: u64,
}

impl<'d, 'm> Survey<'d, 'm> {
    fn new(declared: &'d Declared<'m>) -> Self {
        let mut survey = Survey { declared, columns: Columns::default(), known: HashMap::new(), misfits: 0 };
        for pointer in declared.pointers() {
            survey.columns.add(&pointer);
            survey.declare(&pointer);
        }
        survey
    }

    /// Looks up the schema's declaration at a pointer. Returns whether there is any.
    fn declare(&mut self, pointer: &str) -> bool {
        let known = match self.declared.at(pointer) {
            Declaration::Column(kind) => Known::Declared(kind),
            Declaration::Structure => Known::Structure,
            Declaration::Open => return false,
        };
        self.known.insert(pointer.to_owned(), known);
        true
    }

    fn add(&mut self, pointer: &str, leaf: &Leaf) {
        let Some((kind, exact)) = kind_of(leaf) else { return };
        if !self.known.contains_key(pointer) && !self.declare(pointer) {
            self.known.insert(pointer.to_owned(), Known::Seen(kind, exact));
        }
        match self.known.get_mut(pointer) {
            Some(Known::Declared(declared)) => self.misfits += u64::from(!fits(leaf, *declared)),
            Some(Known::Seen(known, all_exact)) => {
                *known = widened((*known, *all_exact), (kind, exact));
                *all_exact &= exact;
            }
            Some(Known::Structure) | None => {
                // An empty object or array has no parts, so it does fit.
                self.misfits += u64::from(!matches!(leaf, Leaf::Empty(_)));
                return;
            }
        }
        self.columns.add(pointer);
    }
}

impl Known {
    fn kind(&self) -> ColumnType {
        match self {
            Known::Declared(kind) | Known::Seen(kind, _) => *kind,
            Known::Structure => ColumnType::Text,
        }
    }
}

impl Record {
    fn of(line: Line<'_>, leaves: Vec<(String, Leaf)>) -> io::Result<Record> {
        let received_at = clock::micros(&line.received_at)
            .ok_or_else(|| io::Error::other(format!("{:?} is not a valid time", line.received_at)))?;
        let value = line.value.get().to_owned();
        let leaves = leaves.into_iter().collect();
        let fixed = [
            Some(line.name),
            None,
            Some(line.device),
            line.device_name,
            line.tags.and_then(|tags| serde_json::to_string(&tags).ok()),
            None,
            Some(line.format),
            line.schema,
            line.link,
            Some(line.request),
            line.origin.map(|origin| origin.get().to_owned()),
            Some(value),
        ];
        Ok(Record { fixed, id: line.id, received_at, leaves })
    }
}

fn field(
    name: &str,
    physical: Physical,
    logical: Option<LogicalType>,
    repetition: Repetition,
) -> Result<Arc<Type>, ParquetError> {
    let builder = Type::primitive_type_builder(name, physical).with_repetition(repetition);
    Ok(Arc::new(builder.with_logical_type(logical).build()?))
}

/// Writes the next column, without nulls.
fn required<T: DataType, W: Write + Send>(
    group: &mut SerializedRowGroupWriter<'_, W>,
    values: impl Iterator<Item = T::T>,
) -> io::Result<()> {
    let mut column = group.next_column()?.ok_or_else(|| io::Error::other("the file has too few columns"))?;
    column.typed::<T>().write_batch(&values.collect::<Vec<_>>(), None, None)?;
    Ok(column.close()?)
}

/// Writes the next column, with nulls.
fn optional<T: DataType, W: Write + Send>(
    group: &mut SerializedRowGroupWriter<'_, W>,
    values: impl Iterator<Item = Option<T::T>>,
) -> io::Result<()> {
    let values: Vec<_> = values.collect();
    let levels: Vec<i16> = values.iter().map(|value| i16::from(value.is_some())).collect();
    let values: Vec<_> = values.into_iter().flatten().collect();
    let mut column = group.next_column()?.ok_or_else(|| io::Error::other("the file has too few columns"))?;
    column.typed::<T>().write_batch(&values, Some(&levels), None)?;
    Ok(column.close()?)
}

/// Calls `read` with each line with an ID above `after`, and its length in bytes.
fn for_each(
    mut lines: impl BufRead,
    after: i64,
    mut read: impl FnMut(Line<'_>, usize) -> io::Result<()>,
) -> io::Result<()> {
    let mut line = String::new();
    while lines.read_line(&mut line)? > 0 {
        let parsed: Line<'_> = serde_json::from_str(&line)?;
        if parsed.id > after {
            read(parsed, line.len())?;
        }
        line.clear();
    }
    Ok(())
}

/// Returns the schema of the lines, which is the same for all.
fn schema_of(mut lines: impl BufRead) -> io::Result<Option<String>> {
    let mut line = String::new();
    lines.read_line(&mut line)?;
    let line: Line<'_> = serde_json::from_str(&line)?;
    Ok(line.schema)
}
