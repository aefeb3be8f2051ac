//! The register: what an operator knows of each device. The device's name, its tags, the external IDs under which messages may name it, its
//! profile, its place.
//!
//! A [`Record`] is one device. The [`Register`] holds all records in memory, where each message looks up its device; `register` of the
//! buffer keeps them on disk. [`files`] reads and writes them as CSV and NDJSON.
//!
//! An external ID belongs to one device. It may be the ID of no other registered device.

pub mod files;
mod index;
mod record;
mod tags;

pub use index::{Conflict, Edit, Filter, Register};
pub use record::{BadRecord, Record};
pub use tags::Tags;
