//! Reason codes of MQTT 5 (section 2.4), with which the listener refuses packets. MQTT 3.1.1 has few of them in CONNACK; otherwise it can
//! only close the connection.

use mqtt_protocol_core::mqtt::result_code::{ConnectReturnCode, MqttError};

/// Longest reason string, in bytes.
const WHY: usize = 200;

/// A reason code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Reason {
    /// No subscription existed
    NoSubscription = 0x11,
    /// Malformed packet
    Malformed = 0x81,
    /// Protocol error
    Protocol = 0x82,
    /// Implementation specific error
    NotDone = 0x83,
    /// Unsupported protocol version
    Version = 0x84,
    /// Client identifier not valid
    ClientId = 0x85,
    /// Bad user name or password
    Login = 0x86,
    /// Not authorized
    NotAuthorized = 0x87,
    /// Server busy
    Busy = 0x89,
    /// Server shutting down
    Stopping = 0x8b,
    /// Bad authentication method
    AuthMethod = 0x8c,
    /// Keep alive timeout
    KeepAlive = 0x8d,
    /// Session taken over
    TakenOver = 0x8e,
    /// Topic name invalid
    Topic = 0x90,
    /// Packet identifier not found
    UnknownId = 0x92,
    /// Receive maximum exceeded
    TooMany = 0x93,
    /// Topic alias invalid
    Alias = 0x94,
    /// Packet too large
    TooLarge = 0x95,
    /// Quota exceeded
    Quota = 0x97,
    /// Payload format invalid
    Payload = 0x99,
    /// Retain not supported
    Retain = 0x9a,
}

/// The refusal of a packet. It ends the connection, unless it answers a PUBLISH of MQTT 5.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// The reason code.
    pub reason: Reason,
    /// The reason, for people.
    pub why: String,
}

impl Refusal {
    /// Creates a refusal with the code `reason`; `why` is for people.
    pub fn new(reason: Reason, why: impl Into<String>) -> Refusal {
        Refusal { reason, why: why.into() }
    }

    /// Returns its problem code, as it appears in metrics.
    pub fn problem(&self) -> &'static str {
        match self.reason {
            Reason::NotAuthorized | Reason::Login | Reason::AuthMethod => "unauthorized",
            Reason::Topic => "topic",
            Reason::TooLarge => "too-large",
            Reason::Quota => "too-many",
            Reason::Retain => "retain",
            Reason::Busy => "queue-full",
            Reason::KeepAlive => "keep-alive",
            _ => "protocol",
        }
    }
}

impl Reason {
    /// Returns the corresponding code of a CONNACK of MQTT 3.1.1, if there is one.
    pub fn in_connack(self) -> Option<ConnectReturnCode> {
        match self {
            Reason::Version => Some(ConnectReturnCode::UnacceptableProtocolVersion),
            Reason::ClientId => Some(ConnectReturnCode::IdentifierRejected),
            Reason::Busy | Reason::Stopping | Reason::Quota => Some(ConnectReturnCode::ServerUnavailable),
            Reason::Login => Some(ConnectReturnCode::BadUserNameOrPassword),
            Reason::NotAuthorized | Reason::NotDone => Some(ConnectReturnCode::NotAuthorized),
            _ => None,
        }
    }
}

impl From<MqttError> for Refusal {
    fn from(error: MqttError) -> Refusal {
        let reason = match error {
            MqttError::ProtocolError => Reason::Protocol,
            MqttError::UnsupportedProtocolVersion => Reason::Version,
            MqttError::ClientIdentifierNotValid => Reason::ClientId,
            MqttError::BadUserNameOrPassword => Reason::Login,
            MqttError::TopicNameInvalid => Reason::Topic,
            _ => Reason::Malformed,
        };
        Refusal::new(reason, format!("the packet cannot be read: {error}"))
    }
}

/// Truncates `why` to the longest reason string, at a character boundary.
pub fn told(why: &str) -> &str {
    let end = (0..=why.len().min(WHY)).rev().find(|end| why.is_char_boundary(*end));
    &why[..end.unwrap_or_default()]
}
