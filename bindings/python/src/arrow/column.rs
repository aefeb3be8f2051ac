//! Columns that are being filled.

use super::kind::Kind;
use arrow_array::{
    ArrayRef, ListArray, StructArray,
    builder::{BooleanBuilder, Float64Builder, Int64Builder, StringBuilder, UInt64Builder},
};
use arrow_buffer::{NullBufferBuilder, OffsetBuffer};
use arrow_schema::{DataType, Field, Fields};
use dunnage_formats::{Error, Format, Json};
use dunnage_pson::{Kind as ErrorKind, Value};
use std::sync::Arc;

/// A column that is being filled.
pub enum Column {
    Bool(BooleanBuilder),
    I64(Int64Builder),
    U64(UInt64Builder),
    F64(Float64Builder),
    Text(StringBuilder),
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

    /// Appends a value, or null where there is none.
    pub fn push(&mut self, value: Option<&Value>) -> Result<(), Error> {
        match (self, value) {
            (Column::Bool(column), Some(Value::Bool(b))) => column.append_value(*b),
            (Column::I64(column), Some(Value::I64(n))) => column.append_value(*n),
            (Column::I64(column), Some(Value::U64(n))) => {
                column.append_value(i64::try_from(*n).map_err(|_| unfit())?);
            }
            (Column::U64(column), Some(Value::U64(n))) => column.append_value(*n),
            (Column::F64(column), Some(Value::F64(f))) => column.append_value(*f),
            (Column::F64(column), Some(Value::U64(n))) => column.append_value(*n as f64),
            (Column::F64(column), Some(Value::I64(n))) => column.append_value(*n as f64),
            (Column::Text(column), Some(Value::Text(text))) => column.append_value(text),
            (Column::Json(column, text), Some(value)) => json(column, text, value)?,
            (Column::List { items, offsets, length, valid, .. }, Some(Value::Array(elements))) => {
                for element in elements {
                    items.push(Some(element))?;
                }
                *length = i32::try_from(elements.len())
                    .ok()
                    .and_then(|n| length.checked_add(n))
                    .ok_or_else(unfit)?;
                offsets.push(*length);
                valid.append_non_null();
            }
            (Column::Struct(columns), Some(Value::Map(entries))) => columns.push(entries)?,
            (column, None | Some(Value::Null)) => column.push_null(),
            _ => return Err(unfit()),
        }
        Ok(())
    }

    fn push_null(&mut self) {
        match self {
            Column::Bool(column) => column.append_null(),
            Column::I64(column) => column.append_null(),
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
                self.columns.iter_mut().try_for_each(|column| column.push(Some(other)))
            }
        }
    }

    fn push(&mut self, entries: &[(String, Value)]) -> Result<(), Error> {
        self.valid.append_non_null();
        self.length += 1;
        let mut next = 0;
        let mut found = 0;
        for (name, column) in self.names.iter().zip(&mut self.columns) {
            // Plain messages have their entries in the order of the layout.
            let at = match entries.get(next) {
                Some((key, _)) if key == name => Some(next),
                _ => entries.iter().position(|(key, _)| key == name),
            };
            next = at.map_or(next, |at| at + 1);
            found += usize::from(at.is_some());
            column.push(at.map(|at| &entries[at].1))?;
        }
        match &mut self.additional {
            Some((column, text)) if found < entries.len() => {
                let others = entries.iter().filter(|(key, _)| !self.names.contains(key)).cloned();
                json(column, text, &Value::Map(others.collect()))?;
            }
            Some((column, _)) => column.append_null(),
            None => {}
        }
        Ok(())
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

/// Returns the error for a value that the type of its column does not hold. The type covers all values of the schema, so there is none.
#[cold]
fn unfit() -> Error {
    Error::new(ErrorKind::Type, 0, "a value that its column does not hold")
}
