//! Why the listener says no, in the words of MQTT 5 (section 2.4); MQTT 3.1.1 has few of them, and closes the connection.

use crate::problem::Problem;
use mqtt_protocol_core::mqtt::result_code::{ConnectReturnCode, MqttError};

/// Longest reason that is told, in bytes.
const WHY: usize = 200;

/// A reason code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Reason {
    NoSubscription = 0x11,
    Malformed = 0x81,
    Protocol = 0x82,
    NotDone = 0x83,
    Version = 0x84,
    ClientId = 0x85,
    Login = 0x86,
    NotAuthorized = 0x87,
    Busy = 0x89,
    Stopping = 0x8b,
    AuthMethod = 0x8c,
    KeepAlive = 0x8d,
    TakenOver = 0x8e,
    Topic = 0x90,
    UnknownId = 0x92,
    TooMany = 0x93,
    Alias = 0x94,
    TooLarge = 0x95,
    Quota = 0x97,
    Payload = 0x99,
    Retain = 0x9a,
}

/// A no that ends the connection, unless it answers a PUBLISH of MQTT 5.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    pub reason: Reason,
    /// For people.
    pub why: String,
}

impl Refusal {
    pub fn new(reason: Reason, why: impl Into<String>) -> Refusal {
        Refusal { reason, why: why.into() }
    }

    /// What this client may not do, or not now.
    pub fn of(problem: &Problem) -> Refusal {
        let reason = match problem.name() {
            "too-many" => Reason::Quota,
            _ => Reason::NotAuthorized,
        };
        Refusal::new(reason, problem.detail.clone())
    }

    /// The name of its type of problem in metrics.
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
    /// What MQTT 3.1.1 says in its place in a CONNACK, if it can.
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

/// As much of `why` as is told: whole characters.
pub fn told(why: &str) -> &str {
    let end = (0..=why.len().min(WHY)).rev().find(|end| why.is_char_boundary(*end));
    &why[..end.unwrap_or_default()]
}
