//! Definitions for other systems, made from a [`Model`](dunnage_schema::Model): Protobuf, Avro, Thrift and CDDL. Code for both ends of a
//! packed layout: [`c`], [`ts013()`].
//!
//! Between the model and every definition stands one tree of records, [`Mapped`]: plain integers, floats, text, lists
//! and records with stable names and numbers. [`Mapped::lower`] turns a message into values of that tree, and
//! [`Mapped::raise`] turns them back; how a format writes those values is all that is left for it to say.
//! `spec/formats.md` has the rules.

mod avro;
pub mod c;
mod cddl;
mod derive;
mod error;
mod lower;
mod mapped;
mod names;
mod notes;
mod onto;
mod proto;
mod raise;
mod record;
mod rule;
mod thrift;
mod ts013;

pub use avro::avro;
pub use cddl::cddl;
pub use error::Error;
pub use mapped::{Mapped, Mapping};
pub use proto::proto;
pub use record::{Enumeration, Field, Integer, Kind, List, Record};
pub use thrift::thrift;
pub use ts013::{MAX_TS013_BYTES, ts013, ts013_examples};

/// What a definition says first.
const NUMBERING: &str = "Numbers follow the order of the schema's properties: add new ones at the end.";
