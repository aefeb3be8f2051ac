//! The fields of a user's definition and how they are on the wire, for people who look at the bytes of a message.

use super::compile::Definition;
use super::shape::{FieldShape, Form, Scalar, Shapes};
use crate::Error;
use prost_reflect::Kind as Wire;
use prost_reflect::prost::encoding::WireType;

/// The messages of a definition; the first is the message itself.
#[derive(Debug, Clone)]
pub struct Outline(Vec<Vec<OutlineField>>);

/// A field.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct OutlineField {
    /// Its number.
    pub number: u32,
    /// Its name.
    pub name: String,
    /// The wire type of its numbers if they may be packed.
    pub packed: Option<u64>,
    /// Its content.
    pub kind: OutlineKind,
}

/// The content of a field on the wire.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum OutlineKind {
    /// A varint that is true or false.
    Bool,
    /// A varint in two's complement.
    Signed,
    /// A varint.
    Unsigned,
    /// A varint with the sign in its lowest bit.
    Zigzag,
    /// 4 or 8 bytes with a number that may be negative.
    SignedFixed,
    /// 4 or 8 bytes with a number that is not negative.
    UnsignedFixed,
    /// binary32 or binary64.
    Float,
    /// Text.
    Text,
    /// Bytes.
    Bytes,
    /// A varint with the number of one of these names.
    Enum(Vec<(i32, String)>),
    /// The message with this index.
    Message(usize),
}

impl Definition {
    /// Returns the fields of the message and of all that it holds.
    ///
    /// # Errors
    /// `type`: the definition has a field that Protobuf's JSON cannot represent.
    pub fn outline(&self) -> Result<Outline, Error> {
        let shapes = Shapes::of(&self.0, None)?;
        Ok(Outline(shapes.all().map(|shape| shape.fields.iter().map(field).collect()).collect()))
    }
}

impl Outline {
    /// Returns the field with a number in the message with an index.
    pub fn find(&self, message: usize, number: u32) -> Option<&OutlineField> {
        self.0.get(message)?.iter().find(|field| field.number == number)
    }
}

fn field(field: &FieldShape) -> OutlineField {
    let kind = match (&field.wire_kind, &field.kind) {
        (_, Scalar::Message(index)) => OutlineKind::Message(*index),
        (_, Scalar::Enum(values)) => OutlineKind::Enum(values.clone()),
        (Wire::Bool, _) => OutlineKind::Bool,
        (Wire::Int32 | Wire::Int64, _) => OutlineKind::Signed,
        (Wire::Uint32 | Wire::Uint64, _) => OutlineKind::Unsigned,
        (Wire::Sint32 | Wire::Sint64, _) => OutlineKind::Zigzag,
        (Wire::Sfixed32 | Wire::Sfixed64, _) => OutlineKind::SignedFixed,
        (Wire::Fixed32 | Wire::Fixed64, _) => OutlineKind::UnsignedFixed,
        (Wire::Float | Wire::Double, _) => OutlineKind::Float,
        (Wire::String, _) => OutlineKind::Text,
        _ => OutlineKind::Bytes,
    };
    let name = field.descriptor.name().to_owned();
    let is_number = !matches!(field.wire_type, WireType::LengthDelimited | WireType::StartGroup);
    let is_list = field.form == Form::List && is_number;
    OutlineField { number: field.number, name, packed: is_list.then_some(field.wire_type as u64), kind }
}
