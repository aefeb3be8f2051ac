//! Lists: devices, messages, the quarantine. Newest first; `before=ID` continues a list.

use super::objects::{DeviceObject, MessageObject, RejectObject};
use crate::{
    buffer::{
        quarantine,
        queries::{self, Page, StoredMessage},
    },
    problem::Problem,
    shared::Shared,
};
use axum::{
    Json,
    extract::{Path, Query, State, rejection::QueryRejection},
    http::StatusCode,
};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

const DEFAULT_LIMIT: u32 = 50;
const MAX_LIMIT: u32 = 1000;

#[derive(Deserialize)]
pub struct Parameters {
    limit: Option<u32>,
    before: Option<i64>,
}

type Asked = Result<Query<Parameters>, QueryRejection>;

#[derive(Serialize)]
pub struct Messages<T> {
    messages: Vec<T>,
}

#[derive(Serialize)]
pub struct Devices {
    devices: Vec<DeviceObject>,
}

fn page(asked: Asked) -> Result<Page, Problem> {
    match asked {
        Ok(Query(p)) => {
            Ok(Page { limit: p.limit.unwrap_or(DEFAULT_LIMIT).clamp(1, MAX_LIMIT), before: p.before })
        }
        Err(e) => Err(Problem::new(StatusCode::BAD_REQUEST, "query", "Bad query", e.body_text())),
    }
}

pub async fn devices(State(shared): State<Arc<Shared>>, asked: Asked) -> Result<Json<Devices>, Problem> {
    let page = page(asked)?;
    let found =
        shared.readers.read(move |c| queries::devices(c, page)).await.ok_or_else(Problem::unreadable)?;
    let devices = found.into_iter().map(DeviceObject::of_stored).collect::<Option<_>>();
    Ok(Json(Devices { devices: devices.ok_or_else(Problem::unreadable)? }))
}

pub async fn device_messages(
    State(shared): State<Arc<Shared>>,
    Path(device): Path<String>,
    asked: Asked,
) -> Result<Json<Messages<MessageObject>>, Problem> {
    let page = page(asked)?;
    let missing = format!("no message of {device:?} has been stored");
    let found = shared.readers.read(move |c| queries::device_messages(c, &device, page)).await;
    let found = found.ok_or_else(Problem::unreadable)?;
    objects(found.ok_or_else(|| Problem::not_found(missing))?)
}

pub async fn messages(
    State(shared): State<Arc<Shared>>,
    asked: Asked,
) -> Result<Json<Messages<MessageObject>>, Problem> {
    let page = page(asked)?;
    let found = shared.readers.read(move |c| queries::messages(c, page)).await;
    objects(found.ok_or_else(Problem::unreadable)?)
}

pub async fn rejects(
    State(shared): State<Arc<Shared>>,
    asked: Asked,
) -> Result<Json<Messages<RejectObject>>, Problem> {
    let page = page(asked)?;
    let found =
        shared.readers.read(move |c| quarantine::newest(c, page)).await.ok_or_else(Problem::unreadable)?;
    let profiles = shared.profiles.load();
    Ok(Json(Messages {
        messages: found.into_iter().map(|kept| RejectObject::of_kept(kept, &profiles)).collect(),
    }))
}

fn objects(found: Vec<StoredMessage>) -> Result<Json<Messages<MessageObject>>, Problem> {
    let messages = found.into_iter().map(MessageObject::of_stored).collect::<Option<_>>();
    Ok(Json(Messages { messages: messages.ok_or_else(Problem::unreadable)? }))
}
