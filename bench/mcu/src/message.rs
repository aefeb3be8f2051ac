//! A payload as a C struct, and the parts of it that a table of `dn_bind.h` can hold.

use crate::{
    Failure,
    layout::{self, Node, Struct, StructKind},
    payloads::Payload,
    shape::{Floats, Shape, rounded},
};
use dunnage_pson::{Options, Value};

/// The longest key in such a table, in bytes.
const MAX_KEY: usize = 30;

/// A payload, prepared for C.
#[derive(Debug, Clone)]
pub struct Message {
    /// The payload's name.
    pub name: String,
    /// The value, with the numbers of the target.
    pub value: Value,
    /// The message in PSON, or in the encoding of a peer.
    pub bytes: Vec<u8>,
    /// Bytes of the buffer into which it is encoded.
    pub room: usize,
    /// Its struct.
    pub root: Struct,
    /// Whether it needs the library's 64-bit functions.
    pub wide: bool,
    /// The message as JSON text, its numbers as they were written.
    pub json: String,
    /// The message that the library parses from `json`. A number that is not whole becomes the nearest binary64.
    pub parsed: Vec<u8>,
    /// The text that the library prints for `bytes`.
    pub printed: String,
}

impl Message {
    /// Fails if C cannot hold the payload.
    pub fn new(payload: &Payload, floats: Floats) -> Result<Message, Failure> {
        let value = rounded(&payload.value, floats);
        let policy = match floats {
            Floats::Single => dunnage_pson::Floats::Single,
            Floats::Lossless => dunnage_pson::Floats::Lossless,
        };
        let bytes = Options::new().floats(policy).to_vec(&payload.value)?;
        let shape = Shape::of(&value)?;
        let root = layout::root(&layout::identifier(&payload.name), &shape);
        Ok(Message {
            printed: printed(&value)?,
            name: payload.name.clone(),
            value,
            room: bytes.len(),
            bytes,
            root,
            wide: shape.is_wide(),
            json: serde_json::to_string(&payload.value)?,
            parsed: Options::new().floats(dunnage_pson::Floats::Lossless).to_vec(&payload.value)?,
        })
    }

    /// The longest key that a binding has a row for, in bytes.
    pub fn longest_key(&self) -> usize {
        fn longest(node: &Node) -> usize {
            match node {
                Node::Struct(inner) => inner
                    .fields
                    .iter()
                    .filter(|field| inner.kind == StructKind::Map && is_bound(field))
                    .map(|field| field.key.len().max(longest(&field.node)))
                    .max()
                    .unwrap_or(0),
                Node::List { element, .. } => longest(element),
                _ => 0,
            }
        }
        longest(&Node::Struct(self.root.clone()))
    }
}

/// `value` as the library prints it: a binary32 in its shortest form.
fn printed(value: &Value) -> Result<String, Failure> {
    let parts = |parts: Vec<Result<String, Failure>>| {
        Ok::<_, Failure>(parts.into_iter().collect::<Result<Vec<_>, _>>()?.join(","))
    };
    Ok(match value {
        Value::F64(float) if float.fract() != 0.0 => match *float as f32 {
            single if f64::from(single) == *float => single.to_string(),
            _ => float.to_string(),
        },
        Value::F64(float) => format!("{float:.0}"),
        Value::Array(elements) => format!("[{}]", parts(elements.iter().map(printed).collect())?),
        Value::Map(entries) => {
            let entry = |(key, value): &(String, Value)| {
                Ok(format!("{}:{}", serde_json::to_string(key)?, printed(value)?))
            };
            format!("{{{}}}", parts(entries.iter().map(entry).collect())?)
        }
        other => serde_json::to_string(other)?,
    })
}

/// Whether a table can have a row for `field`.
fn is_bound(field: &layout::Field) -> bool {
    field.key.len() <= MAX_KEY && can_bind(&field.node)
}

fn can_bind(node: &Node) -> bool {
    match node {
        Node::Null => false,
        Node::Struct(inner) => inner.kind == StructKind::Map && inner.fields.iter().any(is_bound),
        Node::List { element, .. } => can_bind(element) && !matches!(**element, Node::List { .. }),
        _ => true,
    }
}

/// The fields of a map that its table has rows for.
pub fn bound(structure: &Struct) -> impl Iterator<Item = &layout::Field> {
    structure.fields.iter().filter(|field| is_bound(field))
}

/// The element of a message that is an array and can be bound; `None` for other messages.
pub fn bound_elements(root: &Struct) -> Option<&Node> {
    match (&root.kind, &root.fields[..]) {
        (StructKind::Only, [layout::Field { node: Node::List { element, .. }, .. }]) if can_bind(element) => {
            Some(element)
        }
        _ => None,
    }
}

/// Whether a struct can be filled from the message: from a map that has something to bind, or from an array of maps or of one type.
pub fn binds(message: &Message) -> bool {
    match message.root.kind {
        StructKind::Map => bound(&message.root).next().is_some(),
        _ => bound_elements(&message.root).is_some(),
    }
}
