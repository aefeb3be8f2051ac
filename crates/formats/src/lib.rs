//! Message formats: one trait, one file per format.
//!
//! Every format turns a [`Value`] into bytes and back, keeps the limits ([`MAX_DEPTH`], [`MAX_BYTES`]) in both
//! directions, and says `type` or `range` instead of changing what it cannot hold:
//!
//! | format | cannot be written | refused when read, of what the format has |
//! |---|---|---|
//! | json | bytes, NaN, infinities | numbers whose digits neither 64 bits nor a binary64 keep |
//! | msgpack | | extension types but timestamps, keys that are not text |
//! | cbor | | tags that JSON has no text or number for, simple values but `undefined` (null), keys that are not text |
//! | bson | what is no map, integers above 2^63-1, keys with U+0000 | ObjectId, Decimal128 and the like |
//! | xml | | attributes, prefixes, processing instructions, document types |
//! | yaml | bytes | tags, aliases, keys that are not text |
//! | pson | | integers below -2^63 |
//! | senml-json, senml-cbor | everything | what RFC 8428 does not allow |
//!
//! In all of them a key that stands twice in a map and bytes after the message are `malformed`.
//!
//! The schema-driven formats hold what their schema allows. They are made from a
//! [`Model`]; see [`Id::open`].

mod avro;
mod bson;
mod cbor;
mod entries;
mod error;
mod id;
mod instant;
mod json;
mod limits;
mod msgpack;
mod number;
mod packed;
mod protobuf;
mod pson;
mod senml;
mod structure;
mod thrift;
mod xml;
mod yaml;

pub use avro::Avro;
pub use bson::Bson;
pub use cbor::Cbor;
pub use dunnage_codegen::Mapping;
pub use dunnage_pson::{Budget, Kind, Value};
pub use error::Error;
pub use id::Id;
pub use json::{Json, offset_of as json_offset};
pub use limits::{MAX_BYTES, MAX_DEPTH};
pub use msgpack::Msgpack;
pub use packed::Packed;
pub use protobuf::Protobuf;
pub use pson::Pson;
pub use senml::Senml;
pub use structure::{Struct, StructZlib};
pub use thrift::{Protocol as ThriftProtocol, Thrift};
pub use xml::Xml;
pub use yaml::Yaml;

/// How bytes are made of a message.
pub trait Format: Send + Sync {
    /// Appends the bytes of `message` to `out`. On an error, `out` is as it was.
    fn encode(&self, message: &Value, out: &mut Vec<u8>) -> Result<(), Error>;

    /// The message that `bytes` are, all of them: trailing bytes are an error. Formats may leave out what `reception` knows. A
    /// message that takes more memory than `reception` allows is a `limit` error, before it has taken it.
    fn decode_from(&self, bytes: &[u8], reception: &Reception<'_>) -> Result<Value, Error>;

    /// The same of a message of which nothing but its bytes is known, without a limit of memory.
    fn decode(&self, bytes: &[u8]) -> Result<Value, Error> {
        self.decode_from(bytes, &Reception::default())
    }

    /// Encodes `message` and says whether decoding gives the same message back.
    fn round_trip(&self, message: &Value) -> Result<RoundTrip, Error> {
        let mut bytes = Vec::new();
        self.encode(message, &mut bytes)?;
        let lossless = self.decode(&bytes).is_ok_and(|back| back == *message);
        Ok(RoundTrip { bytes, lossless })
    }
}

/// What a receiver knows of a message, and how much memory it has for it.
#[derive(Debug, Clone, Copy)]
pub struct Reception<'a> {
    /// The id of the device that sent it. Packed messages may leave it out.
    pub device: Option<&'a str>,
    /// When it arrived, in microseconds since 1970 (UTC). Times of SenML may count from there; without it they count from now.
    pub received_at: Option<i64>,
    /// How many bytes the message may take once it is decoded, as [`Budget`] counts them.
    pub memory: usize,
}

impl Default for Reception<'_> {
    /// Nothing is known, and there is no limit.
    fn default() -> Self {
        Reception { device: None, received_at: None, memory: usize::MAX }
    }
}

impl Reception<'_> {
    /// The memory for the message, of which nothing is taken yet.
    pub(crate) fn budget(&self) -> Budget {
        Budget::new(self.memory)
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
