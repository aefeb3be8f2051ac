//! The IDs of the formats, with their names and media types, in one table.

use crate::{Error, Form, Format, Kind, Mapping, Pson, Text};
use dunnage_schema::Model;
use std::{fmt, str::FromStr};

/// The ID of a format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
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
    /// PSON wire v2 ([spec/pson.md](https://github.com/dunnage/dunnage/blob/main/spec/pson.md)).
    Pson,
    /// The bits of the schema's layout ([spec/packed.md](https://github.com/dunnage/dunnage/blob/main/spec/packed.md)).
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

type Row = (Id, Option<u8>, &'static str, &'static str, bool);

/// The rows of the IDs, in their order. Deployed devices send the numbers (`spec/ingest.md`, "UDP"): add numbers, and never change one.
const TABLE: [Row; WRITTEN + 6] = [
    // id, number, name, media type, needs a schema
    (Id::Json, Some(0x01), "json", "application/json", false),
    (Id::Msgpack, Some(0x02), "msgpack", "application/msgpack", false),
    (Id::Cbor, Some(0x03), "cbor", "application/cbor", false),
    (Id::Bson, Some(0x04), "bson", "application/bson", false),
    (Id::Xml, Some(0x05), "xml", "application/xml", false),
    (Id::Yaml, Some(0x06), "yaml", "application/yaml", false),
    (Id::Protobuf, Some(0x07), "protobuf", "application/x-protobuf", true),
    (Id::Avro, Some(0x08), "avro", "application/avro", true),
    (Id::ThriftBinary, Some(0x09), "thrift-binary", "application/vnd.apache.thrift.binary", true),
    (Id::ThriftCompact, Some(0x0a), "thrift-compact", "application/vnd.apache.thrift.compact", true),
    (Id::Struct, Some(0x0b), "struct", "application/vnd.dunnage.struct", true),
    (Id::StructZlib, Some(0x0c), "struct-zlib", "application/vnd.dunnage.struct+zlib", true),
    (Id::Pson, Some(0x0d), "pson", "application/vnd.dunnage.pson", false),
    (Id::Packed, Some(0x0e), "packed", "application/vnd.dunnage.packed", true),
    (Id::SenmlJson, None, "senml-json", "application/senml+json", false),
    (Id::SensmlJson, None, "sensml-json", "application/sensml+json", false),
    (Id::SenmlCbor, None, "senml-cbor", "application/senml+cbor", false),
    (Id::SensmlCbor, None, "sensml-cbor", "application/sensml+cbor", false),
    (Id::Text, None, "text", "text/plain", false),
    (Id::Form, None, "form", "application/x-www-form-urlencoded", false),
];

impl Id {
    /// Returns every format that can be both read and written, in the order of tables and help texts.
    ///
    /// ```
    /// # use dunnage_formats::Id;
    /// assert_eq!(Id::all().count(), 14);
    /// assert!(Id::readable().any(|id| id == Id::SenmlJson) && Id::all().all(|id| id != Id::SenmlJson));
    /// ```
    pub fn all() -> impl Iterator<Item = Id> {
        Id::readable().take(WRITTEN)
    }

    /// Returns every format that can be read: those of [`Id::all`], SenML, text and forms.
    pub fn readable() -> impl Iterator<Item = Id> {
        TABLE.iter().map(|row| row.0)
    }

    /// Returns the name on the command line and in the API.
    pub fn name(self) -> &'static str {
        self.row().2
    }

    /// Returns the number in one byte, where a name takes too many, such as in UDP datagrams. A number never changes its format.
    /// Formats that can only be read have none.
    ///
    /// ```
    /// # use dunnage_formats::Id;
    /// assert_eq!((Id::Cbor.number(), Id::Text.number()), (Some(0x03), None));
    /// ```
    pub fn number(self) -> Option<u8> {
        self.row().1
    }

    /// Returns the format with this [number](Id::number).
    ///
    /// ```
    /// # use dunnage_formats::Id;
    /// assert_eq!(Id::from_number(0x0e), Some(Id::Packed));
    /// assert_eq!(Id::from_number(0x0f), None);
    /// ```
    pub fn from_number(number: u8) -> Option<Id> {
        Id::all().find(|id| id.number() == Some(number))
    }

    /// Returns the media type that is written. `from_media_type` reads others as well.
    pub fn media_type(self) -> &'static str {
        self.row().3
    }

    /// Returns whether messages are text, in which a number has its digits.
    pub fn is_text(self) -> bool {
        matches!(self, Id::Json | Id::Xml | Id::Yaml | Id::SenmlJson | Id::SensmlJson | Id::Text | Id::Form)
    }

    /// Returns whether reading and writing need a schema.
    pub fn needs_schema(self) -> bool {
        self.row().4
    }

    /// Makes the codec. Only formats that need a schema use `model` and `mapping`; [`Mapping::Float32`] exists for `protobuf`, `struct` and
    /// `struct-zlib`.
    ///
    /// # Errors
    /// `type` if the schema is missing, if the format does not have the mapping, or if the crate was built without the feature of the
    /// format. Otherwise the schema cannot be mapped to the format.
    ///
    /// ```
    /// # use dunnage_formats::{Id, Kind, Mapping};
    /// assert!(Id::Cbor.open(None, Mapping::Exact).is_ok());
    /// let error = Id::Packed.open(None, Mapping::Exact).err().unwrap();
    /// assert_eq!(error.to_string(), "type: packed needs a schema");
    /// ```
    pub fn open(self, model: Option<&Model>, mapping: Mapping) -> Result<Box<dyn Format>, Error> {
        match model {
            None if self.needs_schema() => Err(unavailable(format!("{self} needs a schema"))),
            Some(model) if self.needs_schema() => self.open_mapped(model, mapping),
            _ => self.open_plain(),
        }
    }

    /// Makes the codec of a format that needs no schema.
    fn open_plain(self) -> Result<Box<dyn Format>, Error> {
        Ok(match self {
            #[cfg(feature = "json")]
            Id::Json => Box::new(crate::Json),
            #[cfg(feature = "msgpack")]
            Id::Msgpack => Box::new(crate::Msgpack),
            #[cfg(feature = "cbor")]
            Id::Cbor => Box::new(crate::Cbor),
            #[cfg(feature = "bson")]
            Id::Bson => Box::new(crate::Bson),
            #[cfg(feature = "xml")]
            Id::Xml => Box::new(crate::Xml),
            #[cfg(feature = "yaml")]
            Id::Yaml => Box::new(crate::Yaml),
            Id::Pson => Box::new(Pson),
            Id::Text => Box::new(Text),
            Id::Form => Box::new(Form),
            #[cfg(feature = "senml")]
            Id::SenmlJson | Id::SensmlJson => Box::new(crate::Senml::json(self == Id::SensmlJson)),
            #[cfg(feature = "senml")]
            Id::SenmlCbor | Id::SensmlCbor => Box::new(crate::Senml::cbor(self == Id::SensmlCbor)),
            _ => return Err(self.compiled_out()),
        })
    }

    /// Makes the codec of a schema-driven format.
    // Without any of these formats, only the error remains.
    #[cfg_attr(not(feature = "default"), allow(unused_variables, unreachable_code))]
    fn open_mapped(self, model: &Model, mapping: Mapping) -> Result<Box<dyn Format>, Error> {
        let only_exact = matches!(self, Id::Avro | Id::ThriftBinary | Id::ThriftCompact | Id::Packed);
        if only_exact && mapping != Mapping::Exact {
            return Err(unavailable(format!("{self} has no float32 mapping")));
        }
        Ok(match self {
            #[cfg(feature = "protobuf")]
            Id::Protobuf => Box::new(crate::Protobuf::new(model, mapping)?),
            #[cfg(feature = "avro")]
            Id::Avro => Box::new(crate::Avro::new(model)?),
            #[cfg(feature = "thrift")]
            Id::ThriftBinary => Box::new(crate::Thrift::new(model, crate::ThriftProtocol::Binary)?),
            #[cfg(feature = "thrift")]
            Id::ThriftCompact => Box::new(crate::Thrift::new(model, crate::ThriftProtocol::Compact)?),
            #[cfg(feature = "struct")]
            Id::Struct => Box::new(crate::Struct::new(model, mapping)),
            #[cfg(feature = "struct")]
            Id::StructZlib => Box::new(crate::StructZlib::new(model, mapping)),
            #[cfg(feature = "packed")]
            Id::Packed => Box::new(crate::Packed::new(model)?),
            _ => return Err(self.compiled_out()),
        })
    }

    /// The error of a format whose feature is off.
    #[cold]
    fn compiled_out(self) -> Error {
        let feature = match self {
            Id::SenmlJson | Id::SensmlJson | Id::SenmlCbor | Id::SensmlCbor => "senml",
            Id::ThriftBinary | Id::ThriftCompact => "thrift",
            Id::Struct | Id::StructZlib => "struct",
            other => other.name(),
        };
        unavailable(format!("{self} needs the feature `{feature}` of the crate dunnage-formats"))
    }

    fn row(self) -> &'static Row {
        &TABLE[self as usize]
    }
}

fn unavailable(reason: String) -> Error {
    Error::of_value(Kind::Type, "", reason)
}

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The error of a name that no format has. Its text lists the names.
///
/// ```
/// # use dunnage_formats::Id;
/// let error = "jsn".parse::<Id>().unwrap_err();
/// assert!(error.to_string().starts_with("no format is called \"jsn\"; there are json, msgpack, cbor"));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownName(String);

impl fmt::Display for UnknownName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<_> = Id::readable().map(Id::name).collect();
        write!(f, "no format is called {:?}; there are {}", self.0, names.join(", "))
    }
}

impl std::error::Error for UnknownName {}

impl FromStr for Id {
    type Err = UnknownName;

    fn from_str(name: &str) -> Result<Self, UnknownName> {
        Id::readable().find(|id| id.name() == name).ok_or_else(|| UnknownName(name.to_owned()))
    }
}

#[cfg(all(test, not(feature = "xml"), not(feature = "thrift")))]
mod tests {
    use super::*;

    #[test]
    fn a_format_without_its_feature_is_known_and_says_which_one_it_needs() {
        let model = Model::compile(r#"{"type": "boolean"}"#).unwrap();
        for (id, feature) in [(Id::Xml, "`xml`"), (Id::ThriftCompact, "`thrift`")] {
            assert_eq!(Id::from_str(id.name()), Ok(id));
            let error = id.open(Some(&model), Mapping::Exact).err().unwrap();
            assert_eq!(error.kind(), Kind::Type);
            assert!(error.to_string().contains(feature), "{error}");
        }
    }
}
