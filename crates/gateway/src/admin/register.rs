//! `/devices`: the register of devices, for `dunnage gateway device`.

use super::{Admin, Query, query};
use crate::{
    api::register::{filter, format_of},
    operations::register::{self, Existing, Imported, RegisterPage, RegisteredObject},
};
use axum::{Json, body::Bytes, extract::State};
use dunnage_inputs::Problem;
use serde::Deserialize;
use serde_json::{Value, json};
use std::sync::Arc;

/// Most devices in a list.
const LISTED: usize = 1000;

/// Selects devices.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, default)]
#[derive(Default)]
pub struct Asked {
    find: Option<String>,
    tags: Option<String>,
    after: String,
    limit: Option<usize>,
}

/// One device.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Named {
    device: String,
}

/// A file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct File {
    format: String,
    #[serde(default)]
    dry_run: bool,
}

/// `GET /devices`
pub(super) async fn list(
    State(admin): State<Arc<Admin>>,
    asked: Query<Asked>,
) -> Result<Json<RegisterPage>, Problem> {
    let Asked { find, tags, after, limit } = query(asked)?;
    let filter = filter(find.as_deref(), tags.as_deref())?;
    let visible = register::everything(&admin.state);
    register::list(&admin.state, visible, filter, after, limit.unwrap_or(LISTED).clamp(1, LISTED))
        .await
        .map(Json)
}

/// `GET /devices/show`
pub(super) async fn show(
    State(admin): State<Arc<Admin>>,
    asked: Query<Named>,
) -> Result<Json<RegisteredObject>, Problem> {
    register::show(&admin.state, &query(asked)?.device).map(Json)
}

/// `POST /devices/add`: the body has the fields.
pub(super) async fn add(
    State(admin): State<Arc<Admin>>,
    asked: Query<Named>,
    Json(fields): Json<Value>,
) -> Result<Json<RegisteredObject>, Problem> {
    register::patch(&admin.state, query(asked)?.device, fields, Existing::Forbidden).await.map(Json)
}

/// `POST /devices/set`: the body is a JSON merge patch.
pub(super) async fn set(
    State(admin): State<Arc<Admin>>,
    asked: Query<Named>,
    Json(fields): Json<Value>,
) -> Result<Json<RegisteredObject>, Problem> {
    register::patch(&admin.state, query(asked)?.device, fields, Existing::Required).await.map(Json)
}

/// `POST /devices/remove`: the body is a list of IDs.
pub(super) async fn remove(
    State(admin): State<Arc<Admin>>,
    Json(devices): Json<Vec<String>>,
) -> Result<Json<Value>, Problem> {
    let removed = devices.len();
    register::remove(&admin.state, devices).await?;
    Ok(Json(json!({ "removed": removed })))
}

/// `POST /devices/import`: the body is the file.
pub(super) async fn import(
    State(admin): State<Arc<Admin>>,
    asked: Query<File>,
    body: Bytes,
) -> Result<Json<Imported>, Problem> {
    let File { format, dry_run } = query(asked)?;
    register::import(&admin.state, body, format_of(&format)?, !dry_run).await.map(Json)
}

/// `GET /devices/export`
pub(super) async fn export(
    State(admin): State<Arc<Admin>>,
    asked: Query<File>,
) -> Result<Json<Value>, Problem> {
    let format = format_of(&query(asked)?.format)?;
    let file = register::export(&admin.state, register::everything(&admin.state), format).await?;
    Ok(Json(json!({ "file": String::from_utf8_lossy(&file) })))
}
