//! Packed: JSON messages in the fewest bits that their schema leaves. `spec/packed.md` is the format.
//!
//! A [`Layout`] is made once from a model; it is a tree of [`Node`]s that codecs, generators and reports walk.

mod any;
mod bits;
mod canonical;
mod carries;
mod check;
mod checks;
mod decode;
mod derive;
mod encode;
mod error;
mod explain;
mod float;
mod json;
mod layout;
mod limits;
mod modelled;
mod moment;
mod node;
mod notation;
mod number;
mod open;
mod order;
mod pattern;
mod size;
mod trace;
mod wire;

pub use check::Check;
pub use error::Error;
pub use explain::Row;
pub use layout::{Layout, MAX_PLAIN_BYTES};
pub use node::*;
pub use open::OpenPart;
pub use size::Bits;
pub use trace::Step;

#[doc(no_inline)]
pub use dunnage_pson::{Kind, Value};
