//! ASN.1 with the unaligned packed encoding rules (ITU-T X.691), for the type that the record of the schema describes.
//!
//! rasn encodes Rust types that exist at compile time. Here the definition exists only at run time, so each part of a type is given to
//! rasn's encoder on its own: a presence bit is a BOOLEAN, and an index of an ENUMERATED is an INTEGER with the range of its indices. Both
//! have the bits that X.691 specifies, and `tests.rs` compares them with a type that rasn derives.

use super::{failed, records::RecordCodec, unfit};
use dunnage_codegen::{FieldType, List, Record};
use dunnage_formats::{Error, Value};
use rasn::{
    Decoder as _, Encoder as _,
    types::{
        BitString, Constraints, Identifier, OctetString, Tag,
        constraints::{Bounded, Constraint, Extensible, Size, Value as Range},
    },
    uper::{
        de::{Decoder, DecoderOptions},
        enc::{Encoder, EncoderOptions},
    },
};

pub(super) const NOTE: &str = "the record of the schema as a SEQUENCE, with ranges and lengths as constraints; text is a UTF8String; \
    binary64 is an OCTET STRING of 8 octets, because rasn's PER has no REAL";

/// The first length that is written in fragments.
const FRAGMENTED: usize = 1 << 14;
/// The smallest upper bound of a length that has no effect.
const UNBOUNDED: u32 = 1 << 16;

/// ASN.1 UPER.
pub struct Uper;

impl RecordCodec for Uper {
    fn write(&self, record: &Record, tree: &Value, out: &mut Vec<u8>) -> Result<(), Error> {
        let mut encoder = Encoder::new(EncoderOptions::unaligned());
        write_record(record, tree, &mut encoder)?;
        out.extend(encoder.output_into_vec());
        Ok(())
    }

    fn read(&self, record: &Record, bytes: &[u8]) -> Result<Value, Error> {
        let bits = BitString::from_slice(bytes);
        read_record(record, &mut Decoder::new(&bits, DecoderOptions::unaligned()))
    }
}

fn range(min: i128, max: i128) -> Constraints {
    let range = Range::new(Bounded::Range { start: Some(min), end: Some(max) });
    Constraints::new(&[Constraint::Value(Extensible::new(range))])
}

fn octets(count: usize) -> Constraints {
    Constraints::new(&[Constraint::Size(Extensible::new(Size::fixed(count)))])
}

fn write_integer(n: i128, min: i128, max: i128, encoder: &mut Encoder) -> Result<(), Error> {
    encoder.encode_integer(Tag::INTEGER, &range(min, max), &n, Identifier::EMPTY).map_err(failed)
}

fn read_integer(min: i128, max: i128, decoder: &mut Decoder<'_>) -> Result<i128, Error> {
    decoder.decode_integer(Tag::INTEGER, &range(min, max)).map_err(failed)
}

fn write_record(record: &Record, tree: &Value, encoder: &mut Encoder) -> Result<(), Error> {
    let Value::Array(values) = tree else { return Err(unfit("a record")) };
    let fields = || record.fields.iter().zip(values);
    for (_, value) in fields().filter(|(field, _)| field.optional) {
        let present = !matches!(value, Value::Null);
        encoder.encode_bool(Tag::BOOL, present, Identifier::EMPTY).map_err(failed)?;
    }
    fields()
        .filter(|(field, value)| !(field.optional && matches!(value, Value::Null)))
        .try_for_each(|(field, value)| write_value(&field.kind, value, encoder))
}

fn write_value(kind: &FieldType, value: &Value, encoder: &mut Encoder) -> Result<(), Error> {
    let integer = || value.as_integer().ok_or_else(|| unfit("an integer"));
    match (kind, value) {
        (FieldType::Bool, Value::Bool(b)) => {
            encoder.encode_bool(Tag::BOOL, *b, Identifier::EMPTY).map_err(failed)
        }
        (FieldType::Integer(of), _) => write_integer(integer()?, of.min, of.max, encoder),
        (FieldType::Enum(of), _) => write_integer(integer()?, 0, of.symbols.len() as i128 - 1, encoder),
        (FieldType::Float32, Value::F64(f)) => write_octets(&(*f as f32).to_be_bytes(), true, encoder),
        (FieldType::Float64, Value::F64(f)) => write_octets(&f.to_be_bytes(), true, encoder),
        (FieldType::Text, Value::Text(text)) => encoder
            .encode_utf8_string(Tag::UTF8_STRING, &Constraints::default(), text, Identifier::EMPTY)
            .map_err(failed),
        (FieldType::Bytes, Value::Bytes(bytes)) => write_octets(bytes, false, encoder),
        (FieldType::List(list), Value::Array(items)) => {
            write_length(list, items.len(), encoder)?;
            items.iter().try_for_each(|item| write_value(&list.item, item, encoder))
        }
        (FieldType::Record(record), value) => write_record(record, value, encoder),
        _ => Err(unfit("what the definition has here")),
    }
}

fn write_octets(bytes: &[u8], fixed: bool, encoder: &mut Encoder) -> Result<(), Error> {
    let size = if fixed { octets(bytes.len()) } else { Constraints::default() };
    encoder.encode_octet_string(Tag::OCTET_STRING, &size, bytes, Identifier::EMPTY).map_err(failed)
}

/// Writes the number of elements (X.691, 11.9): in the bits of its range, or in 8 or 16 bits if nothing bounds it.
fn write_length(list: &List, length: usize, encoder: &mut Encoder) -> Result<(), Error> {
    match list.max.filter(|max| *max < UNBOUNDED) {
        Some(max) => write_integer(length as i128, list.min.into(), max.into(), encoder),
        None if length < 128 => write_integer(length as i128, 0, 255, encoder),
        None if length < FRAGMENTED => write_integer(0x8000 | length as i128, 0, 0xffff, encoder),
        None => Err(unfit("a list of less than 16384 elements")),
    }
}

fn read_length(list: &List, decoder: &mut Decoder<'_>) -> Result<i128, Error> {
    if let Some(max) = list.max.filter(|max| *max < UNBOUNDED) {
        return read_integer(list.min.into(), max.into(), decoder);
    }
    match read_integer(0, 255, decoder)? {
        short @ 0..128 => Ok(short),
        long @ 128..192 => Ok((long & 0x3f) << 8 | read_integer(0, 255, decoder)?),
        _ => Err(unfit("a list of less than 16384 elements")),
    }
}

fn read_record(record: &Record, decoder: &mut Decoder<'_>) -> Result<Value, Error> {
    let mut present = Vec::with_capacity(record.fields.len());
    for field in &record.fields {
        present.push(!field.optional || decoder.decode_bool(Tag::BOOL).map_err(failed)?);
    }
    let value = |(field, present): (&dunnage_codegen::Field, bool)| match present {
        true => read_value(&field.kind, decoder),
        false => Ok(Value::Null),
    };
    record.fields.iter().zip(present).map(value).collect::<Result<_, _>>().map(Value::Array)
}

fn read_value(kind: &FieldType, decoder: &mut Decoder<'_>) -> Result<Value, Error> {
    let value = |n: i128| u64::try_from(n).map_or_else(|_| Value::I64(n as i64), Value::U64);
    Ok(match kind {
        FieldType::Bool => Value::Bool(decoder.decode_bool(Tag::BOOL).map_err(failed)?),
        FieldType::Integer(of) => value(read_integer(of.min, of.max, decoder)?),
        FieldType::Enum(of) => value(read_integer(0, of.symbols.len() as i128 - 1, decoder)?),
        FieldType::Float32 => Value::F64(f32::from_be_bytes(fixed(decoder)?).into()),
        FieldType::Float64 => Value::F64(f64::from_be_bytes(fixed(decoder)?)),
        FieldType::Text => Value::Text(
            decoder.decode_utf8_string(Tag::UTF8_STRING, &Constraints::default()).map_err(failed)?,
        ),
        FieldType::Bytes => Value::Bytes(read_octets(&Constraints::default(), decoder)?),
        FieldType::List(list) => {
            let length = read_length(list, decoder)?;
            Value::Array((0..length).map(|_| read_value(&list.item, decoder)).collect::<Result<_, _>>()?)
        }
        FieldType::Record(record) => read_record(record, decoder)?,
    })
}

fn read_octets(size: &Constraints, decoder: &mut Decoder<'_>) -> Result<Vec<u8>, Error> {
    let octets: OctetString = decoder.decode_octet_string(Tag::OCTET_STRING, size).map_err(failed)?;
    Ok(octets.to_vec())
}

fn fixed<const N: usize>(decoder: &mut Decoder<'_>) -> Result<[u8; N], Error> {
    read_octets(&octets(N), decoder)?.try_into().map_err(|_| unfit("as many octets"))
}
