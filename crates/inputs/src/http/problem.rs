//! Errors as HTTP clients see them: `application/problem+json` (RFC 9457).

use axum::{
    http::{HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use dunnage_access::Denied;
use dunnage_buffer::{ReadError, Refusal};
use dunnage_ingest::{Code, Rejected, media_types::KNOWN};
use serde::Serialize;
use std::collections::BTreeMap;
use utoipa::{
    ToSchema,
    openapi::{Content, Ref, RefOr, Response as Documented},
};

/// The media type of problems.
const MEDIA_TYPE: &str = "application/problem+json";

/// A kind of problem: all problems with its code have its status and its title.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProblemKind {
    /// The status of the response.
    pub status: StatusCode,
    /// The code, as in `spec/ingest.md`.
    pub code: &'static str,
    /// What the problem is, for people.
    pub title: &'static str,
}

impl ProblemKind {
    /// Creates a kind of problem.
    pub const fn new(status: StatusCode, code: &'static str, title: &'static str) -> ProblemKind {
        ProblemKind { status, code, title }
    }
}

/// An error that a request is answered with.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct Problem {
    /// `urn:dunnage:problem:` and a code from the table in `spec/ingest.md`, or one of the playground's own.
    #[serde(rename = "type", serialize_with = "urn")]
    #[schema(value_type = String, example = "urn:dunnage:problem:malformed")]
    code: &'static str,
    title: &'static str,
    #[serde(serialize_with = "number")]
    #[schema(value_type = u16)]
    status: StatusCode,
    /// The cause, for people.
    detail: String,
    /// The error kind of a decoder (`truncated`, `malformed`, `type`, `range`, `limit` or `reference`), or `schema` for a message that
    /// breaks its schema.
    #[serde(skip_serializing_if = "Option::is_none")]
    kind: Option<&'static str>,
    /// The offset of the error in the body, in bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    offset: Option<usize>,
    /// The invalid value, as a JSON pointer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pointer: Option<String>,
    /// After how many seconds to send the request again; 0 if that makes no sense.
    #[serde(skip)]
    retry_after: u32,
}

impl Problem {
    /// Creates a problem. Those with the status 503 are temporary.
    pub fn new(kind: ProblemKind, detail: impl Into<String>) -> Self {
        let ProblemKind { status, code, title } = kind;
        let retry_after = u32::from(status == StatusCode::SERVICE_UNAVAILABLE);
        let detail = detail.into();
        Problem { code, title, status, detail, kind: None, offset: None, pointer: None, retry_after }
    }

    /// Adds the error kind, and the offset in the body at which it was found, if that is known.
    pub fn at(self, kind: &'static str, offset: Option<usize>) -> Self {
        Problem { kind: Some(kind), offset, ..self }
    }

    /// There is nothing at the address.
    pub fn not_found(detail: impl Into<String>) -> Self {
        Rejected::new(Code::NotFound, detail).into()
    }

    /// The buffer could not be read, which is not the request's fault.
    pub fn unreadable() -> Self {
        ReadError.into()
    }
}

impl From<Code> for ProblemKind {
    fn from(code: Code) -> ProblemKind {
        let (status, title) = status_and_title(code);
        ProblemKind { status, code: code.as_str(), title }
    }
}

fn status_and_title(code: Code) -> (StatusCode, &'static str) {
    match code {
        Code::Malformed => (StatusCode::BAD_REQUEST, "Malformed message"),
        Code::NotRepresentable => (StatusCode::UNPROCESSABLE_ENTITY, "Not representable"),
        Code::Schema => (StatusCode::UNPROCESSABLE_ENTITY, "Schema violation"),
        Code::UnknownSchema => (StatusCode::NOT_FOUND, "Unknown schema"),
        Code::UnknownLayout => (StatusCode::UNPROCESSABLE_ENTITY, "Unknown layout"),
        Code::Disabled => (StatusCode::FORBIDDEN, "Device disabled"),
        Code::Unregistered => (StatusCode::FORBIDDEN, "Device not registered"),
        Code::Reference => (StatusCode::CONFLICT, "Unknown reference"),
        Code::Unwritable => (StatusCode::UNPROCESSABLE_ENTITY, "Cannot be stored"),
        Code::MediaType => (StatusCode::UNSUPPORTED_MEDIA_TYPE, "Unsupported media type"),
        Code::ContentEncoding => (StatusCode::UNSUPPORTED_MEDIA_TYPE, "Unsupported content encoding"),
        Code::TooLarge => (StatusCode::PAYLOAD_TOO_LARGE, "Message too large"),
        Code::Name => (StatusCode::BAD_REQUEST, "Invalid name"),
        Code::Key => (StatusCode::BAD_REQUEST, "Invalid key"),
        Code::Query => (StatusCode::BAD_REQUEST, "Bad query"),
        Code::Body => (StatusCode::BAD_REQUEST, "Unreadable body"),
        Code::BodyTimeout => (StatusCode::REQUEST_TIMEOUT, "Body too slow"),
        Code::Block => (StatusCode::BAD_REQUEST, "Invalid block"),
        Code::Incomplete => (StatusCode::REQUEST_TIMEOUT, "Blocks missing"),
        Code::Callback => (StatusCode::BAD_REQUEST, "Not a request of the provider"),
        Code::NotFound => (StatusCode::NOT_FOUND, "Not found"),
        Code::Method => (StatusCode::METHOD_NOT_ALLOWED, "Method not allowed"),
        Code::Host => (StatusCode::BAD_REQUEST, "Bad Host"),
        Code::Unauthorized => (StatusCode::UNAUTHORIZED, "Unauthorized"),
        Code::Forbidden => (StatusCode::FORBIDDEN, "Forbidden"),
        Code::TooMany => (StatusCode::TOO_MANY_REQUESTS, "Too many requests"),
        Code::QueueFull => (StatusCode::SERVICE_UNAVAILABLE, "Queue full"),
        Code::BufferFull => (StatusCode::SERVICE_UNAVAILABLE, "Buffer full"),
        Code::NotWritten => (StatusCode::SERVICE_UNAVAILABLE, "Not written"),
        Code::Unreadable => (StatusCode::INTERNAL_SERVER_ERROR, "Buffer not readable"),
        Code::Decoder => (StatusCode::INTERNAL_SERVER_ERROR, "Decoder failed"),
    }
}

impl From<Rejected> for Problem {
    fn from(rejected: Rejected) -> Problem {
        let retry_after = rejected.retry_after().unwrap_or_default();
        let problem = Problem::new(rejected.code.into(), rejected.told());
        let Rejected { kind, offset, pointer, .. } = rejected;
        Problem { kind, offset, pointer, retry_after, ..problem }
    }
}

impl From<Denied> for Problem {
    fn from(denied: Denied) -> Problem {
        Rejected::from(denied).into()
    }
}

impl From<ReadError> for Problem {
    fn from(error: ReadError) -> Problem {
        Rejected::from(error).into()
    }
}

impl From<Refusal> for Problem {
    fn from(refusal: Refusal) -> Problem {
        Rejected::from(refusal).into()
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let body = serde_json::to_string(&self).unwrap_or_default();
        let mut response = (self.status, body).into_response();
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(MEDIA_TYPE));
        headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
        if self.retry_after > 0 {
            headers.insert(header::RETRY_AFTER, self.retry_after.into());
        }
        if self.status == StatusCode::UNAUTHORIZED {
            // Browsers prompt for credentials only for Basic.
            for scheme in ["Bearer realm=\"dunnage\"", "Basic realm=\"dunnage\", charset=\"UTF-8\""] {
                headers.append(header::WWW_AUTHENTICATE, HeaderValue::from_static(scheme));
            }
        }
        if self.code == Code::MediaType.as_str()
            && let Ok(known) = HeaderValue::try_from(&**KNOWN)
        {
            // RFC 9110, 15.5.16: the media types that requests may have.
            headers.insert(header::ACCEPT, known);
        }
        if self.code == Code::ContentEncoding.as_str() {
            // RFC 9110, 12.5.3: in an answer, the codings that requests may use.
            headers.insert(header::ACCEPT_ENCODING, HeaderValue::from_static("gzip, zstd, identity"));
        }
        response
    }
}

/// Returns the responses with these problems, for the OpenAPI document.
pub fn documented(kinds: &[ProblemKind]) -> BTreeMap<String, RefOr<Documented>> {
    let mut codes: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for kind in kinds {
        codes.entry(kind.status.as_str().to_owned()).or_default().push(format!("`{}`", kind.code));
    }
    let response = |codes: Vec<String>| {
        let mut response = Documented::new(codes.join(", "));
        let schema = RefOr::Ref(Ref::from_schema_name("Problem"));
        response.content.insert(MEDIA_TYPE.to_owned(), Content::new(Some(schema)).into());
        RefOr::T(response)
    };
    codes.into_iter().map(|(status, codes)| (status, response(codes))).collect()
}

/// Declares types that stand for some problems in the annotations of handlers.
#[macro_export]
macro_rules! problems {
    ($($(#[$doc:meta])* $visibility:vis $name:ident: $($kind:expr),+;)+) => {$(
        $(#[$doc])*
        $visibility struct $name;

        impl ::utoipa::IntoResponses for $name {
            fn responses() -> ::std::collections::BTreeMap<
                String,
                ::utoipa::openapi::RefOr<::utoipa::openapi::response::Response>,
            > {
                $crate::http::problem::documented(&[$($kind.into()),+])
            }
        }
    )+};
}

problems! {
    /// The problems of requests that a peer may not make.
    pub AccessProblems: Code::Unauthorized, Code::Forbidden, Code::TooMany;
    /// The problems of messages and batches.
    pub(crate) IngestProblems: Code::Malformed, Code::Name, Code::Key, Code::Query, Code::Body, Code::Unauthorized, Code::Forbidden,
        Code::UnknownSchema, Code::BodyTimeout, Code::Reference, Code::TooLarge, Code::MediaType, Code::ContentEncoding, Code::Schema,
        Code::NotRepresentable, Code::UnknownLayout, Code::Disabled, Code::Unregistered, Code::Unwritable, Code::TooMany, Code::Decoder, Code::QueueFull, Code::BufferFull,
        Code::NotWritten;
    /// The problems of webhooks.
    pub(crate) HookProblems: Code::Callback, Code::Name, Code::Query, Code::Unauthorized, Code::BodyTimeout, Code::TooLarge, Code::TooMany,
        Code::QueueFull, Code::BufferFull, Code::NotWritten;
}

fn urn<S: serde::Serializer>(code: &&'static str, to: S) -> Result<S::Ok, S::Error> {
    to.collect_str(&format_args!("urn:dunnage:problem:{code}"))
}

fn number<S: serde::Serializer>(status: &StatusCode, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_u16(status.as_u16())
}
