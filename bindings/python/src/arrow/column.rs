//! Columns that are being filled.

use super::{kind::Kind, time::Time};
use arrow_array::{
    ArrayRef, ListArray, StructArray,
    builder::{BooleanBuilder, Float64Builder, Int64Builder, StringBuilder, UInt64Builder},
};
use arrow_buffer::{NullBufferBuilder, OffsetBuffer};
use arrow_schema::{DataType, Field, Fields};
use dunnage_formats::{Error, Format, Json};
use dunnage_pson::{Kind as ErrorKind, Value};
use std::sync::Arc;

/// Up to this magnitude, every whole number is a binary64.
const EXACT: u64 = 1 << 53;

/// A column that is being filled.
pub enum Column {
    Bool(BooleanBuilder),
    I64(Int64Builder),
    U64(UInt64Builder),
    F64(Float64Builder),
    Text(StringBuilder),
    Time(Int64Builder, Box<Time>),
    Json(StringBuilder, Vec<u8>),
    List { items: Box<Column>, offsets: Vec<i32>, length: i32, valid: NullBufferBuilder, field: Arc<Field> },
    Struct(Box<Columns>),
}

/// The columns of an object.
pub struct Columns {
    names: Vec<String>,
    columns: Vec<Column>,
    additional: Option<(StringBuilder, Vec<u8>)>,
    valid: NullBufferBuilder,
    length: usize,
    fields: Fields,
}

impl Column {
    /// Creates the column of a type, with room for `rows`.
    pub fn new(kind: &Kind, rows: usize) -> Column {
        match kind {
            Kind::Bool => Column::Bool(BooleanBuilder::with_capacity(rows)),
            Kind::I64 => Column::I64(Int64Builder::with_capacity(rows)),
            Kind::U64 => Column::U64(UInt64Builder::with_capacity(rows)),
            Kind::F64 => Column::F64(Float64Builder::with_capacity(rows)),
            Kind::Text => Column::Text(StringBuilder::with_capacity(rows, rows * 8)),
            Kind::Time(time) => Column::Time(Int64Builder::with_capacity(rows), time.clone()),
            Kind::Json => Column::Json(StringBuilder::new(), Vec::new()),
            Kind::List(item) => Column::List {
                items: Box::new(Column::new(item, rows)),
                offsets: vec![0],
                length: 0,
                valid: NullBufferBuilder::new(rows),
                field: Arc::new(Field::new("item", item.data_type(), true)),
            },
            Kind::Struct(fields, additional) => {
                Column::Struct(Box::new(Columns::new(kind, fields, *additional, rows)))
            }
        }
    }

    /// Appends a value, or null where there is none. A value at fault becomes a null, so that all columns keep one length. After an error of kind
    /// [`ErrorKind::Limit`], the column is unusable.
    pub fn push(&mut self, value: Option<&Value>) -> Result<(), Error> {
        match (&mut *self, value) {
            (Column::List { items, offsets, length, valid, .. }, Some(Value::Array(elements))) => {
                let pushed = all(elements.iter().map(|element| items.push(Some(element))));
                *length = i32::try_from(elements.len())
                    .ok()
                    .and_then(|n| length.checked_add(n))
                    .ok_or_else(|| Error::new(ErrorKind::Limit, 0, "too many elements for a column"))?;
                offsets.push(*length);
                valid.append_non_null();
                pushed
            }
            (Column::Struct(columns), Some(Value::Map(entries))) => columns.push(entries),
            (column, None | Some(Value::Null)) => {
                column.push_null();
                Ok(())
            }
            (column, Some(value)) => {
                let pushed = column.push_leaf(value);
                if pushed.is_err() {
                    column.push_null();
                }
                pushed
            }
        }
    }

    /// Appends a value that is neither a list nor a struct. After an error, nothing is appended.
    fn push_leaf(&mut self, value: &Value) -> Result<(), Error> {
        match (self, value) {
            (Column::Bool(column), Value::Bool(b)) => column.append_value(*b),
            (Column::I64(column), Value::I64(n)) => column.append_value(*n),
            (Column::I64(column), Value::U64(n)) => {
                column.append_value(i64::try_from(*n).map_err(|_| unfit())?);
            }
            (Column::U64(column), Value::U64(n)) => column.append_value(*n),
            (Column::F64(column), Value::F64(f)) => column.append_value(*f),
            (Column::F64(column), Value::U64(n)) if *n <= EXACT => column.append_value(*n as f64),
            (Column::F64(column), Value::I64(n)) if n.unsigned_abs() <= EXACT => {
                column.append_value(*n as f64);
            }
            (Column::Text(column), Value::Text(text)) => column.append_value(text),
            (Column::Time(column, time), Value::Text(text)) => {
                column.append_value(time.parse(text).ok_or_else(unfit)?);
            }
            (Column::Json(column, text), value) => json(column, text, value)?,
            _ => return Err(unfit()),
        }
        Ok(())
    }

    fn push_null(&mut self) {
        match self {
            Column::Bool(column) => column.append_null(),
            Column::I64(column) | Column::Time(column, _) => column.append_null(),
            Column::U64(column) => column.append_null(),
            Column::F64(column) => column.append_null(),
            Column::Text(column) | Column::Json(column, _) => column.append_null(),
            Column::List { offsets, length, valid, .. } => {
                offsets.push(*length);
                valid.append_null();
            }
            Column::Struct(columns) => columns.push_null(),
        }
    }

    fn finish(self) -> ArrayRef {
        match self {
            Column::Bool(mut column) => Arc::new(column.finish()),
            Column::I64(mut column) => Arc::new(column.finish()),
            Column::U64(mut column) => Arc::new(column.finish()),
            Column::F64(mut column) => Arc::new(column.finish()),
            Column::Text(mut column) | Column::Json(mut column, _) => Arc::new(column.finish()),
            Column::Time(mut column, time) => time.finish(&column.finish()),
            Column::List { items, offsets, mut valid, field, .. } => {
                let offsets = OffsetBuffer::new(offsets.into());
                Arc::new(ListArray::new(field, offsets, items.finish(), valid.finish()))
            }
            Column::Struct(columns) => Arc::new(columns.finish()),
        }
    }
}

impl Columns {
    /// Creates the columns of messages of `kind`, which must be a struct.
    pub fn of_messages(kind: &Kind, rows: usize) -> Columns {
        match kind {
            Kind::Struct(fields, additional) => Columns::new(kind, fields, *additional, rows),
            other => Columns::new(other, &[], false, rows),
        }
    }

    fn new(kind: &Kind, fields: &[(String, Kind)], additional: bool, rows: usize) -> Columns {
        Columns {
            names: fields.iter().map(|(name, _)| name.clone()).collect(),
            columns: fields.iter().map(|(_, kind)| Column::new(kind, rows)).collect(),
            additional: additional.then(|| (StringBuilder::new(), Vec::new())),
            valid: NullBufferBuilder::new(rows),
            length: 0,
            fields: match kind.data_type() {
                DataType::Struct(fields) => fields,
                _ => Fields::empty(),
            },
        }
    }

    /// Appends a message.
    pub fn push_message(&mut self, message: &Value) -> Result<(), Error> {
        match message {
            Value::Map(entries) => self.push(entries),
            // The message is the only column.
            other => {
                self.valid.append_non_null();
                self.length += 1;
                all(self.columns.iter_mut().map(|column| column.push(Some(other))))
            }
        }
    }

    fn push(&mut self, entries: &[(String, Value)]) -> Result<(), Error> {
        self.valid.append_non_null();
        self.length += 1;
        let (mut next, mut found, mut pushed) = (0, 0, Ok(()));
        for (name, column) in self.names.iter().zip(&mut self.columns) {
            // Plain messages have their entries in the order of the layout.
            let at = match entries.get(next) {
                Some((key, _)) if key == name => Some(next),
                _ => entries.iter().position(|(key, _)| key == name),
            };
            next = at.map_or(next, |at| at + 1);
            found += usize::from(at.is_some());
            pushed = pushed.and(column.push(at.map(|at| &entries[at].1)));
        }
        match &mut self.additional {
            Some((column, text)) if found < entries.len() => {
                let others = entries.iter().filter(|(key, _)| !self.names.contains(key)).cloned();
                json(column, text, &Value::Map(others.collect()))?;
            }
            Some((column, _)) => column.append_null(),
            None => {}
        }
        pushed
    }

    /// Appends a row of nulls.
    pub fn push_null(&mut self) {
        self.valid.append_null();
        self.length += 1;
        self.columns.iter_mut().for_each(Column::push_null);
        if let Some((column, _)) = &mut self.additional {
            column.append_null();
        }
    }

    /// Ends the columns. The rows themselves are valid or not, too.
    pub fn finish(mut self) -> StructArray {
        let mut arrays: Vec<ArrayRef> = self.columns.into_iter().map(Column::finish).collect();
        if let Some((mut column, _)) = self.additional {
            arrays.push(Arc::new(column.finish()));
        }
        let valid = self.valid.finish();
        if arrays.is_empty() {
            return StructArray::new_empty_fields(self.length, valid);
        }
        StructArray::new(self.fields, arrays, valid)
    }
}

fn json(column: &mut StringBuilder, text: &mut Vec<u8>, value: &Value) -> Result<(), Error> {
    text.clear();
    Json.encode(value, text)?;
    column.append_value(String::from_utf8_lossy(text));
    Ok(())
}

/// Returns the first error of all results.
fn all(results: impl Iterator<Item = Result<(), Error>>) -> Result<(), Error> {
    results.fold(Ok(()), Result::and)
}

/// Returns the error for a value that the type of its column does not hold: an integer or a decimal without bounds that is too large, or a time
/// too far away.
#[cold]
fn unfit() -> Error {
    Error::new(ErrorKind::Range, 0, "a value that its column does not hold; decode() returns it")
}
