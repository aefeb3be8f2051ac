//! The problems of the API beside those of inputs, and which of them each handler has.

pub use crate::operations::SELECTION;
use crate::operations::{
    dead_letters::NOT_RUNNING,
    register::{CONFLICT, RECORD},
    replay::{NO_REPLAY, NOT_COMPLETE, NOT_REPLAYABLE},
    trial::{EXPRESSION, NOT_EVALUATED},
};
use axum::http::StatusCode;
use dunnage_ingest::Code;
use dunnage_inputs::{ProblemKind, problems};

/// The API answers as many clients as it may.
pub const ANSWERS: ProblemKind =
    ProblemKind::new(StatusCode::SERVICE_UNAVAILABLE, "answers", "Too many answers");
/// As many clients watch events as may.
pub const WATCHERS: ProblemKind =
    ProblemKind::new(StatusCode::SERVICE_UNAVAILABLE, "watchers", "Too many watchers");
/// The gateway does not accept messages.
pub const NOT_READY: ProblemKind =
    ProblemKind::new(StatusCode::SERVICE_UNAVAILABLE, "not-ready", "Not ready");
/// A browser sent the request for a page of another site.
pub const CROSS_SITE: ProblemKind =
    ProblemKind::new(StatusCode::FORBIDDEN, "cross-site", "Page of another site");
/// The content type of an operation is not JSON, which pages of other sites could send.
pub const NOT_JSON: ProblemKind =
    ProblemKind::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "not-json", "Not JSON");
problems! {
    /// The problems of parameters.
    pub QueryProblems: Code::Query;
    /// The problems of IDs in paths.
    pub NameProblems: Code::Name;
    /// The problems of parameters, and of IDs in paths.
    pub QueryAndNameProblems: Code::Query, Code::Name;
    /// The problems of answers from the buffer.
    pub ReadProblems: Code::Unreadable;
    /// The problems of answers that many clients ask for.
    pub AnswerProblems: ANSWERS;
    /// The problems of streams of events.
    pub WatcherProblems: WATCHERS;
    /// The problems of a gateway that does not accept messages.
    pub ReadinessProblems: NOT_READY;
    /// The problems of deliveries by an output.
    pub NotRunningProblems: NOT_RUNNING;
    /// The problems of operations on the quarantine.
    pub QuarantineProblems: Code::Query, SELECTION, Code::Body, Code::Unauthorized, Code::Forbidden, CROSS_SITE, Code::BodyTimeout,
        Code::TooLarge, NOT_JSON, Code::TooMany, Code::Unreadable, Code::QueueFull, Code::NotWritten;
    /// The problems of operations on dead letters.
    pub DeadLetterProblems: Code::Query, Code::Name, SELECTION, Code::Body, Code::Unauthorized, Code::Forbidden, CROSS_SITE,
        Code::BodyTimeout, Code::TooLarge, NOT_JSON, Code::TooMany, Code::Unreadable, Code::QueueFull;
    /// The problems of trials of expressions.
    pub TrialProblems: Code::Query, Code::Name, SELECTION, EXPRESSION, Code::Body, Code::Unauthorized, Code::Forbidden, CROSS_SITE,
        Code::BodyTimeout, Code::TooLarge, NOT_JSON, Code::TooMany, Code::Unreadable, NOT_EVALUATED;
    /// The problems of new replays.
    pub ReplayProblems: Code::Query, Code::Name, SELECTION, Code::Body, Code::Unauthorized, Code::Forbidden, CROSS_SITE,
        Code::BodyTimeout, Code::TooLarge, NOT_JSON, Code::TooMany, Code::Unreadable, NOT_RUNNING, NOT_REPLAYABLE, NOT_COMPLETE;
    /// The problems of changes of a replay.
    pub ReplayChangeProblems: Code::Query, Code::Name, SELECTION, Code::Body, Code::Unauthorized, Code::Forbidden, CROSS_SITE,
        Code::BodyTimeout, Code::TooLarge, NOT_JSON, Code::TooMany, Code::Unreadable, NOT_RUNNING, NO_REPLAY;
    /// The problems of changes of the register.
    pub RegisterProblems: Code::Query, Code::Name, RECORD, CONFLICT, Code::Body, Code::Unauthorized, Code::Forbidden, CROSS_SITE,
        Code::BodyTimeout, Code::TooLarge, NOT_JSON, Code::TooMany, Code::Unreadable, Code::QueueFull, Code::NotWritten;
}
