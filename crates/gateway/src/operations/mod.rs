//! Operations: the state of inputs, outputs and storage, and changes of the quarantine and of dead letters. The admin socket (`admin/`) and
//! the API (`api/operations.rs`, `api/operate.rs`) both call this module.

pub mod credentials;
pub mod dead_letters;
pub mod inputs;
pub mod outputs;
pub mod quarantine;
pub mod register;
pub mod replay;
pub mod schemas;
pub mod storage;
pub mod trial;

use axum::http::StatusCode;
use dunnage_inputs::ProblemKind;

/// The body does not select messages.
pub const SELECTION: ProblemKind = ProblemKind::new(StatusCode::BAD_REQUEST, "selection", "Bad selection");

/// A failure of an input.
#[derive(serde::Serialize, utoipa::ToSchema)]
pub struct InputFailure {
    /// The time, as RFC 3339.
    pub at: String,
    /// The reason, for people.
    pub reason: String,
}
