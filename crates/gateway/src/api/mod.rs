//! The JSON API, the event stream, health, metrics and the page.

mod answers;
mod events;
mod fleet;
pub mod guard;
mod health;
mod lists;
mod message;
pub mod objects;
pub mod openapi;
mod operate;
mod operations;
mod page;
pub mod problems;
pub mod register;
mod replay;
mod scope;
mod series;
mod turns;

use crate::state::GatewayState;
use axum::{
    Extension, Router,
    middleware::{from_fn_with_state, map_response},
};
use dunnage_inputs::{Code, Hooks, Problem};
use dunnage_playground::Process;
use guard::Guarded;
use std::sync::Arc;
use utoipa_axum::{router::OpenApiRouter, routes};

/// Builds the router of the HTTP port: the inputs, and the API and the page for peers that may read.
pub fn router(state: &Arc<GatewayState>, hooks: Arc<Hooks>) -> Router {
    let api = Router::from(readable())
        .layer(from_fn_with_state(answers::memory(), answers::bounded))
        .fallback_service(dunnage_page::service(page::page))
        .layer(from_fn_with_state(Guarded::new(state), guard::readers_only))
        .with_state(Guarded::new(state))
        .merge(operators(state))
        .merge(health())
        .layer(map_response(dunnage_page::guard));
    let inputs =
        Router::from(dunnage_inputs::routes()).layer(Extension(hooks)).with_state(Arc::clone(&state.env));
    let api = api.with_state(Arc::clone(state));
    inputs.merge(api).method_not_allowed_fallback(method_not_allowed)
}

/// The routes for peers that may read.
fn readable() -> OpenApiRouter<Guarded> {
    OpenApiRouter::new()
        .routes(routes!(fleet::devices))
        .routes(routes!(fleet::device))
        .routes(routes!(lists::device_messages))
        .routes(routes!(series::series))
        .routes(routes!(lists::messages))
        .routes(routes!(message::message))
        .routes(routes!(lists::rejects))
        .routes(routes!(health::stats))
        .routes(routes!(events::events))
        .routes(routes!(scope::scope))
        .routes(routes!(health::metrics))
        .routes(routes!(openapi::openapi))
        .merge(dunnage_playground::routes(Process::Gateway))
        .merge(operations::routes())
        .merge(register::routes())
}

/// The routes for peers that may operate.
fn operable() -> OpenApiRouter<Arc<GatewayState>> {
    operate::routes().merge(replay::routes()).merge(register::changes())
}

/// The same, with the check whether a peer may.
fn operators(state: &Arc<GatewayState>) -> Router<Arc<GatewayState>> {
    Router::from(operable()).layer(from_fn_with_state(Arc::clone(state), operate::operators_only))
}

/// The routes for everyone.
fn health() -> OpenApiRouter<Arc<GatewayState>> {
    OpenApiRouter::new().routes(routes!(health::healthz)).routes(routes!(health::readyz))
}

async fn method_not_allowed() -> Problem {
    let detail = "the header Allow lists the methods that this address accepts";
    Problem::new(Code::Method.into(), detail)
}
