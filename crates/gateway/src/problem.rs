//! Errors as clients see them: `application/problem+json` (RFC 9457). Inputs over other protocols map them to their own codes.

use crate::media_types::KNOWN;
use axum::{
    http::{HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use dunnage_access::Denied;
use dunnage_base::name::MAX_KEY;
use dunnage_buffer::{NoRoom, ReadError, Refusal};
use dunnage_formats::{Error, Kind};
use serde::Serialize;
use utoipa::ToSchema;

/// An error that a request is answered with.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct Problem {
    /// `urn:dunnage:problem:` and a code from the table in `spec/ingest.md`.
    #[serde(rename = "type", serialize_with = "urn")]
    #[schema(value_type = String, example = "urn:dunnage:problem:malformed")]
    name: &'static str,
    title: &'static str,
    #[serde(serialize_with = "code")]
    #[schema(value_type = u16)]
    status: StatusCode,
    /// What happened, for people.
    pub detail: String,
    /// The error kind of a decoder (`truncated`, `malformed`, `type`, `range` or `limit`), or `schema` for a message that breaks its
    /// schema.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<&'static str>,
    /// The offset of the error in the body, in bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub offset: Option<usize>,
    /// The invalid value, as a JSON pointer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pointer: Option<String>,
    /// After how many seconds to retry; 0 if that is not known.
    #[serde(skip)]
    wait: u32,
}

impl Problem {
    /// Creates a problem with the code `name`; `title` is the same for all problems with this code.
    pub fn new(
        status: StatusCode,
        name: &'static str,
        title: &'static str,
        detail: impl Into<String>,
    ) -> Self {
        Problem {
            name,
            title,
            status,
            detail: detail.into(),
            kind: None,
            offset: None,
            pointer: None,
            wait: 0,
        }
    }

    /// Returns the status of the answer.
    pub fn status(&self) -> StatusCode {
        self.status
    }

    /// Returns the problem code.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// Whether the same message may be accepted later. Nothing of it has been stored.
    pub fn is_temporary(&self) -> bool {
        matches!(self.status, StatusCode::SERVICE_UNAVAILABLE | StatusCode::TOO_MANY_REQUESTS)
    }

    /// Returns after how many seconds to send the same message again, at least 1, if the problem is temporary.
    pub fn retry_after(&self) -> Option<u32> {
        self.is_temporary().then(|| self.wait.max(1))
    }

    /// Whether the queue is full.
    pub fn is_full(&self) -> bool {
        self.name == "queue-full"
    }

    /// A decoder rejected the body.
    pub fn undecodable(error: &Error) -> Self {
        // 422 for well-formed bytes that are no message of the schema, or none that a `Value` can represent; 400 for all others.
        let (status, name, title) = match error.kind() {
            Kind::Type | Kind::Range => {
                (StatusCode::UNPROCESSABLE_ENTITY, "not-representable", "Not representable")
            }
            _ => (StatusCode::BAD_REQUEST, "malformed", "Malformed message"),
        };
        let mut problem = Problem::new(status, name, title, error.message());
        (problem.kind, problem.offset) = (Some(error.kind().as_str()), error.known_offset());
        problem.pointer = (!error.pointer().is_empty()).then(|| error.pointer().to_owned());
        problem
    }

    /// The code for a body with an unknown content coding. The answer lists the known ones.
    pub const CONTENT_ENCODING: &str = "content-encoding";

    /// The message is larger than `limit` bytes.
    pub fn too_large(limit: usize) -> Self {
        let detail = format!("a message must have at most {limit} bytes");
        let title = "Message too large";
        let mut problem = Problem::new(StatusCode::PAYLOAD_TOO_LARGE, "too-large", title, detail);
        (problem.kind, problem.offset) = (Some("limit"), Some(limit));
        problem
    }

    /// The body's media type cannot be decoded.
    pub fn unsupported(detail: impl Into<String>) -> Self {
        Problem::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "media-type", "Unsupported media type", detail)
    }

    /// The queue has no room.
    pub fn full() -> Self {
        let detail = "the queue of messages waiting to be written is full; send the message again later";
        Problem::new(StatusCode::SERVICE_UNAVAILABLE, "queue-full", "Queue full", detail)
    }

    /// Incomplete messages hold as much memory as they may; `whose` names their senders.
    fn no_share(whose: &str) -> Self {
        let detail = format!(
            "incomplete messages {whose} use all the memory that they may use; send the message again later"
        );
        Problem { detail, ..Problem::full() }
    }

    /// The buffer is at its limit.
    pub fn buffer_full() -> Self {
        let detail = "the buffer is full; send the message again after the outputs have delivered some";
        Problem::new(StatusCode::SERVICE_UNAVAILABLE, "buffer-full", "Buffer full", detail)
    }

    /// A decoder panicked on the message, which is in the quarantine.
    pub fn decoder_failed() -> Self {
        let detail = "the decoder failed on this message, which is in the quarantine";
        Problem::new(StatusCode::INTERNAL_SERVER_ERROR, "decoder", "Decoder failed", detail)
    }

    /// The message could not be written.
    pub fn not_written() -> Self {
        let detail = "the message could not be made durable and is not stored; send it again later";
        Problem::new(StatusCode::SERVICE_UNAVAILABLE, "not-written", "Not written", detail)
    }

    /// The parameter `what` is not a valid ID.
    pub fn bad_name(what: &str) -> Self {
        let detail =
            format!("{what} must be 1 to 64 of A-Z a-z 0-9 . _ : - and start with a letter or a digit");
        Problem::new(StatusCode::BAD_REQUEST, "name", "Invalid name", detail)
    }

    /// The parameter `what` is not a valid idempotency key.
    pub fn bad_key(what: &str) -> Self {
        let detail = format!("{what} must be 1 to {MAX_KEY} visible ASCII characters");
        Problem::new(StatusCode::BAD_REQUEST, "key", "Invalid key", detail)
    }

    /// There is nothing at the address.
    pub fn not_found(detail: impl Into<String>) -> Self {
        Problem::new(StatusCode::NOT_FOUND, "not-found", "Not found", detail)
    }

    /// The buffer could not be read, which is not the request's fault.
    pub fn unreadable() -> Self {
        let detail = "the buffer could not be read; the log says why";
        Problem::new(StatusCode::INTERNAL_SERVER_ERROR, "unreadable", "Buffer not readable", detail)
    }
}

impl From<NoRoom> for Problem {
    fn from(no_room: NoRoom) -> Problem {
        match no_room {
            NoRoom::All => Problem::full(),
            NoRoom::Incomplete => Problem::no_share("of all senders"),
            NoRoom::Address => Problem::no_share("from this address"),
            NoRoom::Device => Problem::no_share("of this device"),
            NoRoom::GaveWay => {
                let detail =
                    "the message stopped arriving, and another message needed its memory; send it again";
                Problem { detail: detail.into(), ..Problem::full() }
            }
        }
    }
}

impl From<Denied> for Problem {
    fn from(denied: Denied) -> Problem {
        let code = denied.code();
        match denied {
            Denied::Unauthorized(detail) => {
                Problem::new(StatusCode::UNAUTHORIZED, code, "Unauthorized", detail)
            }
            Denied::Forbidden(detail) => Problem::new(StatusCode::FORBIDDEN, code, "Forbidden", detail),
            Denied::BadHost(detail) => Problem::new(StatusCode::BAD_REQUEST, code, "Bad Host", detail),
            Denied::TooMany { detail, seconds } => Problem {
                wait: seconds,
                ..Problem::new(StatusCode::TOO_MANY_REQUESTS, code, "Too many requests", detail)
            },
        }
    }
}

impl From<ReadError> for Problem {
    fn from(_: ReadError) -> Problem {
        Problem::unreadable()
    }
}

impl From<Refusal> for Problem {
    fn from(refusal: Refusal) -> Problem {
        match refusal {
            Refusal::Full => Problem::full(),
            Refusal::BufferFull => Problem::buffer_full(),
            Refusal::NotWritten => Problem::not_written(),
        }
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let body = serde_json::to_string(&self).unwrap_or_default();
        let mut response = (self.status, body).into_response();
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/problem+json"));
        headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
        if let Some(seconds) = self.retry_after() {
            headers.insert(header::RETRY_AFTER, seconds.into());
        }
        if self.status == StatusCode::UNAUTHORIZED {
            // Browsers prompt for credentials only for Basic.
            for scheme in ["Bearer realm=\"dunnage\"", "Basic realm=\"dunnage\", charset=\"UTF-8\""] {
                headers.append(header::WWW_AUTHENTICATE, HeaderValue::from_static(scheme));
            }
        }
        if self.name == "media-type"
            && let Ok(known) = HeaderValue::try_from(&**KNOWN)
        {
            // RFC 9110, 15.5.16: the media types that requests may have.
            headers.insert(header::ACCEPT, known);
        }
        if self.name == Problem::CONTENT_ENCODING {
            // RFC 9110, 12.5.3: in an answer, the codings that requests may use.
            headers.insert(header::ACCEPT_ENCODING, HeaderValue::from_static("gzip, zstd, identity"));
        }
        response
    }
}

fn urn<S: serde::Serializer>(name: &&'static str, to: S) -> Result<S::Ok, S::Error> {
    to.collect_str(&format_args!("urn:dunnage:problem:{name}"))
}

fn code<S: serde::Serializer>(status: &StatusCode, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_u16(status.as_u16())
}
