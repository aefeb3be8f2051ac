//! Turns a message into bytes.

use super::half;
use crate::{Error, Kind, Value, limits, number};
use minicbor::Encoder;

/// The first byte of a binary16.
const HALF: u8 = 0xf9;

type Out<'a> = Encoder<&'a mut Vec<u8>>;

pub(super) fn write(value: &Value, out: &mut Out<'_>, depth: usize) -> Result<(), Error> {
    match value {
        Value::Null => out.null(),
        Value::Bool(b) => out.bool(*b),
        Value::U64(n) => out.u64(*n),
        Value::I64(n) => out.i64(*n),
        Value::F64(f) => match number::single(*f) {
            Some(single) => match half::exact_bits(single) {
                Some(bits) => {
                    out.writer_mut().push(HALF);
                    out.writer_mut().extend_from_slice(&bits.to_be_bytes());
                    return Ok(());
                }
                None => out.f32(single),
            },
            None => out.f64(*f),
        },
        Value::Text(text) => out.str(text),
        Value::Bytes(bytes) => out.bytes(bytes),
        Value::Array(items) => {
            let depth = limits::deeper(depth, 0)?;
            out.array(items.len() as u64).map_err(unwritable)?;
            return items.iter().try_for_each(|item| write(item, out, depth));
        }
        Value::Map(entries) => {
            let depth = limits::deeper(depth, 0)?;
            out.map(entries.len() as u64).map_err(unwritable)?;
            return entries.iter().try_for_each(|(key, value)| {
                out.str(key).map_err(unwritable)?;
                write(value, out, depth)
            });
        }
    }
    .map(drop)
    .map_err(unwritable)
}

fn unwritable(e: impl std::fmt::Display) -> Error {
    Error::new(Kind::Truncated, 0, e.to_string())
}
