//! Derives a record from a user's definition.

use super::shape::{in_file_order, values_in_file_order};
use crate::{Error, Kind};
use dunnage_codegen::{Enumeration, Field, FieldType, Integer, List, Record};
use prost_reflect::{FieldDescriptor, Kind as FieldKind, MessageDescriptor};

/// Largest number of fields of a record. A message that holds others twice, and these others twice, has many.
const MAX_FIELDS: usize = 100_000;

/// Returns a record of what the definition can carry, with fields in the order of the file. Where a message holds itself, it is a record
/// without fields, which no property matches.
pub(super) fn record(message: &MessageDescriptor) -> Result<Record, Error> {
    Survey::default().message(message)
}

#[derive(Default)]
struct Survey {
    /// The names of the messages around a field.
    around: Vec<String>,
    fields: usize,
}

impl Survey {
    fn message(&mut self, message: &MessageDescriptor) -> Result<Record, Error> {
        let name = message.full_name().to_owned();
        let mut fields = Vec::new();
        if !self.around.contains(&name) {
            self.around.push(name);
            for field in in_file_order(message) {
                fields.push(self.field(&field)?);
            }
            self.around.pop();
        }
        Ok(Record { name: message.name().to_owned(), fields })
    }

    fn field(&mut self, field: &FieldDescriptor) -> Result<Field, Error> {
        self.fields += 1;
        if self.fields > MAX_FIELDS {
            let reason = format!(
                "the message has more than {MAX_FIELDS} fields, with those of the messages inside it"
            );
            return Err(Error::new(Kind::Limit, 0, reason));
        }
        let item = self.kind(field)?;
        let list = field.is_list() || field.is_map();
        let kind =
            if list { FieldType::List(List { item: Box::new(item), min: 0, max: None }) } else { item };
        Ok(Field {
            name: field.name().to_owned(),
            key: field.json_name().to_owned(),
            number: field.number(),
            optional: field.supports_presence(),
            kind,
            notes: Vec::new(),
        })
    }

    fn kind(&mut self, field: &FieldDescriptor) -> Result<FieldType, Error> {
        let integer = |min: i128, max: i128| FieldType::Integer(Integer { min, max });
        Ok(match field.kind() {
            FieldKind::Bool => FieldType::Bool,
            FieldKind::Int32 | FieldKind::Sint32 | FieldKind::Sfixed32 => {
                integer(i32::MIN.into(), i32::MAX.into())
            }
            FieldKind::Int64 | FieldKind::Sint64 | FieldKind::Sfixed64 => {
                integer(i64::MIN.into(), i64::MAX.into())
            }
            FieldKind::Uint32 | FieldKind::Fixed32 => integer(0, u32::MAX.into()),
            FieldKind::Uint64 | FieldKind::Fixed64 => integer(0, u64::MAX.into()),
            FieldKind::Float => FieldType::Float32,
            FieldKind::Double => FieldType::Float64,
            FieldKind::String => FieldType::Text,
            FieldKind::Bytes => FieldType::Bytes,
            FieldKind::Enum(values) => {
                let in_order = values_in_file_order(&values);
                let first =
                    |(number, _): &(i32, String)| in_order.iter().position(|(other, _)| other == number);
                let aliases = in_order.iter().map(|value| first(value).unwrap_or_default()).collect();
                let symbols = in_order.iter().map(|(_, name)| name.clone()).collect();
                FieldType::Enum(Enumeration { name: values.name().to_owned(), symbols, aliases })
            }
            FieldKind::Message(message) => FieldType::Record(self.message(&message)?),
        })
    }
}
