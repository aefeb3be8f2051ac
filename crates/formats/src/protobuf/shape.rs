//! The content of a message descriptor, prepared for reading and writing without querying it again.

use super::known::Known;
use crate::{Error, Kind, Value};
use dunnage_codegen::{FieldType, Record};
use prost_reflect::prost::encoding::WireType;
use prost_reflect::{
    Cardinality, EnumDescriptor, ExtensionDescriptor, FieldDescriptor, Kind as WireKind, MessageDescriptor,
    Value as Wire,
};
use std::collections::HashMap;

/// The message types that occur in a message. The first is the message itself.
#[derive(Debug, Clone)]
pub(super) struct Shapes {
    messages: Vec<MessageShape>,
    has_maps: bool,
    /// Whether an enumeration may have a number without a name. In the tree, that is a float, and a name its index.
    pub any_number: bool,
}

#[derive(Debug, Clone)]
pub(super) struct MessageShape {
    pub descriptor: MessageDescriptor,
    /// The fields in the order of the file, which is also the order in the tree's records.
    pub fields: Vec<FieldShape>,
    /// The type that Protobuf's JSON has for the message, if it is a well-known one.
    pub known: Option<Known>,
}

#[derive(Debug, Clone)]
pub(super) struct FieldShape {
    pub descriptor: Descriptor,
    /// The key in a message without a schema: the explicit `json_name` if the file gives one, else the name.
    pub name: String,
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

/// A field, or an extension of its message.
#[derive(Debug, Clone)]
pub(super) enum Descriptor {
    Field(FieldDescriptor),
    Extension(ExtensionDescriptor),
}

impl Descriptor {
    /// Returns whether the field has this key in a message.
    pub(super) fn is_named(&self, key: &str) -> bool {
        match self {
            Descriptor::Field(field) => field.name() == key || field.json_name() == key,
            Descriptor::Extension(extension) => extension.json_name() == key,
        }
    }

    pub(super) fn name(&self) -> &str {
        match self {
            Descriptor::Field(field) => field.name(),
            Descriptor::Extension(extension) => extension.full_name(),
        }
    }

    pub(super) fn kind(&self) -> WireKind {
        match self {
            Descriptor::Field(field) => field.kind(),
            Descriptor::Extension(extension) => extension.kind(),
        }
    }

    fn key(&self) -> String {
        match self {
            Descriptor::Field(field) => {
                let derived = field.json_name().eq_ignore_ascii_case(&field.name().replace('_', ""));
                if derived { field.name() } else { field.json_name() }.to_owned()
            }
            Descriptor::Extension(extension) => extension.json_name().to_owned(),
        }
    }

    fn number(&self) -> u32 {
        match self {
            Descriptor::Field(field) => field.number(),
            Descriptor::Extension(extension) => extension.number(),
        }
    }

    fn form(&self) -> Form {
        let (is_map, is_list) = match self {
            Descriptor::Field(field) => (field.is_map(), field.is_list()),
            Descriptor::Extension(extension) => (extension.is_map(), extension.is_list()),
        };
        match () {
            () if is_map => Form::Map,
            () if is_list => Form::List,
            () => Form::One,
        }
    }

    fn is_group(&self) -> bool {
        match self {
            Descriptor::Field(field) => field.is_group(),
            Descriptor::Extension(extension) => extension.is_group(),
        }
    }

    /// Returns whether a message must have the field (proto2).
    pub(super) fn is_required(&self) -> bool {
        matches!(self, Descriptor::Field(field) if field.cardinality() == Cardinality::Required)
    }

    fn supports_presence(&self) -> bool {
        match self {
            Descriptor::Field(field) => field.supports_presence(),
            Descriptor::Extension(extension) => extension.supports_presence(),
        }
    }

    fn default_value(&self) -> Wire {
        match self {
            Descriptor::Field(field) => field.default_value(),
            Descriptor::Extension(extension) => extension.default_value(),
        }
    }
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
    /// The numbers and names of the values, in the order of the file. The first of several names of a number is the one that is read.
    Enum(Vec<(i32, String)>),
    /// The index of a message type.
    Message(usize),
}

impl FieldShape {
    /// Whether the field's only value is null, which Protobuf's JSON has for it.
    pub(super) fn is_null_value(&self) -> bool {
        matches!(&self.wire_kind, WireKind::Enum(values) if values.full_name() == "google.protobuf.NullValue")
    }
}

impl Shapes {
    /// Surveys `root` and all messages that it contains. `record`, if given, has a field for each field of the descriptor.
    pub(super) fn of(root: &MessageDescriptor, record: Option<&Record>) -> Result<Self, Error> {
        let mut survey = Survey::default();
        survey.message(root, record)?;
        let messages: Vec<_> = survey.messages.into_iter().flatten().collect();
        let has_maps = messages.iter().any(|m: &MessageShape| m.fields.iter().any(|f| f.form == Form::Map));
        Ok(Shapes { messages, has_maps, any_number: record.is_none() })
    }

    /// Returns whether a map occurs anywhere in the message.
    pub(super) fn has_maps(&self) -> bool {
        self.has_maps
    }

    pub(super) fn all(&self) -> impl Iterator<Item = &MessageShape> {
        self.messages.iter()
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
        // A record has the fields of its schema, so no extensions.
        let extensions = descriptor.extensions().filter(|_| record.is_none()).map(Descriptor::Extension);
        let all = in_order.iter().cloned().map(Descriptor::Field).chain(extensions);
        for (at, field) in all.enumerate() {
            let field = &field;
            let known = match record {
                None => None,
                Some(record) => Some(record.fields.get(at).ok_or_else(|| unlike(field))?),
            };
            let form = field.form();
            let nested = match known.map(|field| field.kind.element()) {
                Some(FieldType::Record(inner)) => Some(inner),
                _ => None,
            };
            let kind = self.scalar(field, nested)?;
            // An entry of a map always has a key and a value, even in proto2.
            let has_presence = field.supports_presence() && !descriptor.is_map_entry();
            let optional = known.map_or(has_presence, |known| known.optional);
            let initial = initial(field, &kind, form, optional)?;
            let (number, wire_kind) = (field.number(), field.kind());
            let wire_type = match field.is_group() {
                true => WireType::StartGroup,
                false => wire_kind.wire_type(),
            };
            let rivals = match field {
                Descriptor::Field(field) => rivals(field, &in_order),
                Descriptor::Extension(_) => Vec::new(),
            };
            fields.push(FieldShape {
                descriptor: field.clone(),
                name: field.key(),
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
        self.messages[index] = Some(MessageShape {
            descriptor: descriptor.clone(),
            fields,
            known: Known::named(descriptor.full_name()),
        });
        Ok(index)
    }

    fn scalar(&mut self, field: &Descriptor, record: Option<&Record>) -> Result<Scalar, Error> {
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
            WireKind::Enum(values) => Scalar::Enum(values_in_file_order(&values)),
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

/// Returns the numbers and names of an enumeration in the order of the file.
pub(super) fn values_in_file_order(of: &EnumDescriptor) -> Vec<(i32, String)> {
    let mut values: Vec<_> = of.values().collect();
    values.sort_by_key(|value| value.path().last().copied());
    values.iter().map(|value| (value.number(), value.name().to_owned())).collect()
}

fn initial(field: &Descriptor, kind: &Scalar, form: Form, optional: bool) -> Result<Value, Error> {
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
        (_, Scalar::Enum(values), Wire::EnumNumber(number)) => {
            let index = values.iter().position(|(n, _)| *n == number).ok_or_else(|| unlike(field))?;
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

fn unlike(field: &Descriptor) -> Error {
    Error::new(Kind::Type, 0, format!("the record has no field {}", field.name()))
}
