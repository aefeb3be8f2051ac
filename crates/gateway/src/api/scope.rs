//! What the token of a client may read.

use super::guard::Readable;
use super::problems::QueryProblems;
use axum::Json;
use dunnage_access::Scope;
use dunnage_inputs::{AccessProblems, NoQuery};
use serde::Serialize;
use std::collections::BTreeMap;
use utoipa::ToSchema;

/// The devices that a client may read.
#[derive(Serialize, ToSchema)]
pub struct ScopeObject {
    /// Whether it may read everything: all devices, and what is about the whole gateway.
    everything: bool,
    /// The pattern of their IDs, where `*` matches any characters; `null` for any.
    #[schema(required)]
    device: Option<String>,
    /// The tags that they have in the register, all of them.
    tags: BTreeMap<String, String>,
}

impl ScopeObject {
    pub fn of(scope: &Scope) -> ScopeObject {
        ScopeObject {
            everything: scope.is_everything(),
            device: scope.device().map(str::to_owned),
            tags: scope.tags().map(|(key, value)| (key.to_owned(), value.to_owned())).collect(),
        }
    }
}

#[utoipa::path(get, path = "/api/scope", tag = "api", responses(
    (status = 200, description = "The devices that the client may read.", body = ScopeObject),
    QueryProblems,
    AccessProblems,
))]
pub async fn scope(client: Readable, _: NoQuery) -> Json<ScopeObject> {
    Json(ScopeObject::of(&client.scope))
}
