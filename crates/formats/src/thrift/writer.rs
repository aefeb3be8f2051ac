//! Writes the tree of values to a Thrift protocol.

use super::wire_type;
use crate::{Error, Kind, Value};
use dunnage_codegen::{FieldType, Record};
use thrift::protocol::{TFieldIdentifier, TListIdentifier, TOutputProtocol, TStructIdentifier, TType};

pub(super) fn write(record: &Record, tree: &Value, protocol: &mut dyn TOutputProtocol) -> Result<(), Error> {
    write_record(record, tree, protocol)
}

fn write_record(record: &Record, tree: &Value, protocol: &mut dyn TOutputProtocol) -> Result<(), Error> {
    let Value::Array(values) = tree else { return Err(mismatch()) };
    protocol.write_struct_begin(&TStructIdentifier::new(&record.name)).map_err(failed)?;
    for (field, value) in record.fields.iter().zip(values) {
        if field.optional && matches!(value, Value::Null) {
            continue;
        }
        let id = i16::try_from(field.number).map_err(|_| mismatch())?;
        let header = TFieldIdentifier::new(field.name.as_str(), wire_type(&field.kind), id);
        protocol.write_field_begin(&header).map_err(failed)?;
        write_value(&field.kind, value, protocol).map_err(|e| e.in_field(&field.name))?;
        protocol.write_field_end().map_err(failed)?;
    }
    protocol.write_field_stop().map_err(failed)?;
    protocol.write_struct_end().map_err(failed)
}

fn write_value(kind: &FieldType, value: &Value, protocol: &mut dyn TOutputProtocol) -> Result<(), Error> {
    let written = match (kind, value) {
        (FieldType::Bool, Value::Bool(b)) => protocol.write_bool(*b),
        (FieldType::Float32 | FieldType::Float64, Value::F64(f)) => protocol.write_double(*f),
        (FieldType::Text, Value::Text(text)) => protocol.write_string(text),
        (FieldType::Bytes, Value::Bytes(bytes)) => protocol.write_bytes(bytes),
        (FieldType::Integer(range), value) => {
            let n = value.as_integer().ok_or_else(mismatch)?;
            if !range.contains(n) {
                let reason = format!("{n} is not between {} and {}", range.min, range.max);
                return Err(Error::new(Kind::Range, 0, reason));
            }
            match wire_type(kind) {
                TType::I08 => protocol.write_i8(n as i8),
                TType::I16 => protocol.write_i16(n as i16),
                TType::I32 => protocol.write_i32(n as i32),
                _ => protocol.write_i64(n as i64), // from 2^63 on, the negative number with the same bits
            }
        }
        (FieldType::Enum(_), value) => {
            let index = value.as_integer().and_then(|n| i32::try_from(n).ok()).ok_or_else(mismatch)?;
            protocol.write_i32(index)
        }
        (FieldType::List(list), Value::Array(items)) => {
            let count = i32::try_from(items.len()).map_err(|_| mismatch())?;
            protocol.write_list_begin(&TListIdentifier::new(wire_type(&list.item), count)).map_err(failed)?;
            for item in items {
                write_value(&list.item, item, protocol)?;
            }
            protocol.write_list_end()
        }
        (FieldType::Record(record), value) => return write_record(record, value, protocol),
        _ => return Err(mismatch()),
    };
    written.map_err(failed)
}

#[allow(clippy::needless_pass_by_value)] // `map_err` needs this signature
fn failed(e: thrift::Error) -> Error {
    Error::new(Kind::Type, 0, e.to_string())
}

fn mismatch() -> Error {
    Error::new(Kind::Type, 0, "not what the definition has here")
}
