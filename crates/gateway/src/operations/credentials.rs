//! Tokens and DTLS keys: by name, without secrets and hashes.

use crate::state::GatewayState;
use dunnage_access::{Grant, Key, Right};
use dunnage_base::clock::{self, rfc3339};
use serde::Serialize;
use std::collections::BTreeMap;
use utoipa::ToSchema;

/// A token or a DTLS key.
#[derive(Serialize, ToSchema)]
pub struct CredentialObject {
    /// Its name. A key's name is the identity that its devices send.
    name: String,
    /// `send`, `read` or `operate`.
    right: &'static str,
    /// The devices that it may send as, or read: an ID, where `*` matches any characters.
    #[schema(required)]
    devices: Option<String>,
    /// The tags that the devices have that it may read.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    #[schema(required = false)]
    tags: BTreeMap<String, String>,
    /// When it expires.
    #[schema(required)]
    until: Option<String>,
    /// Whether it has expired.
    expired: bool,
    /// When it was last accepted since the start of the gateway.
    #[schema(required)]
    last_used: Option<String>,
}

/// A page of tokens or keys, in the order of their names.
#[derive(Serialize, ToSchema)]
pub struct Credentials {
    entries: Vec<CredentialObject>,
    /// How many there are in all.
    total: usize,
    /// Whether there are more after these.
    more: bool,
}

impl CredentialObject {
    fn new(
        name: &str,
        (right, devices): (&'static str, Option<&str>),
        until: Option<i64>,
        used: Option<i64>,
    ) -> CredentialObject {
        CredentialObject {
            name: name.to_owned(),
            right,
            devices: devices.map(str::to_owned),
            tags: BTreeMap::new(),
            until: until.map(rfc3339),
            expired: until.is_some_and(|until| clock::now() >= until),
            last_used: used.map(rfc3339),
        }
    }

    fn of_token(token: &Grant) -> CredentialObject {
        let right = match &token.right {
            Right::Send(pattern) => ("send", Some(&**pattern)),
            Right::Read(scope) => ("read", scope.device()),
            Right::Operate => ("operate", None),
        };
        let tags = token.right.reads().into_iter().flat_map(|scope| scope.tags());
        CredentialObject {
            tags: tags.map(|(key, value)| (key.to_owned(), value.to_owned())).collect(),
            ..CredentialObject::new(&token.name, right, token.until, token.last_used())
        }
    }

    fn of_key(key: &Key) -> CredentialObject {
        let until = key.until.map(|until| until.micros());
        CredentialObject::new(&key.name, ("send", Some(&key.device)), until, key.last_used())
    }
}

/// Returns at most `limit` tokens whose names come after `after`.
pub fn tokens(state: &GatewayState, after: &str, limit: usize) -> Credentials {
    let tokens = state.ingest().access.tokens();
    page(tokens.after(after).iter().map(CredentialObject::of_token), tokens.len(), limit)
}

/// Returns at most `limit` keys whose names come after `after`.
pub fn keys(state: &GatewayState, after: &str, limit: usize) -> Credentials {
    let keys = state.ingest().access.all_keys();
    page(keys.after(after).map(CredentialObject::of_key), keys.len(), limit)
}

fn page(mut all: impl Iterator<Item = CredentialObject>, total: usize, limit: usize) -> Credentials {
    let entries = all.by_ref().take(limit).collect();
    Credentials { entries, total, more: all.next().is_some() }
}
