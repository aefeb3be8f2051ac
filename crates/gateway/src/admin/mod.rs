//! The admin surface: what an operator asks and tells a running gateway, as JSON over a Unix socket.
//!
//! It is not part of the HTTP port. Whoever may write to the socket's file may use it.

mod client;
mod quarantine;
mod socket;
mod status;

pub use client::{AdminClient, AdminError};
pub use socket::{Socket, SocketError, check_length};

use crate::{config::Config, problem::Problem, shared::Shared};
use axum::{
    Router,
    extract::{self, rejection::QueryRejection},
    http::StatusCode,
    routing::{get, post},
};
use std::{net::SocketAddr, sync::Arc};
use tokio::{sync::Mutex, task::AbortHandle};

/// What the handlers share.
struct Admin {
    shared: Arc<Shared>,
    config: Config,
    address: SocketAddr,
    /// The quarantine is changed by one request at a time.
    quarantine: Mutex<()>,
}

/// Serves what a gateway that was started with `config` and listens on `address` can be asked, until it is aborted.
pub fn serve(socket: Socket, shared: Arc<Shared>, config: Config, address: SocketAddr) -> AbortHandle {
    let admin = Arc::new(Admin { shared, config, address, quarantine: Mutex::new(()) });
    let router = Router::new()
        .route("/status", get(status::status))
        .route("/quarantine", get(quarantine::list))
        .route("/quarantine/retry", post(quarantine::retry))
        .route("/quarantine/drop", post(quarantine::discard))
        .fallback(async || Problem::not_found("there is nothing at this address"))
        .with_state(admin);
    tokio::spawn(async move { axum::serve(socket, router).await }).abort_handle()
}

type Query<T> = Result<extract::Query<T>, QueryRejection>;

/// What was asked.
fn query<T>(asked: Query<T>) -> Result<T, Problem> {
    asked
        .map(|extract::Query(asked)| asked)
        .map_err(|e| Problem::new(StatusCode::BAD_REQUEST, "query", "Bad query", e.body_text()))
}
