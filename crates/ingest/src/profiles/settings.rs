//! The settings of `[[profile]]` and `[schemas]`.

pub use crate::profiles::match_settings::{Match, ProviderMatch};
use documented::DocumentedFields;
use dunnage_formats::{Altered, Id, UnknownName};

use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// `[schemas]`
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, DocumentedFields)]
#[serde(deny_unknown_fields, default)]
pub struct SchemaSettings {
    /// A folder of schemas: NAME.json, and NAME.SUFFIX.json for further packed layouts; empty: only the bundled schemas.
    pub path: PathBuf,
    /// A JSON file that maps the addresses in references to files: {"https://example.com/unit.json": "unit.json"}; empty: none.
    pub map: PathBuf,
    /// Whether text must match its format (uuid, date-time, ...). Devices that send packed messages must use the same setting.
    pub assert_formats: bool,
    /// Whether packed messages are rejected if their schema has no x-dunnage-check.
    pub require_check: bool,
}

/// `[[profile]]`: what some devices send.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Profile {
    /// Its name, which is unique. A profile with a name needs no condition.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The devices, an ID, where `*` matches any characters: the short form of `match.device`. Empty: not given.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub device: String,
    /// The messages: all of these conditions hold.
    #[serde(rename = "match", default, skip_serializing_if = "Match::is_empty")]
    pub conditions: Match,
    /// The schema of their messages.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schema: Option<String>,
    /// The formats that they may send; empty for all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub formats: Vec<FormatName>,
    /// The slots of the packed layouts that they may send, 1 to 63; empty for all of the schema.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub slots: Vec<u8>,
    /// The header before the datum of their Avro messages.
    #[serde(default)]
    pub avro_header: AvroHeader,
    /// A .proto file that describes their Protobuf messages; without it, the one derived from the schema.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proto: Option<PathBuf>,
    /// The message of that file; without it, the first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proto_message: Option<String>,
    /// Folders of the files that it imports, besides its own folder and Google's well-known types.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub proto_path: Vec<PathBuf>,
    /// The vendor's JavaScript that decodes their messages: a codec of TS013, ChirpStack v3 or The Things Network v2. It decodes those that do
    /// not name a format.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub codec: Option<PathBuf>,
    /// They are batches of a relay: a JSON file with the number of each of its devices, and the slot of the packed layout that it sends:
    /// `{"DEVICE": {"number": 1, "slot": 11}}`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub relay: Option<PathBuf>,
    /// A JSON file with the texts of `x-dunnage-known` for each device, other than its ID: `{"DEVICE": {"NAME": "TEXT"}}`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub known: Option<PathBuf>,
    /// How protobuf, struct and struct-zlib carry decimals.
    #[serde(default)]
    pub mapping: Mapping,
    /// The treatment of numbers in text (JSON, XML, YAML) that no value holds exactly.
    #[serde(default)]
    pub numbers: Numbers,
    /// How to read numbers that a binary format carries as binary32.
    #[serde(default)]
    pub binary32: Binary32,
    /// The link of their messages, if the sender names none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub link: Option<String>,
    /// The path of their messages at outputs: the value of `{path}` in an output's templates.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// Where their messages have a position: the JSON pointer to an object with latitude and longitude or to a GeoJSON point. Without it, the
    /// usual places are searched.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub position: Option<String>,
    /// How duplicates are recognized.
    #[serde(default)]
    pub duplicates: Duplicates,
    /// What becomes the message, if it comes in the envelope of a network server; without it, what the input says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub payload: Option<Payload>,
    /// How long after its last message a device counts as silent in the metrics; without it, never.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub silent_after_seconds: Option<u64>,
}

/// A format, by its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "&'static str")]
pub struct FormatName(pub Id);

impl TryFrom<String> for FormatName {
    type Error = UnknownName;

    fn try_from(name: String) -> Result<Self, UnknownName> {
        name.parse().map(FormatName)
    }
}

impl From<FormatName> for &'static str {
    fn from(format: FormatName) -> Self {
        format.0.name()
    }
}

/// What becomes the message of an envelope. By default the bytes if their format is known, and else what the network server decoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Payload {
    /// The bytes of the device.
    Bytes,
    /// What the network server decoded of them (`object`, `decoded_payload`).
    Decoded,
    /// What it decoded, in its common form of all devices (`normalized_payload` of The Things Stack).
    Normalized,
    /// The bytes; what the network server decoded is kept with them.
    Both,
}

/// How duplicates are recognized.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Duplicates {
    /// By the sender's idempotency key. A message without one is never a duplicate.
    #[default]
    Key,
    /// By the key, or, for a message without one, by its bytes.
    Bytes,
}

/// How schema-driven formats carry decimals and structured text.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Mapping {
    /// As scaled integers.
    #[default]
    Exact,
    /// As binary32.
    Float32,
}

impl From<Mapping> for dunnage_formats::Mapping {
    fn from(mapping: Mapping) -> Self {
        match mapping {
            Mapping::Exact => dunnage_formats::Mapping::Exact,
            Mapping::Float32 => dunnage_formats::Mapping::Float32,
        }
    }
}

/// The header before the datum of an Avro message.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AvroHeader {
    /// Nothing.
    #[default]
    None,
    /// The five bytes of Confluent's schema registry.
    Registry,
    /// The ten bytes of single-object encoding.
    SingleObject,
}

impl From<AvroHeader> for dunnage_formats::AvroHeader {
    fn from(header: AvroHeader) -> Self {
        match header {
            AvroHeader::None => dunnage_formats::AvroHeader::None,
            AvroHeader::Registry => dunnage_formats::AvroHeader::Registry,
            AvroHeader::SingleObject => dunnage_formats::AvroHeader::SingleObject,
        }
    }
}

/// The treatment of numbers in text that no value holds exactly.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Numbers {
    /// They are the nearest binary64.
    #[default]
    Nearest,
    /// Their message is rejected.
    Exact,
    /// They are the nearest binary64, and NaN and infinities in JSON are null.
    Lenient,
}

/// How to read numbers that a binary format carries as binary32.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Binary32 {
    /// With all digits: 31.420000076293945.
    #[default]
    Exact,
    /// As the shortest decimal that is the same binary32: 31.42.
    Shortest,
}

impl Numbers {
    /// Returns how a format reads them; `altered` counts.
    pub fn of(self, altered: &Altered) -> dunnage_formats::Numbers<'_> {
        match self {
            Numbers::Nearest => dunnage_formats::Numbers::Nearest(altered),
            Numbers::Exact => dunnage_formats::Numbers::Exact,
            Numbers::Lenient => dunnage_formats::Numbers::Lenient(altered),
        }
    }
}

/// A schema or a profile that cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("{origin}: {message}")]
pub struct ProfileError {
    /// The file or the profile.
    pub origin: String,
    /// Why.
    pub message: String,
}
