//! Message formats: one trait, one file per format.
//!
//! Every format turns a [`Value`] into bytes and back. The schema-driven ones are made from a
//! [`Model`]; see [`Id::open`].

mod avro;
mod bson;
mod cbor;
mod entries;
mod error;
mod id;
mod json;
mod limits;
mod msgpack;
mod number;
mod pson;
mod xml;
mod yaml;

pub use bson::Bson;
mod protobuf;
mod structure;
mod thrift;

pub use avro::Avro;
pub use cbor::Cbor;
pub use dunnage_codegen::Mapping;
pub use dunnage_pson::{Kind, Value};
pub use error::Error;
pub use id::Id;
pub use json::Json;
pub use limits::{MAX_BYTES, MAX_DEPTH};
pub use msgpack::Msgpack;
pub use protobuf::Protobuf;
pub use pson::Pson;
pub use structure::{Struct, StructZlib};
pub use thrift::{Protocol as ThriftProtocol, Thrift};
pub use xml::Xml;
pub use yaml::Yaml;

/// How bytes are made of a message.
pub trait Format: Send + Sync {
    /// Appends the bytes of `message` to `out`. On an error, `out` is as it was.
    fn encode(&self, message: &Value, out: &mut Vec<u8>) -> Result<(), Error>;

    /// The message that `bytes` are, all of them: trailing bytes are an error.
    fn decode(&self, bytes: &[u8]) -> Result<Value, Error>;

    /// Encodes `message` and says whether decoding gives the same message back.
    fn round_trip(&self, message: &Value) -> Result<RoundTrip, Error> {
        let mut bytes = Vec::new();
        self.encode(message, &mut bytes)?;
        let lossless = self.decode(&bytes).is_ok_and(|back| back == *message);
        Ok(RoundTrip { bytes, lossless })
    }
}

/// What became of a message that was encoded and decoded.
#[derive(Debug, Clone)]
pub struct RoundTrip {
    /// The encoded message.
    pub bytes: Vec<u8>,
    /// Whether decoding gave the same message, keys in order.
    pub lossless: bool,
}
