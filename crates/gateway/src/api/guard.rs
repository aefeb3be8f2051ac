//! What a client may read. Every route for readers says whether it is about some devices or about the whole gateway: the state of these routes is
//! closed ([`Guarded`]), and opens to a handler that takes either [`Readable`] or [`Everything`]. A new route cannot forget it.

use crate::{state::GatewayState, visible::Visible};
use axum::{
    extract::{FromRequestParts, Request, State},
    http::request::Parts,
    middleware::Next,
    response::{IntoResponse, Response},
};
use dunnage_access::{Peer, Scope, http::credential};
use dunnage_inputs::Problem;
use std::sync::Arc;

/// The state of the routes for readers, which they cannot use as it is.
#[derive(Clone)]
pub struct Guarded(Arc<GatewayState>);

impl Guarded {
    /// Closes the state.
    pub fn new(state: &Arc<GatewayState>) -> Guarded {
        Guarded(Arc::clone(state))
    }
}

/// Middleware that denies requests of peers that may not read, and notes what the others may read.
pub async fn readers_only(
    State(Guarded(state)): State<Guarded>,
    peer: Peer,
    mut request: Request,
    next: Next,
) -> Response {
    match state.ingest().access.may_read(&peer, credential(request.headers()).as_deref()) {
        Ok(scope) => {
            request.extensions_mut().insert(scope);
            next.run(request).await
        }
        Err(denied) => Problem::from(denied).into_response(),
    }
}

/// The scope that [`readers_only`] has noted. A route without that middleware has no devices.
fn scope_of(parts: &Parts) -> Option<Scope> {
    parts.extensions.get().cloned()
}

/// A client that reads devices, and the devices that it may read. An answer must have nothing of others, not even in a count.
pub struct Readable {
    /// The state of the gateway.
    pub state: Arc<GatewayState>,
    /// The devices.
    pub visible: Visible,
    /// The scope of its token.
    pub scope: Scope,
}

impl Readable {
    /// Returns `device` if the client may read it. Otherwise the answer is that for a device that does not exist.
    pub fn device(&self, device: String, missing: fn(&str) -> Problem) -> Result<String, Problem> {
        if self.visible.has(&device) { Ok(device) } else { Err(missing(&device)) }
    }
}

impl FromRequestParts<Guarded> for Readable {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, Guarded(state): &Guarded) -> Result<Readable, Problem> {
        let scope = scope_of(parts).ok_or_else(|| Problem::from(state.ingest().access.refuse_part()))?;
        let register = Arc::clone(&state.ingest().registered.register);
        let visible = Visible::new(scope.clone(), register);
        Ok(Readable { state: Arc::clone(state), visible, scope })
    }
}

/// A client that may read everything. One that may read a part is refused.
pub struct Everything(pub Arc<GatewayState>);

impl FromRequestParts<Guarded> for Everything {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, Guarded(state): &Guarded) -> Result<Everything, Problem> {
        match scope_of(parts).is_some_and(|scope| scope.is_everything()) {
            true => Ok(Everything(Arc::clone(state))),
            false => Err(state.ingest().access.refuse_part().into()),
        }
    }
}
