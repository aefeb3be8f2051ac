//! The counts, health checks and metrics.

use super::guard::Everything;
use super::objects::StatsObject;
use super::problems::{NOT_READY, QueryProblems, ReadinessProblems};
use crate::{
    metrics::{Moment, plain},
    state::GatewayState,
};
use axum::{
    Json,
    extract::State,
    http::{HeaderMap, header},
    response::IntoResponse,
};
use dunnage_base::clock;
use dunnage_buffer::Use;
use dunnage_inputs::{AccessProblems, NoQuery, Problem};
use std::sync::Arc;

#[utoipa::path(get, path = "/api/stats", tag = "api", responses(
    (status = 200, description = "Counts over the life of the buffer.", body = StatsObject),
    QueryProblems,
    AccessProblems,
))]
pub async fn stats(Everything(state): Everything, _: NoQuery) -> Json<StatsObject> {
    Json(StatsObject::of(&state))
}

/// The process serves requests.
#[utoipa::path(get, path = "/healthz", tag = "health", security(()), responses(
    (status = 200, description = "The process serves requests.", body = String, content_type = "text/plain"),
))]
pub async fn healthz() -> &'static str {
    "ok\n"
}

/// A message that comes now can be made durable.
#[utoipa::path(get, path = "/readyz", tag = "health", security(()), responses(
    (status = 200, description = "A message that comes now can be made durable.", body = String, content_type = "text/plain"),
    ReadinessProblems,
))]
pub async fn readyz(State(state): State<Arc<GatewayState>>) -> Result<&'static str, Problem> {
    let reason = if state.buffer().queue.is_closed() {
        "the writer has ended"
    } else if !state.buffer().stats.is_writable() {
        "cannot write to the buffer; the log says why"
    } else if state.buffer().queue.is_buffer_full() {
        "the buffer is full"
    } else if state.buffer().queue.free() == 0 {
        "the queue is full"
    } else {
        return Ok("ready\n");
    };
    Err(Problem::new(NOT_READY, reason))
}

#[utoipa::path(get, path = "/metrics", tag = "health", responses(
    (
        status = 200,
        description = "For Prometheus: its text format 0.0.4, or OpenMetrics where `Accept` names that.",
        content((String = "text/plain"), (String = "application/openmetrics-text"))
    ),
    AccessProblems,
))]
pub async fn metrics(Everything(state): Everything, headers: HeaderMap) -> impl IntoResponse {
    let oldest = state.buffer().readers.of(Use::Admin).oldest().await.ok().flatten();
    let age = oldest.map_or(0, |received_at| clock::now().saturating_sub(received_at).max(0));
    let (buffer_bytes, wal_bytes) = state.buffer().readers.bytes();
    // Last, because outputs may begin meanwhile: their lag would be shown as 0.
    let (queue, totals) = (&state.buffer().queue, state.buffer().stats.totals());
    state.outputs.gauge(totals.last_message_id);
    let moment = Moment {
        queue_messages: queue.depth(),
        queue_bytes: queue.bytes(),
        buffer_bytes,
        wal_bytes,
        writable: state.buffer().stats.is_writable(),
        full: queue.is_buffer_full(),
        oldest_seconds: age as f64 / 1e6,
    };
    let text = state.metrics.text(&totals, &moment);
    let accept = headers.get(header::ACCEPT).and_then(|accept| accept.to_str().ok());
    let (media, text) = match plain::wants_openmetrics(accept) {
        true => (plain::OPENMETRICS, text),
        false => (plain::PLAIN, plain::plain(&text)),
    };
    ([(header::CONTENT_TYPE, media), (header::VARY, "Accept")], text)
}
