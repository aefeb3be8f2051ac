//! Packed: encodes JSON messages in as few bits as their schema allows. [spec/packed.md](https://github.com/dunnage/dunnage/blob/main/spec/packed.md) defines the format.
//!
//! A [`Layout`] is computed once from a model. It is a tree of [`Node`]s that the encoder, the decoder, code generators and
//! reports walk in the same order. The encoder and decoder do not depend on how parts become bits: a sink or source writes
//! them as plain bits, or codes them with an adaptive model when the largest message is unbounded or above
//! [`MAX_PLAIN_BYTES`], with a series above [`MAX_SERIES_BYTES`].
//!
//! The [`tutorial`] goes from a schema to bytes, to a device, to the gateway.

mod bits;
mod canonical;
mod carries;
mod check;
mod coded;
mod date_time;
mod decode;
mod derive;
mod encode;
mod error;
mod explain;
mod fit;
mod json;
mod layout;
mod limits;
mod message;
mod modelled;
mod node;
mod notation;
mod open;
mod order;
mod path;
mod shrink;
mod size;
mod slot;
mod trace;
#[cfg(any(doc, doctest))]
pub mod tutorial;
mod wire;

pub use check::Check;
pub use coded::{
    Bin, Context, Decoded, Example, Expected, ExpectedBits, ExpectedPart, Learnt, LearntPart, Predictor,
    Receiver, Reference, Sender, Table, Tables, TrainedLeaf, TrainedLeaves, Training, Window, is_delta,
    may_refer,
};
pub use error::Error;
pub use explain::Row;
pub use fit::Fit;
pub use layout::{Layout, MAX_PLAIN_BYTES, MAX_SERIES_BYTES};
pub use node::{
    ArrayNode, FieldNode, Form, Known, MAX_INDEX, Node, Number, NumbersNode, ObjectNode, PatternPiece, Shape,
    Source, TextNode, TupleNode, is_exact, pattern_pieces,
};
pub use open::OpenPart;
pub use path::Place;
pub use shrink::{Decision, Fitted, Saving, Sizes, fitted, savings, shrunk};
pub use size::{Bits, index_bits};
pub use slot::{other_slot, with_slot};
pub use trace::Step;

#[doc(no_inline)]
pub use dunnage_pson::{Kind, Value};

/// The examples of the README are tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
