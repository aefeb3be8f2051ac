//! Why a broker could not be asked, or what it refuses.

use kafka_protocol::ResponseError;
use std::{fmt, io};

/// A failure, with the reason for people.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
pub struct Error {
    /// The kind of the failure.
    pub kind: Kind,
    /// The reason. It has no secrets.
    pub reason: String,
}

/// The kinds of failures. All but `Refused` may pass later.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// No connection could be made, or it broke.
    Connection,
    /// No answer arrived in time.
    Timeout,
    /// The broker limits the client.
    Busy,
    /// The broker does not accept the password, or denies access to the topic.
    Denied,
    /// The topic or the partition does not exist.
    Missing,
    /// The brokers cannot write at the moment.
    Failing,
    /// The broker will never accept the record.
    Refused,
    /// Anything else.
    Other,
}

impl Error {
    pub(super) fn new(kind: Kind, reason: impl Into<String>) -> Error {
        Error { kind, reason: reason.into() }
    }

    pub(super) fn io(at: &impl fmt::Display, error: &io::Error) -> Error {
        match error.kind() {
            io::ErrorKind::UnexpectedEof => {
                let reason = "the broker closed the connection; it may require TLS or a login";
                Error::new(Kind::Connection, format!("{at}: {reason}"))
            }
            _ => Error::new(Kind::Connection, format!("{at}: {error}")),
        }
    }

    /// Returns what a code in an answer means; `None` for success. `about` says what was asked, `text` is the broker's explanation.
    pub(super) fn of_code(about: &str, code: i16, text: Option<&str>) -> Option<Error> {
        let error = ResponseError::try_from_code(code)?;
        let reason = match text.filter(|text| !text.is_empty()) {
            Some(text) => format!("{about}: {error}: {text}"),
            None => format!("{about}: {error}"),
        };
        Some(Error::new(kind(error), reason))
    }
}

fn kind(error: ResponseError) -> Kind {
    use ResponseError as E;
    match error {
        E::RequestTimedOut => Kind::Timeout,
        E::ThrottlingQuotaExceeded => Kind::Busy,
        E::TopicAuthorizationFailed
        | E::ClusterAuthorizationFailed
        | E::TransactionalIdAuthorizationFailed
        | E::SaslAuthenticationFailed
        | E::UnsupportedSaslMechanism
        | E::IllegalSaslState => Kind::Denied,
        E::UnknownTopicOrPartition | E::InvalidTopicException => Kind::Missing,
        E::MessageTooLarge
        | E::RecordListTooLarge
        | E::InvalidRecord
        | E::InvalidTimestamp
        | E::PolicyViolation => Kind::Refused,
        E::UnknownServerError => Kind::Failing,
        other if other.is_retriable() => Kind::Failing,
        _ => Kind::Other,
    }
}
