//! Turns the Avro library's values into the tree of values.

use crate::{Error, Kind, Value};
use apache_avro::types::Value as Datum;
use dunnage_codegen::{FieldType, Record};

pub(super) fn record(record: &Record, datum: Datum) -> Result<Value, Error> {
    let Datum::Record(fields) = datum else { return Err(mismatch()) };
    let mut values = Vec::with_capacity(record.fields.len());
    for (field, (_, datum)) in record.fields.iter().zip(fields) {
        values.push(match datum {
            Datum::Union(0, _) => Value::Null,
            Datum::Union(_, datum) => value(&field.kind, *datum)?,
            datum => value(&field.kind, datum)?,
        });
    }
    Ok(Value::Array(values))
}

fn value(kind: &FieldType, datum: Datum) -> Result<Value, Error> {
    match (kind, datum) {
        (FieldType::Bool, Datum::Boolean(b)) => Ok(Value::Bool(b)),
        (FieldType::Integer(_), Datum::Int(n)) => Ok(Value::from(i64::from(n))),
        (FieldType::Integer(range), Datum::Long(n)) if range.signed() => Ok(Value::from(n)),
        (FieldType::Integer(_), Datum::Long(n)) => Ok(Value::U64(n as u64)),
        (FieldType::Float32, Datum::Float(f)) => Ok(Value::F64(f64::from(f))),
        (FieldType::Float64, Datum::Double(f)) => Ok(Value::F64(f)),
        (FieldType::Text, Datum::String(text)) => Ok(Value::Text(text)),
        (FieldType::Bytes, Datum::Bytes(bytes)) => Ok(Value::Bytes(bytes)),
        (FieldType::Enum(_), Datum::Enum(index, _)) => Ok(Value::U64(u64::from(index))),
        (FieldType::List(list), Datum::Array(items)) => {
            items.into_iter().map(|item| value(&list.item, item)).collect::<Result<_, _>>().map(Value::Array)
        }
        (FieldType::Record(inner), datum) => record(inner, datum),
        _ => Err(mismatch()),
    }
}

fn mismatch() -> Error {
    Error::new(Kind::Type, 0, "not what the schema has here")
}
