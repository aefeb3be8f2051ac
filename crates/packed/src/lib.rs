//! Packed: JSON messages in the fewest bits that their schema leaves. `spec/packed.md` is the format.
//!
//! A [`Layout`] is made once from a model; it is a tree of [`Node`]s that codecs, generators and reports walk.

mod derive;
#[allow(dead_code)]
mod error;
mod node;
mod open;
mod size;
#[allow(dead_code)]
mod wire;

pub use error::Error;
pub use node::*;
pub use open::OpenPart;
pub use size::Bits;

use dunnage_schema::Model;

/// The largest message of a plain layout in bytes, slot byte included; larger ones are modelled.
pub const MAX_PLAIN_BYTES: u64 = 1024;

/// The bits of a schema's messages.
#[derive(Debug, Clone)]
pub struct Layout {
    model: Model,
    root: Node,
    definitions: Vec<Node>,
}

impl Layout {
    /// The layout of the messages of `model`.
    pub fn new(model: &Model) -> Layout {
        let (root, definitions) = derive::derive(model);
        Layout { model: model.clone(), root, definitions }
    }

    /// The schema's name, for generated code.
    pub fn name(&self) -> &str {
        &self.model.name
    }

    /// The slot byte of its messages: 1 to 63.
    pub fn slot(&self) -> u8 {
        self.model.slot
    }

    /// The tree of the message.
    pub fn root(&self) -> &Node {
        &self.root
    }

    /// The trees that [`Shape::Definition`] stands for.
    pub fn definitions(&self) -> &[Node] {
        &self.definitions
    }

    /// The schema it was made from.
    pub fn model(&self) -> &Model {
        &self.model
    }

    /// Bytes of the smallest plain message, slot byte included.
    pub fn min_bytes(&self) -> u64 {
        1 + self.root.bits().min.div_ceil(8)
    }

    /// Bytes of the largest message, slot byte included; `None` where there is no bound, and for modelled layouts.
    pub fn max_bytes(&self) -> Option<u64> {
        let bytes = 1 + self.root.bits().max?.div_ceil(8);
        (bytes <= MAX_PLAIN_BYTES).then_some(bytes)
    }

    /// Whether its messages are plain bits; those of the others are modelled.
    pub fn is_plain(&self) -> bool {
        self.max_bytes().is_some()
    }
}
