//! The admin interface of a running gateway: JSON over HTTP over a Unix socket.
//!
//! It is not reachable through the HTTP port, which offers a part of it to operators with a token (`api/operate.rs`). The socket's file permissions and the user of each connection decide who may use it.

mod client;
mod dead_letters;
mod ids;
mod quarantine;
mod register;
mod replay;
mod socket;
mod status;
mod trial;

pub use client::{AdminClient, AdminError};
pub use socket::{Socket, SocketError, check_length};

use crate::{
    operations::register::FILE,
    reload::{Reloaded, Reloader},
    state::GatewayState,
};
use axum::{
    Json, Router,
    extract::{self, DefaultBodyLimit, State, rejection::QueryRejection},
    http::StatusCode,
    routing::{get, post},
};
use dunnage_inputs::{Problem, ProblemKind, query};
use std::sync::Arc;
use tokio::task::AbortHandle;

/// The state that the handlers share.
struct Admin {
    state: Arc<GatewayState>,
    reloader: Arc<Reloader>,
}

/// Serves the admin interface of a gateway until it is aborted.
#[expect(
    clippy::disallowed_methods,
    reason = "the OpenAPI document is of the HTTP port, and this is not on it"
)]
pub fn serve(socket: Socket, state: Arc<GatewayState>, reloader: Arc<Reloader>) -> AbortHandle {
    let admin = Arc::new(Admin { state, reloader });
    let router = Router::new()
        .route("/status", get(status::status))
        .route("/quarantine", get(quarantine::list))
        .route("/quarantine/retry", post(quarantine::retry))
        .route("/quarantine/discard", post(quarantine::discard))
        .route("/dead-letters", get(dead_letters::list))
        .route("/dead-letters/retry", post(dead_letters::retry))
        .route("/dead-letters/discard", post(dead_letters::discard))
        .route("/outputs/try", post(trial::run))
        .route("/outputs/replay", post(replay::begin))
        .route("/outputs/replay/change", post(replay::change))
        .route("/devices", get(register::list))
        .route("/devices/show", get(register::show))
        .route("/devices/add", post(register::add))
        .route("/devices/set", post(register::set))
        .route("/devices/remove", post(register::remove))
        .route("/devices/import", post(register::import))
        .route("/devices/export", get(register::export))
        .layer(DefaultBodyLimit::max(FILE))
        .route("/reload", post(reload))
        .fallback(async || Problem::not_found("nothing is at this address"))
        .with_state(admin);
    tokio::spawn(async move { axum::serve(socket, router).await }).abort_handle()
}

/// The new configuration does not apply.
const NOT_RELOADED: ProblemKind =
    ProblemKind::new(StatusCode::UNPROCESSABLE_ENTITY, "configuration", "Not reloaded");

/// `POST /reload`
async fn reload(State(admin): State<Arc<Admin>>) -> Result<Json<Reloaded>, Problem> {
    let reloaded = admin.reloader.reload().await;
    reloaded.map(Json).map_err(|e| Problem::new(NOT_RELOADED, e.to_string()))
}

type Query<T> = Result<extract::Query<T>, QueryRejection>;

/// Returns the parsed query, or the problem with it.
fn query<T>(asked: Query<T>) -> Result<T, Problem> {
    asked.map(|extract::Query(asked)| asked).map_err(|e| query::bad_query(e.body_text()).into())
}
