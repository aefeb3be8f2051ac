//! Lists: devices, messages, the quarantine. Newest first; `before=ID` continues a list.

#![allow(unused_qualifications, reason = "what utoipa makes of params(...)")]

use super::objects::{DeviceObject, MessageObject, RejectObject};
use crate::{
    buffer::{
        quarantine,
        queries::{self, Page, StoredMessage},
    },
    problem::Problem,
    segment::Segment,
    shared::Shared,
};
use axum::{
    Json,
    extract::{Query, State, rejection::QueryRejection},
    http::StatusCode,
};
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use utoipa::{IntoParams, ToSchema};

const DEFAULT_LIMIT: u32 = 50;
const MAX_LIMIT: u32 = 1000;

/// Which part of a list.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct Parameters {
    /// How many at most: 1 to 1000, else the nearest.
    #[param(value_type = Option<i64>, minimum = 0, maximum = 4_294_967_295_u64)]
    limit: Option<u32>,
    /// Only those with smaller ids.
    before: Option<i64>,
}

type Asked = Result<Query<Parameters>, QueryRejection>;

#[derive(Serialize, ToSchema)]
pub struct Messages<T> {
    messages: Vec<T>,
}

#[derive(Serialize, ToSchema)]
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

#[utoipa::path(get, path = "/api/devices", tag = "api", params(Parameters), responses(
    (status = 200, description = "The devices that have sent most lately.", body = Devices),
    (status = 400, description = "`query`", body = Problem, content_type = "application/problem+json"),
    (status = 401, description = "`unauthorized`", body = Problem, content_type = "application/problem+json"),
    (status = 403, description = "`forbidden`", body = Problem, content_type = "application/problem+json"),
    (status = 500, description = "`unreadable`", body = Problem, content_type = "application/problem+json"),
))]
pub async fn devices(State(shared): State<Arc<Shared>>, asked: Asked) -> Result<Json<Devices>, Problem> {
    let page = page(asked)?;
    let found =
        shared.readers.read(move |c| queries::devices(c, page)).await.ok_or_else(Problem::unreadable)?;
    let devices = found.into_iter().map(DeviceObject::of_stored).collect::<Option<_>>();
    Ok(Json(Devices { devices: devices.ok_or_else(Problem::unreadable)? }))
}

#[utoipa::path(get, path = "/api/devices/{device}/messages", tag = "api", params(("device" = String, Path, description = "The device's id."), Parameters), responses(
    (status = 200, description = "The newest messages of a device.", body = Messages<MessageObject>),
    (status = 400, description = "`query`, `name`", body = Problem, content_type = "application/problem+json"),
    (status = 401, description = "`unauthorized`", body = Problem, content_type = "application/problem+json"),
    (status = 403, description = "`forbidden`", body = Problem, content_type = "application/problem+json"),
    (status = 404, description = "`not-found`: nothing has been stored of this device", body = Problem, content_type = "application/problem+json"),
    (status = 500, description = "`unreadable`", body = Problem, content_type = "application/problem+json"),
))]
pub async fn device_messages(
    State(shared): State<Arc<Shared>>,
    Segment(device): Segment,
    asked: Asked,
) -> Result<Json<Messages<MessageObject>>, Problem> {
    let page = page(asked)?;
    let missing = format!("no message of {device:?} has been stored");
    let found = shared.readers.read(move |c| queries::device_messages(c, &device, page)).await;
    let found = found.ok_or_else(Problem::unreadable)?;
    objects(found.ok_or_else(|| Problem::not_found(missing))?)
}

#[utoipa::path(get, path = "/api/messages", tag = "api", params(Parameters), responses(
    (status = 200, description = "The newest messages.", body = Messages<MessageObject>),
    (status = 400, description = "`query`", body = Problem, content_type = "application/problem+json"),
    (status = 401, description = "`unauthorized`", body = Problem, content_type = "application/problem+json"),
    (status = 403, description = "`forbidden`", body = Problem, content_type = "application/problem+json"),
    (status = 500, description = "`unreadable`", body = Problem, content_type = "application/problem+json"),
))]
pub async fn messages(
    State(shared): State<Arc<Shared>>,
    asked: Asked,
) -> Result<Json<Messages<MessageObject>>, Problem> {
    let page = page(asked)?;
    let found = shared.readers.read(move |c| queries::messages(c, page)).await;
    objects(found.ok_or_else(Problem::unreadable)?)
}

#[utoipa::path(get, path = "/api/quarantine", tag = "api", params(Parameters), responses(
    (status = 200, description = "The newest messages of the quarantine.", body = Messages<RejectObject>),
    (status = 400, description = "`query`", body = Problem, content_type = "application/problem+json"),
    (status = 401, description = "`unauthorized`", body = Problem, content_type = "application/problem+json"),
    (status = 403, description = "`forbidden`", body = Problem, content_type = "application/problem+json"),
    (status = 500, description = "`unreadable`", body = Problem, content_type = "application/problem+json"),
))]
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
