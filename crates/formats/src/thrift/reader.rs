//! Reads the tree of values from a Thrift protocol.

use super::{Fault, wire_type};
use crate::limits::MAX_RESERVE;
use crate::{Budget, Kind, Value};
use dunnage_codegen::{FieldType, Record};
use thrift::protocol::{TInputProtocol, TType};

pub(super) fn record(
    record: &Record,
    protocol: &mut dyn TInputProtocol,
    budget: &Budget,
) -> Result<Value, Fault> {
    budget.container(0)?;
    budget.values(record.fields.len(), 0)?;
    let mut values = vec![Value::Null; record.fields.len()];
    protocol.read_struct_begin()?;
    loop {
        let header = protocol.read_field_begin()?;
        if header.field_type == TType::Stop {
            break;
        }
        let id = header.id.unwrap_or_default();
        match record.fields.iter().position(|field| i64::from(field.number) == i64::from(id)) {
            Some(at) => {
                let field = &record.fields[at];
                expect(header.field_type, wire_type(&field.kind), &field.name)?;
                values[at] = value(&field.kind, protocol, budget)?;
            }
            None => protocol.skip(header.field_type)?,
        }
        protocol.read_field_end()?;
    }
    protocol.read_struct_end()?;
    let missing =
        record.fields.iter().zip(&values).find(|(field, v)| !field.optional && matches!(v, Value::Null));
    match missing {
        Some((field, _)) => Err(Fault::Own(Kind::Malformed, format!("the field {} is missing", field.name))),
        None => Ok(Value::Array(values)),
    }
}

fn value(kind: &FieldType, protocol: &mut dyn TInputProtocol, budget: &Budget) -> Result<Value, Fault> {
    Ok(match kind {
        FieldType::Bool => Value::Bool(protocol.read_bool()?),
        FieldType::Integer(range) => {
            let n = match wire_type(kind) {
                TType::I08 => i64::from(protocol.read_i8()?),
                TType::I16 => i64::from(protocol.read_i16()?),
                TType::I32 => i64::from(protocol.read_i32()?),
                _ => protocol.read_i64()?,
            };
            if range.max > i128::from(i64::MAX) { Value::U64(n as u64) } else { Value::from(n) }
        }
        FieldType::Float32 | FieldType::Float64 => Value::F64(protocol.read_double()?),
        FieldType::Text => {
            let text = protocol.read_string()?;
            budget.content(text.len(), 0)?;
            Value::Text(text)
        }
        FieldType::Bytes => {
            let bytes = protocol.read_bytes()?;
            budget.content(bytes.len(), 0)?;
            Value::Bytes(bytes)
        }
        FieldType::Enum(_) => Value::from(i64::from(protocol.read_i32()?)),
        FieldType::List(list) => {
            budget.container(0)?;
            let header = protocol.read_list_begin()?;
            let count = usize::try_from(header.size).unwrap_or(0);
            if count > 0 {
                expect(header.element_type, wire_type(&list.item), "a list")?;
            }
            let mut items = Vec::with_capacity(count.min(MAX_RESERVE));
            for _ in 0..count {
                budget.value(0)?;
                items.push(value(&list.item, protocol, budget)?);
            }
            protocol.read_list_end()?;
            Value::Array(items)
        }
        FieldType::Record(inner) => record(inner, protocol, budget)?,
    })
}

fn expect(found: TType, expected: TType, what: &str) -> Result<(), Fault> {
    if found == expected {
        return Ok(());
    }
    Err(Fault::Own(Kind::Type, format!("{what} holds {found}, not {expected}")))
}
