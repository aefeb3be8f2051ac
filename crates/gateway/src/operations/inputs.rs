//! The state of inputs.

use super::InputFailure;
use crate::state::GatewayState;
use dunnage_base::{clock::rfc3339, kind::Kind};
use dunnage_inputs::{InputKind, http};
use serde::Serialize;
use utoipa::ToSchema;

/// An input. Counts begin at the start of the gateway.
#[derive(Serialize, ToSchema)]
pub struct InputObject {
    /// Its name in the configuration; `http` for `/ingest`.
    name: String,
    /// `http`, `mqtt`, `broker`, `nats`, `coap`, `udp` or `webhook`.
    kind: &'static str,
    /// Where it listens: a socket, or a webhook's path on the HTTP port. `null` for one that connects to a server.
    #[schema(required)]
    address: Option<String>,
    /// Its open connections or DTLS sessions; `null` for inputs without.
    #[schema(required)]
    connections: Option<i64>,
    /// Messages that arrived completely.
    received: u64,
    /// Messages that were quarantined or refused.
    rejected: u64,
    /// The last rejected message or broken connection.
    #[schema(required)]
    last_failure: Option<InputFailure>,
}

/// Returns the state of each input of a gateway: HTTP, and then those of the configuration.
pub fn inputs(state: &GatewayState) -> Vec<InputObject> {
    let metrics = &state.env.metrics;
    let http =
        input(state, http::NAME, "http", Some(state.address.to_string()), metrics.open_http_connections());
    let others = state.config.inputs.iter().map(|settings| {
        let name = &settings.name;
        let address = match settings.kind {
            InputKind::Webhook(_) => Some(format!("/hooks/{name}")),
            _ => state.addresses.get(name).map(ToString::to_string),
        };
        input(state, name, settings.kind.key(), address, metrics.open_connections(name))
    });
    std::iter::once(http).chain(others).collect()
}

fn input(
    state: &GatewayState,
    name: &str,
    kind: &'static str,
    address: Option<String>,
    connections: Option<i64>,
) -> InputObject {
    let meter = state.ingest().metrics.inputs.of(name);
    let (received, rejected) = meter.counts();
    let last_failure = meter.last_failure();
    let last_failure =
        last_failure.map(|failure| InputFailure { at: rfc3339(failure.at), reason: failure.reason });
    InputObject { name: name.to_owned(), kind, address, connections, received, rejected, last_failure }
}
