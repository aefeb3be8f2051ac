//! The configuration: one TOML file, then the environment.

use crate::{
    access, inputs,
    kind::{self, Kind},
    outputs, tls,
};
use serde::{Deserialize, Deserializer, Serialize, de::Error as _};
use std::{
    net::SocketAddr,
    path::{Path, PathBuf},
};

/// Everything that can be set. `Config::default()` is what `dunnage gateway` runs with when nothing is.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// The HTTP input and API.
    pub http: Http,
    /// Who may send and read.
    pub access: access::Settings,
    /// What listeners with TLS show.
    pub tls: tls::Settings,
    /// Where readings become durable.
    pub buffer: Buffer,
    /// What could not be decoded.
    pub quarantine: Quarantine,
    /// What messages may be.
    pub schemas: Schemas,
    /// What operators ask.
    pub admin: Admin,
    /// What the gateway says about itself.
    pub log: Log,
    /// What devices send; the first profile whose pattern matches a device is used.
    #[serde(rename = "profile", skip_serializing_if = "Vec::is_empty")]
    pub profiles: Vec<Profile>,
    /// Where messages come from, beside HTTP.
    #[serde(rename = "input", skip_serializing_if = "Vec::is_empty")]
    pub inputs: Vec<Input>,
    /// Where messages go.
    #[serde(rename = "output", skip_serializing_if = "Vec::is_empty")]
    pub outputs: Vec<Output>,
    /// The file that all this was read from, to be read again by a reload.
    #[serde(skip)]
    pub file: Option<PathBuf>,
}

/// `[http]`
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Http {
    /// Address and port; port 0 takes a free one.
    pub listen: SocketAddr,
    /// Whether it is https, with the certificate of `[tls]`.
    pub tls: bool,
    /// Largest message, in bytes.
    pub body_limit_bytes: usize,
    /// Most connections at a time. Idle ones give way to new ones.
    pub connections: usize,
    /// Most connections of an address (of IPv6, a /64) at a time, but for the loopback address.
    pub address_connections: usize,
    /// Longest wait for the next request's headers, which is also how long an idle connection stays open.
    pub header_timeout_seconds: u64,
    /// Longest time that a body may take to arrive.
    pub body_timeout_seconds: u64,
    /// Longest time that a client may leave an answer unread.
    pub write_timeout_seconds: u64,
    /// Longest time that requests may take to finish when the gateway stops.
    pub drain_timeout_seconds: u64,
}

/// `[buffer]`
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Buffer {
    /// The SQLite file.
    pub path: PathBuf,
    /// Most messages that wait to be written.
    pub queue_messages: usize,
    /// Most bytes of messages in memory: bodies that are arriving, and messages that wait.
    pub queue_bytes: usize,
    /// Most messages in one transaction.
    pub batch_messages: usize,
    /// How long a message is known if it comes again; 0 for not at all.
    pub duplicate_window_seconds: u64,
    /// How many messages are remembered at most; each takes some 56 bytes. When more come within the window, the oldest are
    /// forgotten early.
    pub duplicate_limit_messages: usize,
    /// Most bytes of the file that are in use; 0 for no limit.
    pub limit_bytes: u64,
    /// What happens at the limit.
    pub when_full: WhenFull,
    /// How long a message is kept after it arrived, once every output is done with it; 0 until there is no room.
    pub keep_delivered_hours: u64,
}

/// What happens to messages that come when the buffer is at its limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WhenFull {
    /// Messages that every output is done with make room, the oldest first. Without such, they are refused.
    DropDelivered,
    /// They are refused.
    Refuse,
}

/// `[quarantine]`
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Quarantine {
    /// Most messages kept; the oldest give way.
    pub messages: usize,
    /// Most bytes of them kept; the oldest give way.
    pub bytes: usize,
}

/// `[schemas]`
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Schemas {
    /// A folder of `NAME.json` and `NAME.SUFFIX.json`; empty for the bundled schemas alone.
    pub path: PathBuf,
    /// Whether `format` restricts which text is valid.
    pub assert_formats: bool,
    /// Whether packed messages without a check are refused.
    pub require_check: bool,
}

/// `[admin]`
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Admin {
    /// A Unix socket; a relative path starts at the buffer's folder. Empty for none.
    pub socket: PathBuf,
}

/// `[log]`
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Log {
    /// How a line looks.
    pub format: LogFormat,
    /// A level (error, warn, info, debug, trace), or directives of tracing's `EnvFilter`.
    pub level: String,
}

/// How a line of the log looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LogFormat {
    /// For people.
    Human,
    /// An object a line.
    Json,
}

/// `[[profile]]`: what some devices send.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Profile {
    /// Which devices: an id, in which `*` stands for any characters.
    pub device: String,
    /// The schema of their messages.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schema: Option<String>,
    /// The formats that they may send; empty for all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub formats: Vec<FormatName>,
    /// The slots of the packed layouts that they may send, 1 to 63; empty for all of the schema.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub slots: Vec<u8>,
    /// A .proto file that describes their Protobuf messages; without it, the one derived from the schema.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proto: Option<PathBuf>,
    /// How protobuf, struct and struct-zlib carry decimals.
    #[serde(default)]
    pub mapping: Mapping,
    /// The link that their messages came over, when the sender names none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub link: Option<String>,
    /// Where outputs put their messages: what `{path}` stands for in an output's templates.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// By what a message that comes again is recognized.
    #[serde(default)]
    pub duplicates: Duplicates,
    /// How long after its last message a device counts as silent in the metrics; without it, never.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub silent_after_seconds: Option<u64>,
}

/// A format, by its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "&'static str")]
pub struct FormatName(pub dunnage_formats::Id);

impl TryFrom<String> for FormatName {
    type Error = String;

    fn try_from(name: String) -> Result<Self, String> {
        name.parse().map(FormatName)
    }
}

impl From<FormatName> for &'static str {
    fn from(format: FormatName) -> Self {
        format.0.name()
    }
}

/// By what a message that comes again is recognized.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Duplicates {
    /// By the key that its sender gives it. Without one, it is another message.
    #[default]
    Key,
    /// By the key, or without one by its bytes.
    Bytes,
}

/// `[[input]]`: where messages come from.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Input {
    /// What it is called in the log. No two have the same.
    pub name: String,
    /// How they come.
    #[serde(flatten)]
    pub kind: InputKind,
}

/// How messages come, beside HTTP's `/ingest`.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum InputKind {
    /// A listener for MQTT.
    Mqtt(inputs::mqtt::Settings),
    /// Topics of a broker.
    Broker(inputs::broker::Settings),
    /// A NATS stream.
    Nats(inputs::nats::Settings),
    /// What a network's provider posts.
    Webhook(inputs::webhooks::Settings),
    /// CoAP over UDP.
    Coap(inputs::coap::Settings),
    /// Bare datagrams.
    Udp(inputs::udp::Settings),
}

impl Kind for InputKind {
    const SECTION: &'static str = "[[input]]";
    const KEYS: &'static [&'static str] = &["mqtt", "broker", "nats", "webhook", "coap", "udp"];

    fn key(&self) -> &'static str {
        match self {
            InputKind::Mqtt(_) => "mqtt",
            InputKind::Broker(_) => "broker",
            InputKind::Nats(_) => "nats",
            InputKind::Webhook(_) => "webhook",
            InputKind::Coap(_) => "coap",
            InputKind::Udp(_) => "udp",
        }
    }

    fn read<'de, D: Deserializer<'de>>(key: &str, table: D) -> Result<InputKind, D::Error> {
        match key {
            "mqtt" => Deserialize::deserialize(table).map(InputKind::Mqtt),
            "broker" => Deserialize::deserialize(table).map(InputKind::Broker),
            "nats" => Deserialize::deserialize(table).map(InputKind::Nats),
            "webhook" => Deserialize::deserialize(table).map(InputKind::Webhook),
            "coap" => Deserialize::deserialize(table).map(InputKind::Coap),
            "udp" => Deserialize::deserialize(table).map(InputKind::Udp),
            key => Err(D::Error::unknown_field(key, InputKind::KEYS)),
        }
    }
}

impl<'de> Deserialize<'de> for Input {
    fn deserialize<D: Deserializer<'de>>(table: D) -> Result<Input, D::Error> {
        let read = kind::read(table, &["name"])?;
        Ok(Input { name: read.name, kind: read.kind })
    }
}

/// `[[output]]`: where messages go.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Output {
    /// What it is called in metrics and the log, and what its cursor belongs to. No two have the same.
    pub name: String,
    /// Most calls at a time, 1 to 1024; without it, 64. Fewer are made when the other side gets slower under more.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub concurrency: Option<usize>,
    /// How they go.
    #[serde(flatten)]
    pub kind: OutputKind,
}

/// How messages go.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum OutputKind {
    /// POST to a URL.
    Http(outputs::http::Settings),
    /// Files by day.
    Files(outputs::files::Settings),
    /// Publish to a NATS stream.
    Nats(outputs::nats::Settings),
    /// A topic of Kafka.
    #[cfg(feature = "kafka")]
    Kafka(outputs::kafka::Settings),
    /// contentInstances in a oneM2M CSE.
    Onem2m(outputs::onem2m::Settings),
}

impl Kind for OutputKind {
    const SECTION: &'static str = "[[output]]";
    const KEYS: &'static [&'static str] = &[
        "http",
        "files",
        "nats",
        #[cfg(feature = "kafka")]
        "kafka",
        "onem2m",
    ];

    fn key(&self) -> &'static str {
        match self {
            OutputKind::Http(_) => "http",
            OutputKind::Files(_) => "files",
            OutputKind::Nats(_) => "nats",
            #[cfg(feature = "kafka")]
            OutputKind::Kafka(_) => "kafka",
            OutputKind::Onem2m(_) => "onem2m",
        }
    }

    fn read<'de, D: Deserializer<'de>>(key: &str, table: D) -> Result<OutputKind, D::Error> {
        match key {
            "http" => Deserialize::deserialize(table).map(OutputKind::Http),
            "files" => Deserialize::deserialize(table).map(OutputKind::Files),
            "nats" => Deserialize::deserialize(table).map(OutputKind::Nats),
            #[cfg(feature = "kafka")]
            "kafka" => Deserialize::deserialize(table).map(OutputKind::Kafka),
            "onem2m" => Deserialize::deserialize(table).map(OutputKind::Onem2m),
            key => Err(D::Error::unknown_field(key, OutputKind::KEYS)),
        }
    }
}

impl<'de> Deserialize<'de> for Output {
    fn deserialize<D: Deserializer<'de>>(table: D) -> Result<Output, D::Error> {
        let read = kind::read(table, &["name", "concurrency"])?;
        Ok(Output { name: read.name, concurrency: read.concurrency, kind: read.kind })
    }
}

impl Output {
    /// An output of the kind `kind`, with as many calls at a time as there are by default.
    pub fn new(name: &str, kind: OutputKind) -> Output {
        Output { name: name.into(), concurrency: None, kind }
    }
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

impl Default for Http {
    fn default() -> Self {
        Http {
            listen: SocketAddr::from(([127, 0, 0, 1], 8080)),
            tls: false,
            body_limit_bytes: 1 << 20,
            connections: 4096,
            address_connections: 1024,
            header_timeout_seconds: 75,
            body_timeout_seconds: 30,
            write_timeout_seconds: 30,
            drain_timeout_seconds: 10,
        }
    }
}

impl Default for Buffer {
    fn default() -> Self {
        Buffer {
            path: "data/buffer.sqlite3".into(),
            queue_messages: 8192,
            queue_bytes: 64 << 20,
            batch_messages: 1024,
            duplicate_window_seconds: 3600,
            // 7/8 of a power of two, which a hash table fills.
            duplicate_limit_messages: (1 << 19) / 8 * 7,
            limit_bytes: 8 << 30,
            when_full: WhenFull::DropDelivered,
            keep_delivered_hours: 0,
        }
    }
}

impl Default for Quarantine {
    fn default() -> Self {
        Quarantine { messages: 10_000, bytes: 64 << 20 }
    }
}

impl Default for Admin {
    fn default() -> Self {
        Admin { socket: "admin.sock".into() }
    }
}

impl Config {
    /// Where the admin socket is, if there is to be one.
    pub fn admin_socket(&self) -> Option<PathBuf> {
        (!self.admin.socket.as_os_str().is_empty()).then(|| self.state().join(&self.admin.socket))
    }

    /// Where the tokens are.
    pub fn tokens(&self) -> PathBuf {
        self.state().join(&self.access.tokens)
    }

    /// Where the keys of DTLS are.
    pub fn keys(&self) -> PathBuf {
        self.state().join(&self.access.keys)
    }

    /// The folder of what the gateway keeps.
    fn state(&self) -> &Path {
        self.buffer.path.parent().unwrap_or(Path::new(""))
    }
}

impl Default for Log {
    fn default() -> Self {
        Log { format: LogFormat::Human, level: "info".into() }
    }
}
