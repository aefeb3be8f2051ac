//! Events from a broker, its acknowledgements, and the errors that end a connection.

use crate::mqtt::Publish;
use std::io;

/// Why a connection failed or ended.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The network or TLS failed.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// The broker refused the connection: the code of its CONNACK, and its reason.
    #[error("the broker refused the connection: {1}")]
    Refused(u8, String),
    /// The broker ended the connection; its reason.
    #[error("the broker ended the connection: {0}")]
    Ended(String),
    /// The broker closed the connection, or sent something else, before a CONNACK.
    #[error("the broker did not accept the connection ({0}); does it support MQTT {1}?")]
    Foreign(String, &'static str),
    /// The broker sent something that is not valid MQTT.
    #[error("the broker violated the protocol: {0}")]
    Protocol(String),
    /// The broker did not answer in time.
    #[error("the broker did not answer in time")]
    Silent,
    /// MQTT cannot carry the packet to send.
    #[error("{0}")]
    Unsendable(String),
}

/// An event that the broker causes.
#[derive(Debug)]
pub enum Event {
    /// A message.
    Message(Publish),
    /// The broker answered a subscription; its reason, if it refuses a filter.
    Subscribed(Result<(), String>),
    /// The broker has acknowledged the message with this identifier.
    Acknowledged(u16, Acknowledgement),
    /// The broker has answered a call of [`Client::ping`](super::Client::ping). It has read everything that was queued before.
    Answered,
}

/// The outcome of a message, as its acknowledgement says. MQTT 3.1.1 has the first alone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Acknowledgement {
    /// The broker has the message.
    Taken,
    /// Nobody subscribes to its topic, so that nobody gets it.
    NoSubscriber,
    /// The broker refuses it: the reason code, 0x80 or more, and the reason for people.
    Refused(u8, String),
}
