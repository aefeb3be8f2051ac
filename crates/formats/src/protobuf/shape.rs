//! What a message descriptor says, laid out for reading and writing without asking it again.

use crate::{Error, Kind as Fault};
use dunnage_codegen::{Kind as RecordKind, Record};
use prost_reflect::{FieldDescriptor, Kind, MessageDescriptor};
use std::collections::HashMap;

/// The message types that one message is made of. The first is the message itself.
#[derive(Debug, Clone)]
pub(super) struct Shapes {
    messages: Vec<MessageShape>,
}

#[derive(Debug, Clone)]
pub(super) struct MessageShape {
    pub descriptor: MessageDescriptor,
    /// In the order of the file, which is that of the tree's records.
    pub fields: Vec<FieldShape>,
}

#[derive(Debug, Clone)]
pub(super) struct FieldShape {
    pub descriptor: FieldDescriptor,
    pub kind: Scalar,
    pub form: Form,
    /// Whether an absent field is no value. If not, it is the default of its type.
    pub optional: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    One,
    List,
    Map,
}

/// What one element of a field is.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Scalar {
    Bool,
    /// A type of integers, of 32 bits or 64, with sign or without.
    Int32,
    Int64,
    Uint32,
    Uint64,
    Float,
    Double,
    String,
    Bytes,
    /// The numbers of the values, in the order of the file.
    Enum(Vec<i32>),
    /// The index of a message type.
    Message(usize),
}

impl Shapes {
    /// `record`, when there is one, has a field for each of the descriptor's.
    pub(super) fn of(root: &MessageDescriptor, record: Option<&Record>) -> Result<Self, Error> {
        let mut survey = Survey::default();
        survey.message(root, record)?;
        let messages = survey.messages.into_iter().flatten().collect();
        Ok(Shapes { messages })
    }

    pub(super) fn root(&self) -> &MessageShape {
        self.message(0)
    }

    /// The message type of an index that [`Scalar::Message`] holds.
    pub(super) fn message(&self, index: usize) -> &MessageShape {
        &self.messages[index]
    }
}

#[derive(Default)]
struct Survey {
    /// `None` while its fields are being looked at.
    messages: Vec<Option<MessageShape>>,
    seen: HashMap<String, usize>,
}

impl Survey {
    fn message(&mut self, descriptor: &MessageDescriptor, record: Option<&Record>) -> Result<usize, Error> {
        if let Some(&index) = self.seen.get(descriptor.full_name()) {
            return Ok(index);
        }
        let index = self.messages.len();
        self.messages.push(None);
        self.seen.insert(descriptor.full_name().to_owned(), index);
        let mut fields = Vec::new();
        for (at, field) in in_file_order(descriptor).into_iter().enumerate() {
            let known = match record {
                None => None,
                Some(record) => Some(record.fields.get(at).ok_or_else(|| unlike(&field))?),
            };
            let form = match () {
                () if field.is_map() => Form::Map,
                () if field.is_list() => Form::List,
                () => Form::One,
            };
            let nested = match known.map(|field| field.kind.element()) {
                Some(RecordKind::Record(inner)) => Some(inner),
                _ => None,
            };
            let kind = self.scalar(&field, nested)?;
            let optional = known.map_or(field.supports_presence(), |known| known.optional);
            fields.push(FieldShape { descriptor: field, kind, form, optional });
        }
        self.messages[index] = Some(MessageShape { descriptor: descriptor.clone(), fields });
        Ok(index)
    }

    fn scalar(&mut self, field: &FieldDescriptor, record: Option<&Record>) -> Result<Scalar, Error> {
        Ok(match field.kind() {
            Kind::Bool => Scalar::Bool,
            Kind::Int32 | Kind::Sint32 | Kind::Sfixed32 => Scalar::Int32,
            Kind::Int64 | Kind::Sint64 | Kind::Sfixed64 => Scalar::Int64,
            Kind::Uint32 | Kind::Fixed32 => Scalar::Uint32,
            Kind::Uint64 | Kind::Fixed64 => Scalar::Uint64,
            Kind::Float => Scalar::Float,
            Kind::Double => Scalar::Double,
            Kind::String => Scalar::String,
            Kind::Bytes => Scalar::Bytes,
            Kind::Enum(values) => Scalar::Enum(values.values().map(|value| value.number()).collect()),
            Kind::Message(message) => Scalar::Message(self.message(&message, record)?),
        })
    }
}

/// The fields of a message, in the order of the file.
pub(super) fn in_file_order(message: &MessageDescriptor) -> Vec<FieldDescriptor> {
    let mut fields: Vec<_> = message.fields().collect();
    fields.sort_by_key(|field| field.path().last().copied());
    fields
}

fn unlike(field: &FieldDescriptor) -> Error {
    Error::new(Fault::Type, 0, format!("the record has no field {}", field.full_name()))
}
