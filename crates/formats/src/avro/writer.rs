//! Turns the tree of values into the Avro library's values.

use crate::{Error, Kind, Value};
use apache_avro::types::Value as Datum;
use dunnage_codegen::{FieldType, Integer, Record};

pub(super) fn record(record: &Record, tree: &Value) -> Result<Datum, Error> {
    let Value::Array(values) = tree else { return Err(mismatch()) };
    let mut fields = Vec::with_capacity(record.fields.len());
    for (field, value) in record.fields.iter().zip(values) {
        let datum = match (field.optional, value) {
            (true, Value::Null) => Datum::Union(0, Box::new(Datum::Null)),
            (true, value) => Datum::Union(1, Box::new(datum(&field.kind, value)?)),
            (false, value) => datum(&field.kind, value)?,
        };
        fields.push((field.name.clone(), datum));
    }
    Ok(Datum::Record(fields))
}

fn datum(kind: &FieldType, value: &Value) -> Result<Datum, Error> {
    match (kind, value) {
        (FieldType::Bool, Value::Bool(b)) => Ok(Datum::Boolean(*b)),
        (FieldType::Integer(range), value) => integer(*range, value),
        (FieldType::Float32, Value::F64(f)) => Ok(Datum::Float(*f as f32)),
        (FieldType::Float64, Value::F64(f)) => Ok(Datum::Double(*f)),
        (FieldType::Text, Value::Text(text)) => Ok(Datum::String(text.clone())),
        (FieldType::Bytes, Value::Bytes(bytes)) => Ok(Datum::Bytes(bytes.clone())),
        (FieldType::Enum(enumeration), value) => {
            let index = value.as_integer().and_then(|n| u32::try_from(n).ok()).ok_or_else(mismatch)?;
            let symbol = enumeration.symbols.get(index as usize).ok_or_else(mismatch)?;
            Ok(Datum::Enum(index, symbol.clone()))
        }
        (FieldType::List(list), Value::Array(items)) => {
            items.iter().map(|item| datum(&list.item, item)).collect::<Result<_, _>>().map(Datum::Array)
        }
        (FieldType::Record(inner), value) => record(inner, value),
        _ => Err(mismatch()),
    }
}

fn integer(range: Integer, value: &Value) -> Result<Datum, Error> {
    let n = value.as_integer().ok_or_else(mismatch)?;
    if !range.contains(n) {
        return Err(Error::new(
            Kind::Range,
            0,
            format!("{n} is not between {} and {}", range.min, range.max),
        ));
    }
    // Avro has no unsigned integers: from 2^63 on, write the long with the same bits.
    Ok(if range.signed_bytes() <= 4 { Datum::Int(n as i32) } else { Datum::Long(n as i64) })
}

fn mismatch() -> Error {
    Error::new(Kind::Type, 0, "not what the schema has here")
}
