//! Message formats: one trait, and one type per format.
//!
//! Every format turns a [`Value`] into bytes and back, and enforces the limits ([`MAX_DEPTH`], [`MAX_BYTES`]) in both directions. A format
//! never changes a value that it cannot represent: it returns an error of the kind `type` or `range`. [`Mapping::Float32`] rounds decimals.
//!
//! | format | cannot write | does not read |
//! |---|---|---|
//! | json | bytes, NaN, infinities | numbers whose digits neither 64 bits nor a binary64 keep |
//! | msgpack | | extension types except timestamps, keys that are neither text nor whole numbers |
//! | cbor | | tags without a text or number in JSON, simple values except `undefined` (null), keys that are neither text nor whole numbers |
//! | bson | anything but a map, integers above 2^63-1, keys with U+0000 | ObjectId, Decimal128 and the like |
//! | xml | | processing instructions, document types |
//! | yaml | bytes | tags, aliases, keys that are not text |
//! | pson | | integers below -2^63 |
//! | text, form | everything | bytes that are not UTF-8 |
//! | senml-json, senml-cbor | everything | anything that RFC 8428 does not allow |
//!
//! In all of them, decoding a duplicate key in a map or bytes after the message is `malformed`. An encoder may write a map that has a duplicate key.
//!
//! The schema-driven formats represent what their schema allows. They are made from a [`Model`](dunnage_schema::Model); see [`Id::open`].

#![cfg_attr(docsrs, feature(doc_cfg))]
// With only some of the formats, parts of what they share have no caller.
#![cfg_attr(not(feature = "default"), allow(dead_code))]

#[cfg(feature = "avro")]
mod avro;
#[cfg(feature = "bson")]
mod bson;
#[cfg(feature = "cbor")]
mod cbor;
#[cfg(feature = "csv")]
mod csv;
mod entries;
mod error;
mod form;
mod id;
#[cfg(any(feature = "bson", feature = "msgpack", feature = "protobuf"))]
mod instant;
#[cfg(feature = "json")]
mod json;
mod limits;
mod media_type;
#[cfg(feature = "msgpack")]
mod msgpack;
mod number;
#[cfg(feature = "packed")]
mod packed;
mod place;
#[cfg(feature = "protobuf")]
mod protobuf;
mod pson;
#[cfg(feature = "senml")]
mod senml;
#[cfg(feature = "struct")]
mod structure;
#[cfg(feature = "thrift")]
mod thrift;
#[cfg(feature = "xml")]
mod xml;
#[cfg(feature = "yaml")]
mod yaml;

#[cfg(feature = "avro")]
pub use avro::{Avro, AvroHeader};
#[cfg(feature = "bson")]
pub use bson::Bson;
#[cfg(feature = "cbor")]
pub use cbor::Cbor;
#[cfg(feature = "csv")]
pub use csv::{Csv, Row as CsvRow};
pub use dunnage_codegen::Mapping;
#[cfg(feature = "packed")]
pub use dunnage_packed::Known;
#[doc(hidden)]
pub use dunnage_pson::DUPLICATE_KEY;
pub use dunnage_pson::{Budget, Kind, Value};
pub use error::Error;
pub use form::{Form, Text};
pub use id::{Id, UnknownName};
#[cfg(feature = "json")]
pub use json::{Json, offset_of as json_offset, view as json_view};
pub use limits::{MAX_BYTES, MAX_DEPTH};
#[cfg(feature = "msgpack")]
pub use msgpack::Msgpack;
pub use number::{Altered, Numbers, shorten_binary32};
#[cfg(feature = "packed")]
pub use packed::Packed;
pub use place::line_and_column;
#[cfg(feature = "protobuf")]
pub use protobuf::{Definition, Outline, OutlineField, OutlineKind, Protobuf};
pub use pson::Pson;
#[cfg(feature = "senml")]
pub use senml::Senml;
#[cfg(feature = "struct")]
pub use structure::{Struct, StructZlib};
#[cfg(feature = "thrift")]
pub use thrift::{Protocol as ThriftProtocol, Thrift};
#[cfg(feature = "xml")]
pub use xml::Xml;
#[cfg(feature = "yaml")]
pub use yaml::Yaml;

/// Encodes and decodes messages in one format.
pub trait Format: Send + Sync {
    /// Appends the encoding of `message` to `out`. On an error, `out` is unchanged.
    ///
    /// # Errors
    /// `type` or `range` for a value that the format or its schema does not have, `limit` for a message that is nested too deeply or too
    /// long. The error has the JSON pointer of the value where it is known, and no offset.
    fn encode(&self, message: &Value, out: &mut Vec<u8>) -> Result<(), Error>;

    /// Decodes the message in `bytes`; trailing bytes are an error. A message may omit values that `reception` supplies. A message that needs more
    /// memory than `reception` allows is a `limit` error, which is returned before the memory is allocated.
    ///
    /// # Errors
    /// `truncated` or `malformed` bytes, a `range` error of the schema, and `limit`. The error has the offset of the fault, or the pointer of
    /// the value.
    fn decode_from(&self, bytes: &[u8], reception: &Reception<'_>) -> Result<Value, Error>;

    /// Decodes a message without any [`Reception`]: nothing is known about it, and its memory is not limited.
    ///
    /// # Errors
    /// As those of [`Format::decode_from`].
    fn decode(&self, bytes: &[u8]) -> Result<Value, Error> {
        self.decode_from(bytes, &Reception::default())
    }

    /// Encodes `message` and reports whether decoding returns the same message.
    ///
    /// # Errors
    /// Those of [`Format::encode`]. Bytes that do not decode are not an error.
    ///
    /// ```
    /// use dunnage_formats::{Format, Json, Value};
    /// let trip = Json.round_trip(&Value::F64(0.1))?;
    /// assert_eq!((trip.bytes.as_slice(), trip.lossless), (b"0.1".as_slice(), true));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    fn round_trip(&self, message: &Value) -> Result<RoundTrip, Error> {
        let mut bytes = Vec::new();
        self.encode(message, &mut bytes)?;
        let lossless = self.decode(&bytes).is_ok_and(|back| back == *message);
        Ok(RoundTrip { bytes, lossless })
    }
}

/// The receiver's knowledge about a message, and the memory that it allows.
///
/// ```
/// use dunnage_formats::{Format, Json, Kind, Reception};
///
/// let small = Reception { memory: 1000, ..Reception::default() };
/// let text = format!("[{}0]", "0,".repeat(1000)); // 2 KiB of text, 1001 values
/// let error = Json.decode_from(text.as_bytes(), &small).unwrap_err();
/// assert_eq!(error.kind(), Kind::Limit);
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Reception<'a> {
    /// What is known about the device that sent it. Packed messages may omit that.
    #[cfg(feature = "packed")]
    pub known: Known<'a>,
    /// When it arrived, in microseconds since 1970 (UTC). Relative times of SenML count from then, or from now if it is `None`.
    pub received_at: Option<i64>,
    /// How many bytes the decoded message may use, as [`Budget`] counts them.
    pub memory: usize,
    /// The treatment of numbers in text that no value holds exactly.
    pub numbers: Numbers<'a>,
}

impl Default for Reception<'_> {
    /// Nothing is known about the message, its memory is not limited, and its numbers are exact.
    fn default() -> Self {
        Reception {
            #[cfg(feature = "packed")]
            known: Known::default(),
            received_at: None,
            memory: usize::MAX,
            numbers: Numbers::Exact,
        }
    }
}

impl Reception<'_> {
    /// Returns the message's memory as a fresh budget.
    pub(crate) fn budget(&self) -> Budget {
        Budget::new(self.memory)
    }
}

/// The result of encoding and decoding a message.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct RoundTrip {
    /// The encoded message.
    pub bytes: Vec<u8>,
    /// Whether decoding returned the same message, with its keys in the same order.
    pub lossless: bool,
}

/// The examples of the README are tests.
#[cfg(all(doctest, feature = "default"))]
#[doc = include_str!("../README.md")]
struct Readme;
