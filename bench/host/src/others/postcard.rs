//! postcard: serde's data model, without names and with variable-length integers.

use super::{failed, records::RecordCodec};
use dunnage_codegen::{Field, FieldType, Record};
use dunnage_formats::{Error, Value};
use serde::{
    Deserializer, Serialize, Serializer,
    de::{DeserializeSeed, SeqAccess, Visitor},
    ser::{Error as _, SerializeSeq, SerializeTuple},
};
use std::fmt;

pub(super) const NOTE: &str =
    "the record of the schema as a struct whose integers are as wide as their ranges need";

/// postcard.
pub struct Postcard;

impl RecordCodec for Postcard {
    fn write(&self, record: &Record, tree: &Value, out: &mut Vec<u8>) -> Result<(), Error> {
        out.extend(postcard::to_allocvec(&Fields(record, tree)).map_err(failed)?);
        Ok(())
    }

    fn read(&self, record: &Record, bytes: &[u8]) -> Result<Value, Error> {
        RecordSeed(record).deserialize(&mut postcard::Deserializer::from_bytes(bytes)).map_err(failed)
    }
}

/// The integer types of Rust that hold a range.
enum Width {
    U8,
    U16,
    U32,
    U64,
    I8,
    I16,
    I32,
    I64,
}

fn width(integer: dunnage_codegen::Integer) -> Width {
    match (integer.signed(), integer.bytes()) {
        (false, 1) => Width::U8,
        (false, 2) => Width::U16,
        (false, 4) => Width::U32,
        (false, _) => Width::U64,
        (true, 1) => Width::I8,
        (true, 2) => Width::I16,
        (true, 4) => Width::I32,
        (true, _) => Width::I64,
    }
}

struct Fields<'a>(&'a Record, &'a Value);

impl Serialize for Fields<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Value::Array(values) = self.1 else { return Err(S::Error::custom("not a record")) };
        let mut tuple = serializer.serialize_tuple(values.len())?;
        for (field, value) in self.0.fields.iter().zip(values) {
            match (field.optional, value) {
                (true, Value::Null) => tuple.serialize_element(&None::<()>)?,
                (true, value) => tuple.serialize_element(&Some(Typed(&field.kind, value)))?,
                (false, value) => tuple.serialize_element(&Typed(&field.kind, value))?,
            }
        }
        tuple.end()
    }
}

struct Typed<'a>(&'a FieldType, &'a Value);

impl Serialize for Typed<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let number = |value: &Value| value.as_integer().ok_or_else(|| S::Error::custom("not an integer"));
        match (self.0, self.1) {
            (FieldType::Bool, Value::Bool(b)) => serializer.serialize_bool(*b),
            (FieldType::Integer(range), value) => {
                let n = number(value)?;
                match width(*range) {
                    Width::U8 => serializer.serialize_u8(n as u8),
                    Width::U16 => serializer.serialize_u16(n as u16),
                    Width::U32 => serializer.serialize_u32(n as u32),
                    Width::U64 => serializer.serialize_u64(n as u64),
                    Width::I8 => serializer.serialize_i8(n as i8),
                    Width::I16 => serializer.serialize_i16(n as i16),
                    Width::I32 => serializer.serialize_i32(n as i32),
                    Width::I64 => serializer.serialize_i64(n as i64),
                }
            }
            (FieldType::Enum(_), value) => serializer.serialize_unit_variant("", number(value)? as u32, ""),
            (FieldType::Float32, Value::F64(f)) => serializer.serialize_f32(*f as f32),
            (FieldType::Float64, Value::F64(f)) => serializer.serialize_f64(*f),
            (FieldType::Text, Value::Text(text)) => serializer.serialize_str(text),
            (FieldType::Bytes, Value::Bytes(bytes)) => serializer.serialize_bytes(bytes),
            (FieldType::List(list), Value::Array(items)) => {
                let mut seq = serializer.serialize_seq(Some(items.len()))?;
                items.iter().try_for_each(|item| seq.serialize_element(&Typed(&list.item, item)))?;
                seq.end()
            }
            (FieldType::Record(record), value) => Fields(record, value).serialize(serializer),
            _ => Err(S::Error::custom("not what the definition has here")),
        }
    }
}

struct RecordSeed<'a>(&'a Record);

impl<'de> DeserializeSeed<'de> for RecordSeed<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_tuple(self.0.fields.len(), Elements(self.0.fields.iter().map(FieldSeed)))
    }
}

struct FieldSeed<'a>(&'a Field);

impl<'de> DeserializeSeed<'de> for FieldSeed<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        match self.0.optional {
            true => deserializer.deserialize_option(OptionVisitor(&self.0.kind)),
            false => TypeSeed(&self.0.kind).deserialize(deserializer),
        }
    }
}

struct TypeSeed<'a>(&'a FieldType);

impl<'de> DeserializeSeed<'de> for TypeSeed<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        match self.0 {
            FieldType::Bool => deserializer.deserialize_bool(Scalar),
            FieldType::Integer(range) => match width(*range) {
                Width::U8 => deserializer.deserialize_u8(Scalar),
                Width::U16 => deserializer.deserialize_u16(Scalar),
                Width::U32 => deserializer.deserialize_u32(Scalar),
                Width::U64 => deserializer.deserialize_u64(Scalar),
                Width::I8 => deserializer.deserialize_i8(Scalar),
                Width::I16 => deserializer.deserialize_i16(Scalar),
                Width::I32 => deserializer.deserialize_i32(Scalar),
                Width::I64 => deserializer.deserialize_i64(Scalar),
            },
            // The discriminant of a variant is a u32 in postcard.
            FieldType::Enum(_) => deserializer.deserialize_u32(Scalar),
            FieldType::Float32 => deserializer.deserialize_f32(Scalar),
            FieldType::Float64 => deserializer.deserialize_f64(Scalar),
            FieldType::Text => deserializer.deserialize_string(Scalar),
            FieldType::Bytes => deserializer.deserialize_byte_buf(Scalar),
            FieldType::List(list) => {
                deserializer.deserialize_seq(Elements(std::iter::repeat_with(|| TypeSeed(&list.item))))
            }
            FieldType::Record(record) => RecordSeed(record).deserialize(deserializer),
        }
    }
}

/// Reads a list or tuple, each element with the next seed.
struct Elements<I>(I);

impl<'de, S: DeserializeSeed<'de, Value = Value>, I: Iterator<Item = S>> Visitor<'de> for Elements<I> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list or record")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Value, A::Error> {
        let mut values = Vec::new();
        for seed in self.0 {
            match seq.next_element_seed(seed)? {
                Some(value) => values.push(value),
                None => break,
            }
        }
        Ok(Value::Array(values))
    }
}

struct OptionVisitor<'a>(&'a FieldType);

impl<'de> Visitor<'de> for OptionVisitor<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an optional field")
    }

    fn visit_none<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        TypeSeed(self.0).deserialize(deserializer)
    }
}

struct Scalar;

impl<'de> Visitor<'de> for Scalar {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a scalar")
    }

    fn visit_bool<E>(self, b: bool) -> Result<Value, E> {
        Ok(Value::Bool(b))
    }

    fn visit_u64<E>(self, n: u64) -> Result<Value, E> {
        Ok(Value::U64(n))
    }

    fn visit_i64<E>(self, n: i64) -> Result<Value, E> {
        Ok(Value::from(n))
    }

    fn visit_f64<E>(self, f: f64) -> Result<Value, E> {
        Ok(Value::F64(f))
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Value, E> {
        Ok(Value::from(text))
    }

    fn visit_bytes<E: serde::de::Error>(self, bytes: &[u8]) -> Result<Value, E> {
        Ok(Value::Bytes(bytes.to_vec()))
    }
}
