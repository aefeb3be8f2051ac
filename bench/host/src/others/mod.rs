//! Formats that the project does not read or write, each through a library of crates.io, on the messages of the corpus.
//!
//! Formats without a schema write the message as it is. Formats with a schema write the record that `dunnage_codegen::Mapped` derives from
//! it, as the project's Protobuf, Avro and Thrift do: decimals and texts that hold numbers are integers, and a union of types is PSON in bytes.

mod cayenne;
mod cbor_keys;
mod documents;
mod flatbuffers;
mod ion;
mod postcard;
mod probes;
pub mod records;
mod uper;

pub use cayenne::Cayenne;
pub use cbor_keys::CborKeys;
pub use documents::{Flexbuffers, Smile};
pub use flatbuffers::{Flatbuffers, Slot, root, slot, stride};
pub use ion::Ion;
pub use postcard::Postcard;
pub use probes::{Probed, probed};
pub use uper::Uper;

use dunnage_formats::{Error, Format, Kind, Value};
use dunnage_schema::Model;
use records::Records;
use std::fmt::Display;

/// A format with the library that writes and reads it.
pub struct Other {
    /// The format's name in records.
    pub format: &'static str,
    /// The crate of the library.
    pub library: &'static str,
    /// How the message becomes bytes.
    pub note: String,
    /// The codec for the messages of one schema.
    pub codec: Box<dyn Format>,
}

/// Returns every other format for the messages of `model`.
pub fn others(model: &Model) -> Vec<Other> {
    let other = |format, library, note: &str, codec| Other { format, library, note: note.to_owned(), codec };
    let pson = if records::has_pson(model) { format!("; {}", records::AS_PSON) } else { String::new() };
    let by_record = |format, library, note, codec| other(format, library, &format!("{note}{pson}"), codec);
    vec![
        other("cbor-keys", "minicbor", cbor_keys::NOTE, Box::new(CborKeys::new(model))),
        other("flexbuffers", "flexbuffers", documents::FLEXBUFFERS_NOTE, Box::new(Flexbuffers)),
        other("smile", "serde-smile", documents::SMILE_NOTE, Box::new(Smile)),
        other("ion", "ion-rs", ion::NOTE, Box::new(Ion)),
        by_record("postcard", "postcard", postcard::NOTE, Box::new(Records::new(model, Postcard))),
        by_record("uper", "rasn", uper::NOTE, Box::new(Records::new(model, Uper))),
        by_record(
            "flatbuffers",
            "flatbuffers",
            flatbuffers::NOTE,
            Box::new(Records::new(model, Flatbuffers)),
        ),
        other("cayenne-lpp", "cayenne_lpp", cayenne::NOTE, Box::new(Cayenne::new(model))),
    ]
}

/// Encodes `message`, decodes it, and returns its bytes.
///
/// # Errors
/// The format cannot carry the message, or does not return the same one. The order of the keys of a map does not count: JSON gives it no
/// meaning, and FlexBuffers sorts the keys.
pub fn round_trip(codec: &dyn Format, message: &Value) -> Result<Vec<u8>, Error> {
    let mut bytes = Vec::new();
    codec.encode(message, &mut bytes)?;
    let back = codec.decode(&bytes)?;
    match difference(message, &back) {
        None => Ok(bytes),
        Some(pointer) => Err(Error::of_value(Kind::Range, &pointer, "comes back as another value")),
    }
}

/// Returns the JSON pointer of the first value of `sent` that `received` does not have.
fn difference(sent: &Value, received: &Value) -> Option<String> {
    let inside = |step: &str, pointer: String| format!("/{step}{pointer}");
    match (sent, received) {
        (Value::Map(a), Value::Map(b)) if a.len() == b.len() => a.iter().find_map(|(key, value)| {
            let pointer = match received.get(key) {
                Some(other) => difference(value, other),
                None => Some(String::new()),
            };
            pointer.map(|pointer| inside(key, pointer))
        }),
        (Value::Array(a), Value::Array(b)) if a.len() == b.len() => a
            .iter()
            .zip(b)
            .enumerate()
            .find_map(|(at, (a, b))| difference(a, b).map(|pointer| inside(&at.to_string(), pointer))),
        _ => (sent != received).then(String::new),
    }
}

/// The error of a library that reports no kind and no offset.
#[allow(clippy::needless_pass_by_value)] // `map_err` needs this signature
fn failed(error: impl Display) -> Error {
    Error::new(Kind::Malformed, 0, error.to_string())
}

/// A value that the format or its definition does not have.
fn unfit(reason: &str) -> Error {
    Error::of_value(Kind::Type, "", reason)
}

#[cfg(test)]
mod tests;
