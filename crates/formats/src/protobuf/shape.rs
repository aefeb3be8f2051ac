//! The content of a message descriptor, prepared for reading and writing without querying it again.

use crate::{Error, Kind, Value};
use dunnage_codegen::{FieldType, Record};
use prost_reflect::prost::encoding::WireType;
use prost_reflect::{FieldDescriptor, Kind as WireKind, MessageDescriptor, Value as Wire};
use std::collections::HashMap;

/// The message types that occur in a message. The first is the message itself.
#[derive(Debug, Clone)]
pub(super) struct Shapes {
    messages: Vec<MessageShape>,
    has_maps: bool,
}

#[derive(Debug, Clone)]
pub(super) struct MessageShape {
    pub descriptor: MessageDescriptor,
    /// The fields in the order of the file, which is also the order in the tree's records.
    pub fields: Vec<FieldShape>,
}

#[derive(Debug, Clone)]
pub(super) struct FieldShape {
    pub descriptor: FieldDescriptor,
    pub kind: Scalar,
    pub form: Form,
    /// Whether an absent field has no value. If not, an absent field has the default of its type.
    pub optional: bool,
    pub number: u32,
    pub wire_kind: WireKind,
    /// The wire type of a single element.
    pub wire_type: WireType,
    /// The value of the field if it is not on the wire. For a nested message, the reader builds it.
    pub initial: Value,
    /// The indices of the fields that this one clears: the others of its `oneof`.
    pub rivals: Vec<usize>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    One,
    List,
    Map,
}

/// The type of one element of a field.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Scalar {
    Bool,
    /// An integer type of 32 or 64 bits, signed or unsigned.
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
    /// Surveys `root` and all messages that it contains. `record`, if given, has a field for each field of the descriptor.
    pub(super) fn of(root: &MessageDescriptor, record: Option<&Record>) -> Result<Self, Error> {
        let mut survey = Survey::default();
        survey.message(root, record)?;
        let messages: Vec<_> = survey.messages.into_iter().flatten().collect();
        let has_maps = messages.iter().any(|m: &MessageShape| m.fields.iter().any(|f| f.form == Form::Map));
        Ok(Shapes { messages, has_maps })
    }

    /// Returns whether a map occurs anywhere in the message.
    pub(super) fn has_maps(&self) -> bool {
        self.has_maps
    }

    pub(super) fn root(&self) -> &MessageShape {
        self.message(0)
    }

    /// Returns the message type at an index from [`Scalar::Message`].
    pub(super) fn message(&self, index: usize) -> &MessageShape {
        &self.messages[index]
    }
}

impl MessageShape {
    /// Returns the index of the field with that number. Fields usually come in order, so `guess` is tried first.
    pub(super) fn find(&self, number: u32, guess: usize) -> Option<usize> {
        match self.fields.get(guess) {
            Some(field) if field.number == number => Some(guess),
            _ => self.fields.iter().position(|field| field.number == number),
        }
    }
}

#[derive(Default)]
struct Survey {
    /// An element is `None` while its fields are being surveyed.
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
        let in_order = in_file_order(descriptor);
        for (at, field) in in_order.iter().enumerate() {
            let known = match record {
                None => None,
                Some(record) => Some(record.fields.get(at).ok_or_else(|| unlike(field))?),
            };
            let form = match () {
                () if field.is_map() => Form::Map,
                () if field.is_list() => Form::List,
                () => Form::One,
            };
            let nested = match known.map(|field| field.kind.element()) {
                Some(FieldType::Record(inner)) => Some(inner),
                _ => None,
            };
            let kind = self.scalar(field, nested)?;
            let optional = known.map_or(field.supports_presence(), |known| known.optional);
            let initial = initial(field, &kind, form, optional)?;
            let (number, wire_kind) = (field.number(), field.kind());
            let wire_type = wire_kind.wire_type();
            let rivals = rivals(field, &in_order);
            let descriptor = field.clone();
            fields.push(FieldShape {
                descriptor,
                kind,
                form,
                optional,
                number,
                wire_kind,
                wire_type,
                initial,
                rivals,
            });
        }
        self.messages[index] = Some(MessageShape { descriptor: descriptor.clone(), fields });
        Ok(index)
    }

    fn scalar(&mut self, field: &FieldDescriptor, record: Option<&Record>) -> Result<Scalar, Error> {
        if field.is_group() {
            return Err(Error::new(
                Kind::Type,
                0,
                format!("{}: groups are not supported", field.full_name()),
            ));
        }
        Ok(match field.kind() {
            WireKind::Bool => Scalar::Bool,
            WireKind::Int32 | WireKind::Sint32 | WireKind::Sfixed32 => Scalar::Int32,
            WireKind::Int64 | WireKind::Sint64 | WireKind::Sfixed64 => Scalar::Int64,
            WireKind::Uint32 | WireKind::Fixed32 => Scalar::Uint32,
            WireKind::Uint64 | WireKind::Fixed64 => Scalar::Uint64,
            WireKind::Float => Scalar::Float,
            WireKind::Double => Scalar::Double,
            WireKind::String => Scalar::String,
            WireKind::Bytes => Scalar::Bytes,
            WireKind::Enum(values) => Scalar::Enum(values.values().map(|value| value.number()).collect()),
            WireKind::Message(message) => Scalar::Message(self.message(&message, record)?),
        })
    }
}

/// Returns the fields of a message in the order of the file.
pub(super) fn in_file_order(message: &MessageDescriptor) -> Vec<FieldDescriptor> {
    let mut fields: Vec<_> = message.fields().collect();
    fields.sort_by_key(|field| field.path().last().copied());
    fields
}

fn initial(field: &FieldDescriptor, kind: &Scalar, form: Form, optional: bool) -> Result<Value, Error> {
    Ok(match (form, kind, field.default_value()) {
        _ if optional => Value::Null,
        (Form::List, ..) => Value::Array(Vec::new()),
        (Form::Map, ..) => Value::Map(Vec::new()),
        (Form::One, Scalar::Message(_), _) => Value::Null,
        (_, _, Wire::Bool(b)) => Value::Bool(b),
        (_, _, Wire::I32(n)) => Value::from(i64::from(n)),
        (_, _, Wire::I64(n)) => Value::from(n),
        (_, _, Wire::U32(n)) => Value::U64(u64::from(n)),
        (_, _, Wire::U64(n)) => Value::U64(n),
        (_, _, Wire::F32(f)) => Value::F64(f64::from(f)),
        (_, _, Wire::F64(f)) => Value::F64(f),
        (_, _, Wire::String(text)) => Value::Text(text),
        (_, _, Wire::Bytes(bytes)) => Value::Bytes(bytes.into()),
        (_, Scalar::Enum(numbers), Wire::EnumNumber(number)) => {
            let index = numbers.iter().position(|n| *n == number).ok_or_else(|| unlike(field))?;
            Value::U64(index as u64)
        }
        _ => return Err(unlike(field)),
    })
}

/// Returns the indices of the other fields of a `oneof`.
fn rivals(field: &FieldDescriptor, all: &[FieldDescriptor]) -> Vec<usize> {
    let Some(oneof) = field.containing_oneof() else { return Vec::new() };
    let is_rival =
        |other: &FieldDescriptor| other != field && other.containing_oneof().as_ref() == Some(&oneof);
    all.iter().enumerate().filter(|(_, other)| is_rival(other)).map(|(at, _)| at).collect()
}

fn unlike(field: &FieldDescriptor) -> Error {
    Error::new(Kind::Type, 0, format!("the record has no field {}", field.full_name()))
}
