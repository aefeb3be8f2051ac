//! All webhooks of the gateway, by name.

use super::{Answer, Hook, guard::Guard};
use crate::http::problem::HookProblems;
use crate::{
    Environment, InputError,
    http::{extract::Segment, problem::Problem},
};
use axum::{
    Extension,
    extract::{Request, State},
    response::{IntoResponse, Response},
};
use dunnage_access::{Peer, http::credential};
use std::{collections::HashMap, sync::Arc};

/// The webhooks, by the names of their inputs.
#[derive(Default)]
pub struct Hooks(HashMap<String, Arc<Hook>>);

impl FromIterator<Arc<Hook>> for Hooks {
    fn from_iter<I: IntoIterator<Item = Arc<Hook>>>(hooks: I) -> Hooks {
        Hooks(hooks.into_iter().map(|hook| (hook.name.clone(), hook)).collect())
    }
}

/// The tokens and keys of all webhooks, read again but not in use yet.
pub struct Guards(Vec<(Arc<Hook>, Guard)>);

impl Hooks {
    /// Reads the tokens and keys of all webhooks again.
    pub fn read(&self) -> Result<Guards, InputError> {
        let failed = |hook: &Hook, message| InputError { name: hook.name.clone(), message };
        let read = |hook: &Arc<Hook>| match hook.secret.read() {
            Ok(guard) => Ok((Arc::clone(hook), guard)),
            Err(message) => Err(failed(hook, message)),
        };
        self.0.values().map(read).collect::<Result<_, _>>().map(Guards)
    }
}

impl Guards {
    /// Uses them for new requests.
    pub fn replace(self) {
        for (hook, guard) in self.0 {
            hook.guard.store(Arc::new(guard));
        }
    }
}

/// A request of a webhook's provider.
#[utoipa::path(post, path = "/hooks/{name}", tag = "ingest", operation_id = "hook", security((), ("token" = [])),
    params(("name" = String, Path, description = "The input's name.")),
    request_body(description = "What the provider sends.", content(
        (serde_json::Value = "application/json"),
        (String = "application/x-www-form-urlencoded"),
    )),
    responses(
    (status = 200, description = "The message is durable, or there is none.", body = Answer),
    HookProblems,
    (status = 403, description = "`forbidden`: there is no such webhook, and this token may not know", body = Problem, content_type = "application/problem+json"),
    (status = 404, description = "`not-found`: there is no such webhook", body = Problem, content_type = "application/problem+json"),
)
)]
pub async fn call(
    State(env): State<Arc<Environment>>,
    Extension(hooks): Extension<Arc<Hooks>>,
    Segment(name): Segment,
    peer: Peer,
    request: Request,
) -> Response {
    if let Some(hook) = hooks.0.get(&name) {
        return hook.call(&env, peer, request).await;
    }
    // Only clients that may read learn which webhooks exist.
    let rejected = match env.ingest.access.may_read(&peer, credential(request.headers()).as_deref()) {
        Ok(_) => Problem::not_found(format!("nothing is at {}", request.uri().path())),
        Err(denied) => denied.into(),
    };
    rejected.into_response()
}
