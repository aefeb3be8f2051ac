//! The register of devices. Everyone who may read may read it, of the devices that the token is for; changes need a token that may operate.

#![allow(unused_qualifications, reason = "what utoipa makes of params(...)")]

use super::{
    guard::{Guarded, Readable},
    lists::{DEFAULT_LIMIT, limit_of},
    operate::{Operator, receive_from, to_the_end},
    problems::{AnswerProblems, QueryAndNameProblems, QueryProblems, ReadProblems, RegisterProblems},
    turns::turn,
};
use crate::{
    operations::register::{self, Existing, FILE, FileFormat, Imported, RegisterPage, RegisteredObject},
    state::GatewayState,
};
use axum::{
    Extension, Json,
    body::Body,
    extract::State,
    http::{HeaderMap, StatusCode, Uri, header},
    response::{IntoResponse, Response},
};
use dunnage_inputs::{AccessProblems, NoQuery, Problem, Segment, query};
use dunnage_register::{Filter, Tags};
use std::sync::Arc;
use utoipa::IntoParams;
use utoipa_axum::{router::OpenApiRouter, routes};

/// Largest body of one record, in bytes.
const BODY: usize = 64 << 10;
/// The media types of files.
const CSV: &str = "text/csv";
const NDJSON: &str = "application/x-ndjson";

/// The routes for peers that may read.
pub fn routes() -> OpenApiRouter<Guarded> {
    OpenApiRouter::new().routes(routes!(list)).routes(routes!(show)).routes(routes!(export))
}

/// The routes for peers that may operate.
pub fn changes() -> OpenApiRouter<Arc<GatewayState>> {
    OpenApiRouter::new().routes(routes!(put, patch, remove)).routes(routes!(import))
}

/// The devices to return.
#[derive(IntoParams)]
#[expect(dead_code, reason = "the OpenAPI document alone has it")]
#[into_params(parameter_in = Query)]
pub struct Parameters {
    /// Only devices with this in the ID, the name, an external ID or the notes, in upper or lower case.
    find: Option<String>,
    /// Only devices with all these tags: an object, such as `{"site":"pisa"}`.
    tags: Option<String>,
    /// Only devices with larger IDs; `next` of the page before.
    after: Option<String>,
    /// Most entries: 1 to 1000, and 50 by default.
    #[param(value_type = Option<i64>, minimum = 1, maximum = 1000)]
    limit: Option<u32>,
}

/// Reads the filter of a list: `find` in lower case, and tags.
pub fn filter(find: Option<&str>, tags: Option<&str>) -> Result<Filter, Problem> {
    let tags: Tags = tags.map_or(Ok(Tags::default()), serde_json::from_str).map_err(|e| {
        query::bad_query(format!("tags must be an object of texts, such as {{\"site\":\"pisa\"}}: {e}"))
    })?;
    let tags = tags.iter().map(|(key, value)| (key.to_owned(), value.to_owned())).collect();
    Ok(Filter { text: find.unwrap_or_default().to_lowercase(), tags })
}

#[utoipa::path(get, path = "/api/register/devices", tag = "register", params(Parameters), responses(
    (status = 200, description = "A page of the registered devices, in ascending order of IDs.", body = RegisterPage),
    QueryProblems,
    AccessProblems,
    ReadProblems,
    AnswerProblems,
))]
pub async fn list(client: Readable, uri: Uri) -> Result<Json<RegisterPage>, Problem> {
    let (mut find, mut tags, mut after, mut limit) = (None, None, None, DEFAULT_LIMIT);
    for (name, value) in query::read(uri.query(), &["find", "tags", "after", "limit"])? {
        match name {
            "find" => find = Some(value),
            "tags" => tags = Some(value),
            "after" => after = Some(value),
            _ => limit = limit_of(&value)?,
        }
    }
    let filter = filter(find.as_deref(), tags.as_deref())?;
    let _turn = turn().await?;
    let Readable { state, visible, .. } = client;
    register::list(&state, visible, filter, after.unwrap_or_default(), limit as usize).await.map(Json)
}

#[utoipa::path(get, path = "/api/register/devices/{device}", tag = "register", params(("device" = String, Path, description = "The device's id.")), responses(
    (status = 200, description = "The record of the device.", body = RegisteredObject),
    QueryAndNameProblems,
    AccessProblems,
    (status = 404, description = "`not-found`: the device is not in the register", body = Problem, content_type = "application/problem+json"),
))]
pub async fn show(
    client: Readable,
    Segment(device): Segment,
    _: NoQuery,
) -> Result<Json<RegisteredObject>, Problem> {
    let device = client.device(device, register::missing)?;
    register::show(&client.state, &device).map(Json)
}

#[utoipa::path(get, path = "/api/register/export", tag = "register", params(("format" = inline(Option<FileFormat>), Query, description = "`csv` (default) or `ndjson`.")), responses(
    (status = 200, description = "The register as a file, which an import reads again.", content((String = "text/csv"), (String = "application/x-ndjson"))),
    QueryProblems,
    AccessProblems,
    ReadProblems,
    AnswerProblems,
))]
pub async fn export(client: Readable, uri: Uri) -> Result<Response, Problem> {
    let asked = query::read(uri.query(), &["format"])?.into_iter().next();
    let format = format_of(asked.as_ref().map_or("csv", |(_, value)| value))?;
    let (name, media_type) = match format {
        FileFormat::Csv => ("devices.csv", CSV),
        FileFormat::Ndjson => ("devices.ndjson", NDJSON),
    };
    let headers = [
        (header::CONTENT_TYPE, media_type.to_owned()),
        (header::CONTENT_DISPOSITION, format!("attachment; filename=\"{name}\"")),
    ];
    let _turn = turn().await?;
    Ok((headers, register::export(&client.state, client.visible, format).await?).into_response())
}

/// Reads the name of a format of files.
pub fn format_of(name: &str) -> Result<FileFormat, Problem> {
    match name {
        "csv" => Ok(FileFormat::Csv),
        "ndjson" => Ok(FileFormat::Ndjson),
        _ => Err(query::bad_query("format must be csv or ndjson").into()),
    }
}

#[utoipa::path(put, path = "/api/register/devices/{device}", tag = "register", params(("device" = String, Path, description = "The device's id.")), request_body(content = serde_json::Value, description = "The fields of the record; `device` may be left out."), security(("token" = [])), responses(
    (status = 200, description = "The device has this record.", body = RegisteredObject),
    RegisterProblems,
))]
pub async fn put(
    State(state): State<Arc<GatewayState>>,
    Extension(operator): Extension<Operator>,
    Segment(device): Segment,
    _: NoQuery,
    body: Body,
) -> Result<Json<RegisteredObject>, Problem> {
    let body = receive_from(&state, &operator, body, BODY).await?;
    to_the_end(async move {
        let put = register::put(&state, device.clone(), &body).await;
        operator.log("set a device of the register", &device, put.is_ok());
        put
    })
    .await
}

#[utoipa::path(patch, path = "/api/register/devices/{device}", tag = "register", params(("device" = String, Path, description = "The device's id.")), request_body(content = serde_json::Value, description = "A JSON merge patch (RFC 7396): fields to set, and null for those to remove."), security(("token" = [])), responses(
    (status = 200, description = "The record of the device after the change.", body = RegisteredObject),
    RegisterProblems,
    (status = 404, description = "`not-found`: the device is not in the register", body = Problem, content_type = "application/problem+json"),
))]
pub async fn patch(
    State(state): State<Arc<GatewayState>>,
    Extension(operator): Extension<Operator>,
    Segment(device): Segment,
    _: NoQuery,
    body: Body,
) -> Result<Json<RegisteredObject>, Problem> {
    let body = receive_from(&state, &operator, body, BODY).await?;
    let patch = serde_json::from_slice(&body).map_err(|e| Problem::new(register::RECORD, e.to_string()))?;
    to_the_end(async move {
        let patched = register::patch(&state, device.clone(), patch, Existing::Required).await;
        operator.log("changed a device of the register", &device, patched.is_ok());
        patched
    })
    .await
}

#[utoipa::path(delete, path = "/api/register/devices/{device}", tag = "register", params(("device" = String, Path, description = "The device's id.")), security(("token" = [])), responses(
    (status = 204, description = "The device is not in the register. Its messages stay."),
    RegisterProblems,
    (status = 404, description = "`not-found`: the device is not in the register", body = Problem, content_type = "application/problem+json"),
))]
pub async fn remove(
    State(state): State<Arc<GatewayState>>,
    Extension(operator): Extension<Operator>,
    Segment(device): Segment,
    _: NoQuery,
) -> Result<StatusCode, Problem> {
    let removed = to_the_end(async move {
        let removed = register::remove(&state, vec![device.clone()]).await;
        operator.log("removed a device from the register", &device, removed.is_ok());
        removed
    });
    removed.await.map(|_| StatusCode::NO_CONTENT)
}

#[utoipa::path(post, path = "/api/register/import", tag = "register", params(("dry_run" = Option<bool>, Query, description = "Whether to change nothing.")), request_body(description = "The file: a record for each line.", content((String = "text/csv"), (String = "application/x-ndjson"))), security(("token" = [])), responses(
    (status = 200, description = "All devices of the file have its records. With `dry_run`, what an import would do.", body = Imported),
    RegisterProblems,
))]
pub async fn import(
    State(state): State<Arc<GatewayState>>,
    Extension(operator): Extension<Operator>,
    uri: Uri,
    headers: HeaderMap,
    body: Body,
) -> Result<Json<Imported>, Problem> {
    let given = headers.get(header::CONTENT_TYPE).and_then(|given| given.to_str().ok()).unwrap_or_default();
    let format = match given.split(';').next().unwrap_or_default().trim() {
        CSV => FileFormat::Csv,
        _ => FileFormat::Ndjson,
    };
    let mut dry_run = false;
    for (_, value) in query::read(uri.query(), &["dry_run"])? {
        dry_run = value.parse().map_err(|_| query::bad_query("dry_run must be true or false"))?;
    }
    let body = receive_from(&state, &operator, body, FILE).await?;
    to_the_end(async move {
        let imported = register::import(&state, body, format, !dry_run).await;
        let action = if dry_run {
            "previewed an import into the register"
        } else {
            "imported devices into the register"
        };
        let counts = imported.as_ref().map_or_else(|_| String::new(), ToString::to_string);
        operator.log(action, &counts, imported.is_ok());
        imported
    })
    .await
}
