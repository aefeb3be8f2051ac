//! Turns packed fields into the tree of values.

use super::{Count, count, index, presence_bytes};
use crate::limits::MAX_RESERVE;
use crate::{Budget, Error, Kind, Value};
use dunnage_codegen::{FieldType, Integer, List, Record};

/// Decodes `bytes`; trailing bytes are an error.
pub(super) fn read(record: &Record, bytes: &[u8], budget: &Budget) -> Result<Value, Error> {
    let mut reader = Reader { bytes, at: 0, lengths: Vec::new(), budget };
    budget.value(0)?;
    let mut tree = reader.record(record)?;
    let lengths = std::mem::take(&mut reader.lengths);
    reader.texts(&mut tree, &mut lengths.into_iter())?;
    if reader.at < bytes.len() {
        return Err(Error::new(Kind::Malformed, reader.at, "bytes after the message"));
    }
    Ok(tree)
}

struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
    /// The lengths of texts and bytes, in order: their content comes after the fixed part.
    lengths: Vec<usize>,
    budget: &'a Budget,
}

impl<'a> Reader<'a> {
    fn take(&mut self, count: usize) -> Result<&'a [u8], Error> {
        let end = self.at + count;
        let taken = self.bytes.get(self.at..end);
        let taken =
            taken.ok_or_else(|| Error::new(Kind::Truncated, self.bytes.len(), "the bytes end too early"))?;
        self.at = end;
        Ok(taken)
    }

    fn unsigned(&mut self, bytes: usize) -> Result<u64, Error> {
        Ok(self.take(bytes)?.iter().fold(0, |n, &byte| n << 8 | u64::from(byte)))
    }

    fn record(&mut self, record: &Record) -> Result<Value, Error> {
        let start = self.at;
        self.budget.container(start)?;
        self.budget.values(record.fields.len(), start)?;
        let presence = self.take(presence_bytes(record))?;
        let mut values = Vec::with_capacity(record.fields.len());
        let mut bit = 0;
        for field in &record.fields {
            let mut present = true;
            if field.optional {
                present = presence[bit / 8] >> (bit % 8) & 1 == 1;
                bit += 1;
            }
            values.push(if present {
                self.value(&field.kind).map_err(|e| e.in_field(&field.name))?
            } else {
                Value::Null
            });
        }
        if bit % 8 > 0 && presence[bit / 8] >> (bit % 8) > 0 {
            return Err(Error::new(Kind::Malformed, start + bit / 8, "a presence bit of no field"));
        }
        Ok(Value::Array(values))
    }

    fn value(&mut self, kind: &FieldType) -> Result<Value, Error> {
        let start = self.at;
        match kind {
            FieldType::Bool => match self.take(1)? {
                [0] => Ok(Value::Bool(false)),
                [1] => Ok(Value::Bool(true)),
                _ => Err(Error::new(Kind::Malformed, start, "a boolean that is neither 0 nor 1")),
            },
            FieldType::Integer(range) => self.integer(*range),
            FieldType::Enum(enumeration) => self.integer(index(enumeration)),
            FieldType::Float32 => {
                let bits = self.unsigned(4)? as u32;
                Ok(Value::F64(f64::from(f32::from_bits(bits))))
            }
            FieldType::Float64 => Ok(Value::F64(f64::from_bits(self.unsigned(8)?))),
            FieldType::Text | FieldType::Bytes => {
                let length = self.unsigned(2)?;
                self.budget.content(length as usize, start)?;
                self.lengths.push(length as usize);
                Ok(if matches!(kind, FieldType::Text) {
                    Value::Text(String::new())
                } else {
                    Value::Bytes(Vec::new())
                })
            }
            FieldType::List(list) => self.list(list),
            FieldType::Record(record) => self.record(record),
        }
    }

    fn integer(&mut self, range: Integer) -> Result<Value, Error> {
        let start = self.at;
        let bytes = range.bytes();
        let n = self.unsigned(bytes)?;
        let value = if range.signed() {
            let unused = 64 - 8 * bytes as u32;
            Value::from((n << unused) as i64 >> unused)
        } else {
            Value::U64(n)
        };
        if value.as_integer().is_some_and(|n| range.contains(n)) {
            Ok(value)
        } else {
            let reason = format!("not between {} and {}", range.min, range.max);
            Err(Error::new(Kind::Range, start, reason))
        }
    }

    fn list(&mut self, list: &List) -> Result<Value, Error> {
        self.budget.container(self.at)?;
        let count = match count(list) {
            Count::Fixed(n) => n,
            Count::Counted(bytes) => self.unsigned(bytes)? as usize,
        };
        // Every element has at least one byte, so the bytes bound the number of elements.
        let mut items = Vec::with_capacity(count.min(MAX_RESERVE));
        for _ in 0..count {
            self.budget.value(self.at)?;
            items.push(self.value(&list.item)?);
        }
        Ok(Value::Array(items))
    }

    /// Fills in texts and bytes, in the order of their lengths.
    fn texts(&mut self, value: &mut Value, lengths: &mut impl Iterator<Item = usize>) -> Result<(), Error> {
        match value {
            Value::Array(values) => values.iter_mut().try_for_each(|value| self.texts(value, lengths)),
            Value::Text(text) => {
                let start = self.at;
                let bytes = self.take(lengths.next().unwrap_or(0))?;
                let filled = std::str::from_utf8(bytes).map_err(|e| {
                    Error::new(Kind::Malformed, start + e.valid_up_to(), "text that is not UTF-8")
                })?;
                filled.clone_into(text);
                Ok(())
            }
            Value::Bytes(filled) => {
                self.take(lengths.next().unwrap_or(0))?.clone_into(filled);
                Ok(())
            }
            _ => Ok(()),
        }
    }
}
