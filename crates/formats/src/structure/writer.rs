//! Turns the tree of values into packed fields.

use super::{Count, count, index, presence_bytes};
use crate::{Error, Kind, Value};
use dunnage_codegen::{FieldType, Integer, List, Record};

/// Appends the fixed part, then the content of all texts and bytes.
pub(super) fn write(record: &Record, tree: &Value, out: &mut Vec<u8>) -> Result<(), Error> {
    let mut texts = Vec::new();
    write_record(record, tree, out, &mut texts)?;
    out.extend_from_slice(&texts);
    Ok(())
}

fn write_record(record: &Record, tree: &Value, out: &mut Vec<u8>, texts: &mut Vec<u8>) -> Result<(), Error> {
    let Value::Array(values) = tree else { return Err(mismatch()) };
    let presence = out.len();
    out.resize(presence + presence_bytes(record), 0);
    let mut bit = 0;
    for (field, value) in record.fields.iter().zip(values) {
        if field.optional {
            let present = !matches!(value, Value::Null);
            out[presence + bit / 8] |= u8::from(present) << (bit % 8);
            bit += 1;
            if !present {
                continue;
            }
        }
        write_value(&field.kind, value, out, texts).map_err(|e| e.in_field(&field.name))?;
    }
    Ok(())
}

fn write_value(kind: &FieldType, value: &Value, out: &mut Vec<u8>, texts: &mut Vec<u8>) -> Result<(), Error> {
    match (kind, value) {
        (FieldType::Bool, Value::Bool(b)) => out.push(u8::from(*b)),
        (FieldType::Integer(range), value) => write_integer(*range, value, out)?,
        (FieldType::Enum(enumeration), value) => write_integer(index(enumeration), value, out)?,
        (FieldType::Float32, Value::F64(f)) => out.extend_from_slice(&(*f as f32).to_be_bytes()),
        (FieldType::Float64, Value::F64(f)) => out.extend_from_slice(&f.to_be_bytes()),
        (FieldType::Text, Value::Text(text)) => write_text(text.as_bytes(), out, texts)?,
        (FieldType::Bytes, Value::Bytes(bytes)) => write_text(bytes, out, texts)?,
        (FieldType::List(list), Value::Array(items)) => write_list(list, items, out, texts)?,
        (FieldType::Record(record), value) => write_record(record, value, out, texts)?,
        _ => return Err(mismatch()),
    }
    Ok(())
}

fn write_integer(range: Integer, value: &Value, out: &mut Vec<u8>) -> Result<(), Error> {
    let n = value.as_integer().ok_or_else(mismatch)?;
    if !range.contains(n) {
        return Err(Error::new(
            Kind::Range,
            0,
            format!("{n} is not between {} and {}", range.min, range.max),
        ));
    }
    let bytes = n.to_be_bytes();
    out.extend_from_slice(&bytes[bytes.len() - range.bytes()..]);
    Ok(())
}

fn write_text(bytes: &[u8], out: &mut Vec<u8>, texts: &mut Vec<u8>) -> Result<(), Error> {
    let length = u16::try_from(bytes.len())
        .map_err(|_| Error::new(Kind::Range, 0, "text of more than 65535 bytes"))?;
    out.extend_from_slice(&length.to_be_bytes());
    texts.extend_from_slice(bytes);
    Ok(())
}

fn write_list(list: &List, items: &[Value], out: &mut Vec<u8>, texts: &mut Vec<u8>) -> Result<(), Error> {
    match count(list) {
        Count::Fixed(n) if n == items.len() => {}
        Count::Fixed(n) => {
            return Err(Error::new(Kind::Range, 0, format!("{} elements instead of {n}", items.len())));
        }
        Count::Counted(bytes) => {
            let n = u16::try_from(items.len())
                .map_err(|_| Error::new(Kind::Range, 0, "more than 65535 elements"))?;
            out.extend_from_slice(&n.to_be_bytes()[2 - bytes..]);
        }
    }
    items.iter().try_for_each(|item| write_value(&list.item, item, out, texts))
}

fn mismatch() -> Error {
    Error::new(Kind::Type, 0, "not what the layout has here")
}
