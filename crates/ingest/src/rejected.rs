//! The reasons for rejecting a message, independent of any protocol. Each input maps the code to the answers of its protocol; the table is in
//! `spec/ingest.md`, "The response".

use dunnage_access::Denied;
use dunnage_base::name::{MAX_DEVICE, MAX_KEY};
use dunnage_buffer::{NoRoom, ReadError, Refusal};
use dunnage_formats::{Error, Kind};

/// The cause. The code is part of the contract; the wording of a [`Rejected`] is not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Code {
    /// The bytes are not a message in the format.
    Malformed,
    /// The bytes are well-formed but not a message: a value has the wrong type or is out of range.
    NotRepresentable,
    /// The message violates its schema.
    Schema,
    /// No schema has that name.
    UnknownSchema,
    /// The slot of a packed message has no layout, or not the one that the message names.
    UnknownLayout,
    /// The device is disabled in the register.
    Disabled,
    /// The device is not in the register, and has to be.
    Unregistered,
    /// A packed message refers to another one, which the gateway does not have.
    Reference,
    /// The message is too large as JSON.
    Unwritable,
    /// The format is unknown, not allowed, or cannot carry the message.
    MediaType,
    /// The content coding is unknown.
    ContentEncoding,
    /// The message, or the batch, is too large.
    TooLarge,
    /// A device, a schema or a link has an invalid ID.
    Name,
    /// The idempotency key is invalid.
    Key,
    /// A parameter is unknown, repeated or unreadable.
    Query,
    /// The body ended early, or does not match its content coding.
    Body,
    /// The body took too long.
    BodyTimeout,
    /// A block of a CoAP transfer is invalid.
    Block,
    /// Blocks of a CoAP transfer are missing.
    Incomplete,
    /// The request is not one of the webhook's provider.
    Callback,
    /// Nothing is at the address.
    NotFound,
    /// The method is not the one that sends messages.
    Method,
    /// The request's host is invalid.
    Host,
    /// The sender does not prove its identity.
    Unauthorized,
    /// The sender may not send as this device.
    Forbidden,
    /// The device or its address sends more than it may.
    TooMany,
    /// The queue to the buffer, or the sender's share of it, is full.
    QueueFull,
    /// The buffer is at its limit.
    BufferFull,
    /// The buffer could not be written.
    NotWritten,
    /// The buffer could not be read.
    Unreadable,
    /// The decoder panicked.
    Decoder,
}

impl Code {
    /// Returns the code as it appears in answers, metrics and logs.
    pub const fn as_str(self) -> &'static str {
        match self {
            Code::Malformed => "malformed",
            Code::NotRepresentable => "not-representable",
            Code::Schema => "schema",
            Code::UnknownSchema => "unknown-schema",
            Code::UnknownLayout => "unknown-layout",
            Code::Disabled => "disabled",
            Code::Unregistered => "unregistered",
            Code::Reference => "reference",
            Code::Unwritable => "unwritable",
            Code::MediaType => "media-type",
            Code::ContentEncoding => "content-encoding",
            Code::TooLarge => "too-large",
            Code::Name => "name",
            Code::Key => "key",
            Code::Query => "query",
            Code::Body => "body",
            Code::BodyTimeout => "body-timeout",
            Code::Block => "block",
            Code::Incomplete => "incomplete",
            Code::Callback => "callback",
            Code::NotFound => "not-found",
            Code::Method => "method",
            Code::Host => "host",
            Code::Unauthorized => "unauthorized",
            Code::Forbidden => "forbidden",
            Code::TooMany => "too-many",
            Code::QueueFull => "queue-full",
            Code::BufferFull => "buffer-full",
            Code::NotWritten => "not-written",
            Code::Unreadable => "unreadable",
            Code::Decoder => "decoder",
        }
    }

    /// Whether the same message may be accepted later. Nothing of it has been stored.
    pub fn is_temporary(self) -> bool {
        matches!(self, Code::TooMany | Code::QueueFull | Code::BufferFull | Code::NotWritten)
    }
}

/// The causes for which a message is kept in the quarantine: the kinds of decoders' errors, `schema`, and codes that have no such kind.
pub const KEPT_KINDS: [&str; 17] = [
    "truncated",
    "malformed",
    "type",
    "range",
    "limit",
    "reference",
    "schema",
    "media-type",
    "unknown-schema",
    "unknown-layout",
    "disabled",
    "unregistered",
    "name",
    "key",
    "too-large",
    "unwritable",
    "decoder",
];

/// Why a message is rejected.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{}: {detail}", code.as_str())]
pub struct Rejected {
    /// The cause, as a code.
    pub code: Code,
    /// The cause, for people.
    pub detail: String,
    /// A description of accepted input, which ends `detail` in the answer to the sender. It may be long, so logs and the quarantine leave
    /// it out.
    pub choice: String,
    /// The error kind of a decoder (`truncated`, `malformed`, `type`, `range`, `limit` or `reference`), or `schema` for a message that violates its
    /// schema.
    pub kind: Option<&'static str>,
    /// The offset of the error in the message, in bytes.
    pub offset: Option<usize>,
    /// The invalid value, as a JSON pointer.
    pub pointer: Option<String>,
    /// After how many seconds to retry; 0 if that is not known.
    pub wait_seconds: u32,
}

impl Rejected {
    /// Rejects a message with `code`; `detail` is for people.
    pub fn new(code: Code, detail: impl Into<String>) -> Rejected {
        Rejected {
            code,
            detail: detail.into(),
            choice: String::new(),
            kind: None,
            offset: None,
            pointer: None,
            wait_seconds: 0,
        }
    }

    /// Adds the error kind, and the offset in bytes at which it was found.
    pub fn at(self, kind: &'static str, offset: usize) -> Rejected {
        Rejected { kind: Some(kind), offset: Some(offset), ..self }
    }

    /// Adds a description of accepted input, for the sender alone.
    pub fn with_choice(self, choice: String) -> Rejected {
        Rejected { choice, ..self }
    }

    /// Returns the text for the sender.
    pub fn told(&self) -> String {
        format!("{}{}", self.detail, self.choice)
    }

    /// Returns the cause under which the message is kept, one of [`KEPT_KINDS`]. The kind of an unknown layout says less than its code.
    pub fn kept_kind(&self) -> &'static str {
        match self.code {
            Code::UnknownLayout => self.code.as_str(),
            code => self.kind.unwrap_or(code.as_str()),
        }
    }

    /// Whether the same message may be accepted later. Nothing of it has been stored.
    pub fn is_temporary(&self) -> bool {
        self.code.is_temporary()
    }

    /// Returns after how many seconds to send the same message again, at least 1, if the rejection is temporary.
    pub fn retry_after(&self) -> Option<u32> {
        self.is_temporary().then(|| self.wait_seconds.max(1))
    }

    /// A decoder rejected the bytes.
    pub fn undecodable(error: &Error) -> Rejected {
        let code = match error.kind() {
            // Well-formed bytes that do not encode a message of the schema, or a value that `Value` cannot represent.
            Kind::Type | Kind::Range => Code::NotRepresentable,
            _ => Code::Malformed,
        };
        let detail = match error.numbers() {
            Some(numbers) => {
                format!("{}, or set numbers = {numbers:?} in the device's profile", error.message())
            }
            None => error.message().to_owned(),
        };
        Rejected {
            kind: Some(error.kind().as_str()),
            offset: error.offset(),
            pointer: (!error.pointer().is_empty()).then(|| error.pointer().to_owned()),
            ..Rejected::new(code, detail)
        }
    }

    /// The message is larger than `limit` bytes.
    pub fn too_large(limit: usize) -> Rejected {
        Rejected::new(Code::TooLarge, format!("a message must have at most {limit} bytes")).at("limit", limit)
    }

    /// The media type cannot be decoded.
    pub fn unsupported(detail: impl Into<String>) -> Rejected {
        Rejected::new(Code::MediaType, detail)
    }

    /// The queue has no room.
    pub fn queue_full() -> Rejected {
        let detail = "the queue of messages waiting to be written is full; send the message again later";
        Rejected::new(Code::QueueFull, detail)
    }

    /// A decoder panicked on the message, which is in the quarantine.
    pub fn decoder_failed() -> Rejected {
        Rejected::new(Code::Decoder, "the decoder failed on this message, which is in the quarantine")
    }

    /// The message could not be written.
    pub fn not_written() -> Rejected {
        let detail = "the message could not be made durable and is not stored; send it again later";
        Rejected::new(Code::NotWritten, detail)
    }

    /// A delta refers to a message that the gateway does not have, or not only to one.
    pub fn reference(detail: impl Into<String>) -> Rejected {
        Rejected::new(Code::Reference, detail).at(Kind::Reference.as_str(), 0)
    }

    /// The parameter `what` is not a valid ID.
    pub fn bad_id(what: &str) -> Rejected {
        let detail =
            format!("{what} must be 1 to 64 of A-Z a-z 0-9 . _ : - and start with a letter or a digit");
        Rejected::new(Code::Name, detail)
    }

    /// The parameter `what` is not a valid device ID.
    pub fn bad_device(what: &str) -> Rejected {
        let detail =
            format!("{what} must be 1 to {MAX_DEVICE} bytes of UTF-8 text without control characters");
        Rejected::new(Code::Name, detail)
    }

    /// The parameter `what` is not a valid idempotency key.
    pub fn bad_key(what: &str) -> Rejected {
        Rejected::new(Code::Key, format!("{what} must be 1 to {MAX_KEY} visible ASCII characters"))
    }

    /// Incomplete messages hold as much memory as they may; `whose` names their senders.
    fn no_share(whose: &str) -> Rejected {
        let detail = format!(
            "incomplete messages {whose} use all the memory that they may use; send the message again later"
        );
        Rejected::new(Code::QueueFull, detail)
    }
}

impl From<NoRoom> for Rejected {
    fn from(no_room: NoRoom) -> Rejected {
        match no_room {
            NoRoom::All => Rejected::queue_full(),
            NoRoom::Incomplete => Rejected::no_share("of all senders"),
            NoRoom::Address => Rejected::no_share("from this address"),
            NoRoom::Device => Rejected::no_share("of this device"),
            NoRoom::GaveWay => {
                let detail =
                    "the message stopped arriving, and another message needed its memory; send it again";
                Rejected::new(Code::QueueFull, detail)
            }
        }
    }
}

impl From<Denied> for Rejected {
    fn from(denied: Denied) -> Rejected {
        match denied {
            Denied::Unauthorized(detail) => Rejected::new(Code::Unauthorized, detail),
            Denied::Forbidden(detail) => Rejected::new(Code::Forbidden, detail),
            Denied::BadHost(detail) => Rejected::new(Code::Host, detail),
            Denied::TooMany { detail, seconds } => {
                Rejected { wait_seconds: seconds, ..Rejected::new(Code::TooMany, detail) }
            }
        }
    }
}

impl From<ReadError> for Rejected {
    fn from(_: ReadError) -> Rejected {
        Rejected::new(Code::Unreadable, "the buffer could not be read; the log says why")
    }
}

impl From<Refusal> for Rejected {
    fn from(refusal: Refusal) -> Rejected {
        match refusal {
            Refusal::Full => Rejected::queue_full(),
            Refusal::BufferFull => {
                Rejected::new(Code::BufferFull, "the buffer is full; send the message again later")
            }
            Refusal::NotWritten => Rejected::not_written(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_is_kept_under_a_known_kind() {
        let kinds = [Kind::Truncated, Kind::Malformed, Kind::Type, Kind::Range, Kind::Limit, Kind::Reference]
            .map(Kind::as_str);
        let codes = [Code::Schema, Code::MediaType, Code::UnknownSchema, Code::Unwritable, Code::Decoder];
        let codes = codes.into_iter().chain([Code::Disabled, Code::Unregistered]);
        // From senders that get no answer.
        let codes = codes.chain([Code::Name, Code::Key, Code::TooLarge]);
        let codes = codes.map(|code| Rejected::new(code, "").kept_kind());
        let layout = Rejected::new(Code::UnknownLayout, "").at("range", 0).kept_kind();
        let all: Vec<_> = kinds.into_iter().chain(codes).chain([layout]).collect();
        assert!(all.len() == KEPT_KINDS.len() && all.iter().all(|kind| KEPT_KINDS.contains(kind)), "{all:?}");
    }
}
