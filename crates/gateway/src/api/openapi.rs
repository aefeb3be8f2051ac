//! What can be asked of the gateway, as an OpenAPI 3.1 document. It is made of what stands at the functions that answer.

use super::{events, health, lists};
use crate::inputs::{http, webhooks};
use axum::Json;
use utoipa::OpenApi;

#[derive(OpenApi)]
#[openapi(
    info(
        title = "Dunnage gateway",
        description = "Takes telemetry, makes it durable, and only then acknowledges it. Problems are RFC 9457 documents; their types are in spec/ingest.md.",
    ),
    paths(
        http::ingest,
        webhooks::call,
        lists::devices,
        lists::device_messages,
        lists::messages,
        lists::rejects,
        health::stats,
        events::events,
        health::healthz,
        health::readyz,
        health::metrics,
    )
)]
struct Document;

/// The document.
pub fn document() -> utoipa::openapi::OpenApi {
    Document::openapi()
}

pub async fn openapi() -> Json<utoipa::openapi::OpenApi> {
    Json(document())
}
