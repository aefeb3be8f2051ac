//! The problems of the playground, and which of them each handler has.

use axum::http::StatusCode;
use dunnage_inputs::{Code, ProblemKind, problems};

/// The request is not one of the playground.
pub const MALFORMED: ProblemKind =
    ProblemKind::new(StatusCode::BAD_REQUEST, "malformed", "Malformed request");
/// There is no link of that ID.
pub const LINK: ProblemKind = ProblemKind::new(StatusCode::BAD_REQUEST, "link", "Unknown link");
/// The fleet cannot be computed.
pub const FLEET: ProblemKind = ProblemKind::new(StatusCode::BAD_REQUEST, "fleet", "Fleet out of range");
/// The request is too large.
pub const TOO_LARGE: ProblemKind =
    ProblemKind::new(StatusCode::PAYLOAD_TOO_LARGE, "too-large", "Request too large");
/// The body is not `application/json`, which pages of other sites cannot send.
pub const CONTENT_TYPE: ProblemKind =
    ProblemKind::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "content-type", "Unsupported media type");
/// The answer takes too long, or too much memory.
pub const TOO_MUCH_WORK: ProblemKind =
    ProblemKind::new(StatusCode::UNPROCESSABLE_ENTITY, "work", "Too much work");
/// The answer could not be computed.
pub const FAILED: ProblemKind = ProblemKind::new(StatusCode::INTERNAL_SERVER_ERROR, "failed", "Not computed");
/// As many requests wait as may.
pub const ANSWERS: ProblemKind =
    ProblemKind::new(StatusCode::SERVICE_UNAVAILABLE, "answers", "Too many answers");

problems! {
    /// The problems of a request that nothing waits for.
    pub AboutProblems: Code::Unauthorized, Code::Forbidden;
    /// The problems of a question.
    pub QuestionProblems: MALFORMED, Code::Body, Code::Unauthorized, Code::Forbidden, Code::BodyTimeout, TOO_LARGE, CONTENT_TYPE, TOO_MUCH_WORK,
        FAILED, ANSWERS;
    /// The problems of a question about a link and a fleet.
    pub PlayProblems: MALFORMED, Code::Body, LINK, FLEET, Code::Unauthorized, Code::Forbidden, Code::BodyTimeout, TOO_LARGE,
        CONTENT_TYPE, TOO_MUCH_WORK, FAILED, ANSWERS;
}
