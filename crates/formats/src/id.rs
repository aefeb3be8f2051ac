//! The IDs of the formats, with their names and media types, in one table.

use crate::{
    Avro, Bson, Cbor, Error, Form, Format, Json, Kind, Mapping, Msgpack, Packed, Protobuf, Pson, Senml,
    Struct, StructZlib, Text, Thrift, ThriftProtocol, Xml, Yaml,
};
use dunnage_schema::Model;
use std::{fmt, str::FromStr};

/// The ID of a format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Id {
    /// RFC 8259, compact.
    Json,
    /// MessagePack.
    Msgpack,
    /// RFC 8949.
    Cbor,
    /// BSON 1.1.
    Bson,
    /// XML 1.0.
    Xml,
    /// YAML 1.2.
    Yaml,
    /// Protocol Buffers, proto3.
    Protobuf,
    /// Apache Avro, the binary encoding of one datum.
    Avro,
    /// Apache Thrift, TBinaryProtocol.
    ThriftBinary,
    /// Apache Thrift, TCompactProtocol.
    ThriftCompact,
    /// Fields packed back to back, as C programs and Python's `struct` do it.
    Struct,
    /// `struct` compressed with zlib, level 9.
    StructZlib,
    /// PSON wire v2 (`spec/pson.md`).
    Pson,
    /// The bits of the schema's layout (`spec/packed.md`).
    Packed,
    /// SenML in JSON (RFC 8428). Read only.
    SenmlJson,
    /// SenML in JSON as a stream, whose end may be missing. Read only.
    SensmlJson,
    /// SenML in CBOR. Read only.
    SenmlCbor,
    /// SenML in CBOR as a stream, whose end may be missing. Read only.
    SensmlCbor,
    /// Plain text. Read only.
    Text,
    /// The fields of a form, or of a URL's query. Read only.
    Form,
}

/// The number of formats that can be written; they come first in the table.
const WRITTEN: usize = 14;

const TABLE: [(Id, &str, &str, bool); WRITTEN + 6] = [
    // id, name, media type, needs a schema
    (Id::Json, "json", "application/json", false),
    (Id::Msgpack, "msgpack", "application/msgpack", false),
    (Id::Cbor, "cbor", "application/cbor", false),
    (Id::Bson, "bson", "application/bson", false),
    (Id::Xml, "xml", "application/xml", false),
    (Id::Yaml, "yaml", "application/yaml", false),
    (Id::Protobuf, "protobuf", "application/x-protobuf", true),
    (Id::Avro, "avro", "application/avro", true),
    (Id::ThriftBinary, "thrift-binary", "application/vnd.apache.thrift.binary", true),
    (Id::ThriftCompact, "thrift-compact", "application/vnd.apache.thrift.compact", true),
    (Id::Struct, "struct", "application/vnd.dunnage.struct", true),
    (Id::StructZlib, "struct-zlib", "application/vnd.dunnage.struct+zlib", true),
    (Id::Pson, "pson", "application/vnd.dunnage.pson", false),
    (Id::Packed, "packed", "application/vnd.dunnage.packed", true),
    (Id::SenmlJson, "senml-json", "application/senml+json", false),
    (Id::SensmlJson, "sensml-json", "application/sensml+json", false),
    (Id::SenmlCbor, "senml-cbor", "application/senml+cbor", false),
    (Id::SensmlCbor, "sensml-cbor", "application/sensml+cbor", false),
    (Id::Text, "text", "text/plain", false),
    (Id::Form, "form", "application/x-www-form-urlencoded", false),
];

impl Id {
    /// Returns every format that can be both read and written, in the order of tables and help texts.
    pub fn all() -> impl Iterator<Item = Id> {
        Id::readable().take(WRITTEN)
    }

    /// Returns every format that can be read: those of [`Id::all`], SenML, text and forms. The position of an ID is `id as usize`.
    pub fn readable() -> impl Iterator<Item = Id> {
        TABLE.iter().map(|row| row.0)
    }

    /// Returns the name on the command line and in the API.
    pub fn name(self) -> &'static str {
        self.row().1
    }

    /// Returns the media type that is written. `from_media_type` reads others as well.
    pub fn media_type(self) -> &'static str {
        self.row().2
    }

    /// Returns whether messages are text, in which a number has its digits.
    pub fn is_text(self) -> bool {
        matches!(self, Id::Json | Id::Xml | Id::Yaml | Id::SenmlJson | Id::SensmlJson | Id::Text | Id::Form)
    }

    /// Returns whether reading and writing need a schema.
    pub fn needs_schema(self) -> bool {
        self.row().3
    }

    /// Makes the codec. Only formats that need a schema use `model` and `mapping`; [`Mapping::Float32`] exists for `protobuf`, `struct` and
    /// `struct-zlib`. Errors: the schema is missing, or the format does not have the mapping.
    pub fn open(self, model: Option<&Model>, mapping: Mapping) -> Result<Box<dyn Format>, Error> {
        match self {
            Id::Json => Ok(Box::new(Json)),
            Id::Msgpack => Ok(Box::new(Msgpack)),
            Id::Cbor => Ok(Box::new(Cbor)),
            Id::Bson => Ok(Box::new(Bson)),
            Id::Xml => Ok(Box::new(Xml)),
            Id::Yaml => Ok(Box::new(Yaml)),
            Id::Pson => Ok(Box::new(Pson)),
            Id::Text => Ok(Box::new(Text)),
            Id::Form => Ok(Box::new(Form)),
            Id::SenmlJson | Id::SensmlJson => Ok(Box::new(Senml::json(self == Id::SensmlJson))),
            Id::SenmlCbor | Id::SensmlCbor => Ok(Box::new(Senml::cbor(self == Id::SensmlCbor))),
            mapped => {
                let Some(model) = model else {
                    return Err(Error::new(Kind::Type, 0, format!("{mapped} needs a schema")));
                };
                mapped.open_mapped(model, mapping)
            }
        }
    }

    /// Makes the codec of a schema-driven format.
    fn open_mapped(self, model: &Model, mapping: Mapping) -> Result<Box<dyn Format>, Error> {
        let only_exact = matches!(self, Id::Avro | Id::ThriftBinary | Id::ThriftCompact | Id::Packed);
        if only_exact && mapping != Mapping::Exact {
            return Err(Error::new(Kind::Type, 0, format!("{self} has no float32 mapping")));
        }
        Ok(match self {
            Id::Protobuf => Box::new(Protobuf::new(model, mapping)?),
            Id::Avro => Box::new(Avro::new(model)?),
            Id::ThriftBinary => Box::new(Thrift::new(model, ThriftProtocol::Binary)?),
            Id::ThriftCompact => Box::new(Thrift::new(model, ThriftProtocol::Compact)?),
            Id::Struct => Box::new(Struct::new(model, mapping)),
            Id::StructZlib => Box::new(StructZlib::new(model, mapping)),
            Id::Packed => Box::new(Packed::new(model)?),
            _ => return Err(Error::new(Kind::Type, 0, format!("{self} takes no schema"))),
        })
    }

    fn row(self) -> &'static (Id, &'static str, &'static str, bool) {
        &TABLE[self as usize]
    }
}

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Id {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        Id::readable().find(|id| id.name() == name).ok_or_else(|| {
            let names: Vec<_> = Id::readable().map(Id::name).collect();
            format!("no format is called {name:?}; there are {}", names.join(", "))
        })
    }
}
