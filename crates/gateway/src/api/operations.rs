//! The view of operators: inputs, outputs and their dead letters, the quarantine by device, tokens and keys, schemas, storage and rates.
//! Everyone who may read everything may see it: it is about the whole gateway. Changes are in `operate.rs`.

#![allow(unused_qualifications, reason = "what utoipa makes of params(...)")]

use super::guard::{Everything, Guarded};
use super::lists::{MAX_LIMIT, limit_of, number};
use super::problems::{AnswerProblems, QueryAndNameProblems, QueryProblems, ReadProblems};
use crate::{
    operations::{
        credentials::{self, Credentials},
        dead_letters::{self, DeadLetterObject},
        inputs::{InputObject, inputs},
        outputs::{OutputObject, outputs},
        schemas::{self, SchemaObject},
        storage::{self, Buffer, Quarantine, Queue},
    },
    rates::RatesObject,
};
use axum::{Json, http::Uri};
use dunnage_base::clock::rfc3339;
use dunnage_inputs::{AccessProblems, NoQuery, Problem, Segment, query};
use dunnage_outputs::RetriedMessage;
use serde::Serialize;
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::{router::OpenApiRouter, routes};

/// Entries of a page by default.
const DEFAULT_LIMIT: usize = 100;
/// Most devices in the summary of the quarantine.
const DEVICES: u32 = 100;

/// The routes for peers that may read.
pub fn routes() -> OpenApiRouter<Guarded> {
    OpenApiRouter::new()
        .routes(routes!(operations))
        .routes(routes!(dead_letters))
        .routes(routes!(quarantine_devices))
        .routes(routes!(tokens))
        .routes(routes!(keys))
        .routes(routes!(all_schemas))
        .routes(routes!(all_rates))
}

/// The state of the gateway.
#[derive(Serialize, ToSchema)]
pub struct OperationsObject {
    started_at: String,
    inputs: Vec<InputObject>,
    outputs: Vec<OutputObject>,
    buffer: Buffer,
    queue: Queue,
    quarantine: Quarantine,
    /// The last ID in the quarantine: operations on all of it name it as `up_to`.
    last_quarantine_id: i64,
}

#[utoipa::path(get, path = "/api/operations", tag = "operations", responses(
    (status = 200, description = "Inputs, outputs, buffer, queue and quarantine at this moment.", body = OperationsObject),
    QueryProblems,
    AccessProblems,
    ReadProblems,
))]
pub async fn operations(
    Everything(state): Everything,
    _: NoQuery,
) -> Result<Json<OperationsObject>, Problem> {
    let last_quarantine_id = state.buffer().stats.totals().last_quarantine_id;
    Ok(Json(OperationsObject {
        started_at: rfc3339(state.started_at),
        inputs: inputs(&state),
        outputs: outputs(&state),
        buffer: storage::buffer(&state),
        queue: storage::queue(&state),
        quarantine: storage::quarantine(&state, &state.buffer().readers).await?,
        last_quarantine_id,
    }))
}

/// The part of a list to return.
#[derive(IntoParams)]
#[expect(dead_code, reason = "the OpenAPI document alone has it")]
#[into_params(parameter_in = Query)]
pub struct IdPage {
    /// Most entries: 1 to 1000, and 100 by default.
    #[param(value_type = Option<i64>, minimum = 1, maximum = 1000)]
    limit: Option<u32>,
    /// Only entries with larger IDs.
    after: Option<i64>,
}

/// The part of a list to return.
#[derive(IntoParams)]
#[expect(dead_code, reason = "the OpenAPI document alone has it")]
#[into_params(parameter_in = Query)]
pub struct NamePage {
    /// Most entries: 1 to 1000, and 100 by default.
    #[param(value_type = Option<i64>, minimum = 1, maximum = 1000)]
    limit: Option<u32>,
    /// Only entries whose names come after this one.
    after: Option<String>,
}

/// Parses `limit` and `after`.
fn page(uri: &Uri) -> Result<(usize, Option<String>), Problem> {
    let (mut limit, mut after) = (DEFAULT_LIMIT, None);
    for (name, value) in query::read(uri.query(), &["limit", "after"])? {
        match name {
            "limit" => limit = limit_of(&value)? as usize,
            _ => after = Some(value),
        }
    }
    Ok((limit, after))
}

/// A page of the dead letters of an output, the oldest first, and the messages that it retries.
#[derive(Serialize, ToSchema)]
pub struct DeadLetters {
    output: String,
    /// The number of its dead letters.
    count: u64,
    /// The last ID in the buffer: operations on all dead letters name it as `up_to`.
    last_message_id: i64,
    messages: Vec<DeadLetterObject>,
    /// Whether there are more after these.
    more: bool,
    /// Messages whose delivery failed and is retried, the oldest first, at most 1000: the first one of each such device. They are not dead
    /// letters, but can be discarded like them.
    retried: Vec<RetriedMessage>,
}

#[utoipa::path(get, path = "/api/outputs/{output}/dead-letters", tag = "operations", params(("output" = String, Path, description = "The output's name."), IdPage), responses(
    (status = 200, description = "Dead letters, the oldest first, and messages that are retried.", body = DeadLetters),
    QueryAndNameProblems,
    AccessProblems,
    (status = 404, description = "`not-found`: there is no such output", body = Problem, content_type = "application/problem+json"),
    ReadProblems,
    AnswerProblems,
))]
pub async fn dead_letters(
    Everything(state): Everything,
    Segment(output): Segment,
    uri: Uri,
) -> Result<Json<DeadLetters>, Problem> {
    let (limit, after) = page(&uri)?;
    let after = after.map_or(Ok(0), |after| number("after", &after))?;
    let last_message_id = state.buffer().stats.totals().last_message_id;
    let count = dead_letters::counts(&state, Some(&output))?.remove(&output).unwrap_or_default();
    let mut messages = dead_letters::list(&state.buffer().readers, &output, after, limit as u32 + 1).await?;
    let more = messages.len() > limit;
    messages.truncate(limit);
    let retried = state.outputs.retried(&output, MAX_LIMIT as usize).await;
    Ok(Json(DeadLetters { output, count, last_message_id, messages, more, retried }))
}

/// The devices with messages in the quarantine.
#[derive(Serialize, ToSchema)]
pub struct QuarantineDevices {
    /// Those with the most messages first, at most 100.
    devices: Vec<QuarantineDevice>,
    /// The last ID in the quarantine: operations on all messages of a device name it as `up_to`.
    last_quarantine_id: i64,
}

/// The quarantined messages of a device.
#[derive(Serialize, ToSchema)]
struct QuarantineDevice {
    device: String,
    messages: u64,
    bytes: u64,
    /// The error kind of the newest one.
    kind: String,
}

#[utoipa::path(get, path = "/api/quarantine/devices", tag = "operations", params(("device" = Option<String>, Query, description = "Only this device.")), responses(
    (status = 200, description = "How many messages of which devices are in the quarantine.", body = QuarantineDevices),
    QueryProblems,
    AccessProblems,
    ReadProblems,
))]
pub async fn quarantine_devices(
    Everything(state): Everything,
    uri: Uri,
) -> Result<Json<QuarantineDevices>, Problem> {
    let device = query::read(uri.query(), &["device"])?.into_iter().next().map(|(_, device)| device);
    let last_quarantine_id = state.buffer().stats.totals().last_quarantine_id;
    let found = state.buffer().readers.quarantined_by_device(device, DEVICES).await?;
    let devices = found
        .into_iter()
        .map(|of| QuarantineDevice {
            device: of.device,
            messages: of.messages,
            bytes: of.bytes,
            kind: of.kind,
        })
        .collect();
    Ok(Json(QuarantineDevices { devices, last_quarantine_id }))
}

#[utoipa::path(get, path = "/api/tokens", tag = "operations", params(NamePage), responses(
    (status = 200, description = "The tokens in use, in the order of their names, without secrets or hashes.", body = Credentials),
    QueryProblems,
    AccessProblems,
    AnswerProblems,
))]
pub async fn tokens(Everything(state): Everything, uri: Uri) -> Result<Json<Credentials>, Problem> {
    let (limit, after) = page(&uri)?;
    Ok(Json(credentials::tokens(&state, after.as_deref().unwrap_or_default(), limit)))
}

#[utoipa::path(get, path = "/api/keys", tag = "operations", params(NamePage), responses(
    (status = 200, description = "The DTLS keys in use, in the order of their names, without secrets.", body = Credentials),
    QueryProblems,
    AccessProblems,
    AnswerProblems,
))]
pub async fn keys(Everything(state): Everything, uri: Uri) -> Result<Json<Credentials>, Problem> {
    let (limit, after) = page(&uri)?;
    Ok(Json(credentials::keys(&state, after.as_deref().unwrap_or_default(), limit)))
}

/// The schemas in use.
#[derive(Serialize, ToSchema)]
pub struct Schemas {
    schemas: Vec<SchemaObject>,
}

#[utoipa::path(get, path = "/api/schemas", tag = "operations", responses(
    (status = 200, description = "The schemas in use, with their slots and fingerprints.", body = Schemas),
    QueryProblems,
    AccessProblems,
    ReadProblems,
    AnswerProblems,
))]
pub async fn all_schemas(Everything(state): Everything, _: NoQuery) -> Result<Json<Schemas>, Problem> {
    Ok(Json(Schemas { schemas: schemas::schemas(&state).await? }))
}

#[utoipa::path(get, path = "/api/rates", tag = "operations", responses(
    (status = 200, description = "Messages, bytes and rejections per second in each minute, since the start and for at most a day.", body = RatesObject),
    QueryProblems,
    AccessProblems,
    AnswerProblems,
))]
pub async fn all_rates(Everything(state): Everything, _: NoQuery) -> Json<RatesObject> {
    let totals = state.buffer().stats.totals();
    Json(state.rates.object(state.started_at, &totals, state.metrics.requeued.get()))
}
