//! Apache Thrift: one struct in TBinaryProtocol or TCompactProtocol, without a message envelope.
//!
//! The fields are those of the record that `dunnage_codegen::thrift` writes as an interface definition.

mod reader;
mod writer;

use crate::{Budget, Error, Format, Kind, MAX_DEPTH, Mapping, Reception, Value, limits};
use dunnage_codegen::{FieldType, Mapped, Record};
use dunnage_schema::Model;
use std::io::Cursor;
use thrift::protocol::{
    TBinaryInputProtocol, TBinaryOutputProtocol, TCompactInputProtocol, TCompactOutputProtocol,
    TInputProtocol, TType,
};
use thrift::{ProtocolErrorKind, TConfiguration};

/// Apache Thrift.
///
/// ```
/// # use dunnage_formats::{Format, Kind, Mapping, Value, Thrift, ThriftProtocol};
/// # use dunnage_schema::Model;
/// let model = Model::compile(r#"{
///     "type": "object",
///     "properties": {"celsius": {"type": "number", "multipleOf": 0.01, "minimum": -40, "maximum": 85}},
///     "required": ["celsius"],
///     "additionalProperties": false
/// }"#)?;
/// let message = Value::Map(vec![("celsius".into(), Value::F64(23.5))]);
/// let mut bytes = Vec::new();
/// Thrift::new(&model, ThriftProtocol::Compact)?.encode(&message, &mut bytes)?;
/// assert_eq!(bytes, [0x14, 0xdc, 0x24, 0x00]); // field 1, an i16, and the end of the struct
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Thrift {
    mapped: Mapped,
    protocol: Protocol,
}

/// The wire protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Protocol {
    /// TBinaryProtocol
    Binary,
    /// TCompactProtocol
    Compact,
}

impl Thrift {
    /// Derives the struct from `model`.
    ///
    /// # Errors
    /// `type`: a record of the model has more fields than Thrift can number.
    pub fn new(model: &Model, protocol: Protocol) -> Result<Self, Error> {
        let mapped = Mapped::of(model, Mapping::Exact);
        if mapped
            .record()
            .with_nested()
            .iter()
            .any(|record| record.fields.iter().any(|f| i16::try_from(f.number).is_err()))
        {
            return Err(Error::new(Kind::Limit, 0, "more fields than Thrift can number"));
        }
        Ok(Thrift { mapped, protocol })
    }
}

impl Format for Thrift {
    fn encode(&self, message: &Value, out: &mut Vec<u8>) -> Result<(), Error> {
        let tree = self.mapped.to_record(message)?;
        let record = self.mapped.record();
        limits::bounded(out, |out| match self.protocol {
            Protocol::Binary => writer::write(record, &tree, &mut TBinaryOutputProtocol::new(out, true)),
            Protocol::Compact => writer::write(record, &tree, &mut TCompactOutputProtocol::new(out)),
        })
    }

    fn decode_from(&self, bytes: &[u8], reception: &Reception<'_>) -> Result<Value, Error> {
        limits::check_size(bytes)?;
        let mut cursor = Cursor::new(bytes);
        let limits = bounds(bytes)?;
        let (record, budget) = (self.mapped.record(), reception.budget());
        let tree = match self.protocol {
            Protocol::Binary => {
                read(record, &mut TBinaryInputProtocol::with_config(&mut cursor, true, limits), &budget)
            }
            Protocol::Compact => {
                read(record, &mut TCompactInputProtocol::with_config(&mut cursor, limits), &budget)
            }
        };
        let at = usize::try_from(cursor.position()).unwrap_or(bytes.len());
        let tree = tree.map_err(|fault| located(fault, at, bytes))?;
        if at < bytes.len() {
            return Err(Error::new(Kind::Malformed, at, "bytes after the message"));
        }
        Ok(self.mapped.to_message_within(tree, &budget)?)
    }
}

/// Limits texts and lists to the length of the message, because none can be longer than the message that holds it.
fn bounds(bytes: &[u8]) -> Result<TConfiguration, Error> {
    let limit = Some(bytes.len().max(1));
    TConfiguration::builder()
        .max_message_size(limit)
        .max_frame_size(limit)
        .max_string_size(limit)
        .max_container_size(limit)
        .max_recursion_depth(Some(MAX_DEPTH * 2)) // the cells around inner lists count, too
        .build()
        .map_err(|e| Error::new(Kind::Limit, 0, e.to_string()))
}

/// Why decoding stopped.
enum Fault {
    Library(thrift::Error),
    Own(Kind, String),
}

impl From<thrift::Error> for Fault {
    fn from(e: thrift::Error) -> Self {
        Fault::Library(e)
    }
}

fn read(record: &Record, protocol: &mut dyn TInputProtocol, budget: &Budget) -> Result<Value, Fault> {
    budget.value(0)?;
    reader::record(record, protocol, budget)
}

/// The budget is exhausted. The caller adds the offset from its cursor.
impl From<dunnage_pson::Error> for Fault {
    fn from(e: dunnage_pson::Error) -> Self {
        Fault::Own(e.kind(), e.reason().to_owned())
    }
}

fn located(fault: Fault, at: usize, bytes: &[u8]) -> Error {
    let truncated = || Error::new(Kind::Truncated, bytes.len(), "the bytes end too early");
    match fault {
        Fault::Own(kind, message) => Error::new(kind, at, message),
        Fault::Library(thrift::Error::Transport(_)) => truncated(),
        Fault::Library(thrift::Error::Protocol(e)) => match e.kind {
            ProtocolErrorKind::SizeLimit => truncated(),
            ProtocolErrorKind::DepthLimit => Error::new(Kind::Limit, at, e.message),
            _ => Error::new(Kind::Malformed, at, e.message),
        },
        Fault::Library(e) => Error::new(Kind::Malformed, at, e.to_string()),
    }
}

/// Returns the wire type of a field.
fn wire_type(kind: &FieldType) -> TType {
    match kind {
        FieldType::Bool => TType::Bool,
        FieldType::Integer(range) => match range.signed_bytes() {
            1 => TType::I08,
            2 => TType::I16,
            4 => TType::I32,
            _ => TType::I64,
        },
        FieldType::Float32 | FieldType::Float64 => TType::Double,
        FieldType::Text | FieldType::Bytes => TType::String,
        FieldType::Enum(_) => TType::I32,
        FieldType::List(_) => TType::List,
        FieldType::Record(_) => TType::Struct,
    }
}
