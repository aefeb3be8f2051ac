//! Generates definitions for other systems from a [`Model`](dunnage_schema::Model): Protobuf, Avro, Thrift and CDDL, and
//! tables of PostgreSQL ([`sql`]) with their dashboards of Grafana ([`grafana()`]). Also generates code for both ends of a packed layout: [`c`], [`ts013()`].
//!
//! The Protobuf, Avro and Thrift definitions are written from one tree of records, [`Mapped`]: plain integers, floats, text, lists and
//! records with stable names and numbers. [`Mapped::to_record`] converts a message to values of that tree, and [`Mapped::to_message`] converts them
//! back, so a format only has to write those values. [spec/formats.md](https://github.com/dunnage/dunnage/blob/main/spec/formats.md) has the rules.

#![cfg_attr(docsrs, feature(doc_cfg))]

mod avro;
mod bind;
#[cfg(feature = "packed")]
pub mod c;
mod cddl;
mod derive;
mod error;
mod grafana;
mod mapped;
mod names;
mod notes;
mod proto;
mod record;
mod rule;
pub mod sql;
mod thrift;
mod to_message;
mod to_record;
#[cfg(feature = "packed")]
mod ts013;

pub use avro::avro;
pub use cddl::cddl;
pub use error::Error;
pub use grafana::grafana;
pub use mapped::{Mapped, Mapping};
pub use proto::proto;
pub use record::{Enumeration, Field, FieldType, Integer, List, Record};
pub use thrift::thrift;
#[cfg(feature = "packed")]
pub use ts013::{MAX_TS013_BYTES, ts013, ts013_examples};

/// The first line of a definition.
const NUMBERING: &str = "Numbers follow the order of the schema's properties: add new ones at the end.";

/// The examples of the README are tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
