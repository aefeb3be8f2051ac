//! The OpenAPI 3.1 document of the HTTP port. It is generated from the routes and the annotations of their handlers, and `clippy.toml`
//! forbids routes that bypass it.

use super::problems::QueryProblems;
use super::{health, operable, readable};
use crate::state::GatewayState;
use axum::{http::header, response::IntoResponse};
use dunnage_inputs::{AccessProblems, NoQuery};
use std::sync::{Arc, LazyLock};
use utoipa::{
    Modify, OpenApi,
    openapi::security::{Http, HttpAuthScheme, SecurityScheme},
};
use utoipa_axum::router::OpenApiRouter;

// The empty requirement represents peers that need no token: on the loopback address, or as `[access] who` allows.
#[derive(OpenApi)]
#[openapi(
    info(
        title = "Dunnage gateway",
        description = "Takes telemetry, makes it durable, and only then acknowledges it. Problems are RFC 9457 documents; their types are in spec/ingest.md.",
    ),
    modifiers(&Credentials),
    security((), ("token" = []), ("password" = []))
)]
struct About;

/// Adds the ways to send a token.
struct Credentials;

impl Modify for Credentials {
    fn modify(&self, document: &mut utoipa::openapi::OpenApi) {
        let components = document.components.get_or_insert_default();
        for (name, scheme, description) in [
            (
                "token",
                HttpAuthScheme::Bearer,
                "A token of `dunnage gateway token new`; at a webhook, one of its own.",
            ),
            ("password", HttpAuthScheme::Basic, "The token as password, with any name, as browsers send it."),
        ] {
            let mut scheme = Http::new(scheme);
            scheme.description = Some(description.into());
            components.add_security_scheme(name, SecurityScheme::Http(scheme));
        }
    }
}

static DOCUMENT: LazyLock<String> = LazyLock::new(|| {
    let all: OpenApiRouter<Arc<GatewayState>> = OpenApiRouter::with_openapi(About::openapi());
    let mut document = all.merge(operable()).merge(health()).into_openapi();
    document.merge(readable().into_openapi());
    document.merge(dunnage_inputs::routes().into_openapi());
    document.to_pretty_json().unwrap_or_default()
});

/// Returns the OpenAPI document of the HTTP port, as JSON.
pub fn document() -> &'static str {
    &DOCUMENT
}

#[utoipa::path(get, path = "/api/openapi.json", tag = "api", responses(
    (status = 200, description = "This document.", body = serde_json::Value),
    QueryProblems,
    AccessProblems,
))]
pub async fn openapi(_: NoQuery) -> impl IntoResponse {
    ([(header::CONTENT_TYPE, "application/json")], document())
}
