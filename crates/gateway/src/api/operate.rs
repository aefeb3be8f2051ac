//! Operations that change the gateway: operators retry and discard messages of the quarantine and dead letters. Each request needs a token
//! with the right to operate, also on this machine.
//!
//! A page of another site cannot send such a request: a browser never adds a `Bearer` token on its own, sends a preflight request before it
//! sends JSON to another site, and states for which site it sends (`access::http::is_cross_site`). An operation handles at most [`MOST`]
//! messages; the answer says where to continue, and each part is authorized separately. Operations are idempotent: they affect only the
//! messages of their selection that are still there.

#![allow(unused_qualifications, reason = "what utoipa makes of params(...)")]

use super::problems::{
    CROSS_SITE, DeadLetterProblems, NOT_JSON, NotRunningProblems, QuarantineProblems, SELECTION,
    TrialProblems,
};
use crate::{
    operations::{
        dead_letters::{self, Action},
        quarantine::{self, Discarded, Part, Retried, Selection},
        trial::{self, Trial, TrialObject},
    },
    state::GatewayState,
};
use axum::{
    Extension, Json,
    body::{Body, Bytes},
    extract::{Request, State},
    http::{HeaderMap, HeaderValue, Method, StatusCode, header},
    middleware::Next,
    response::{IntoResponse, Response},
};
use dunnage_access::{
    Peer,
    http::{bearer, is_cross_site},
    is_pattern,
};
use dunnage_buffer::{Sender, Use};
use dunnage_inputs::{
    HttpSettings, NoQuery, Problem, Segment,
    http::body::{ignore, receive},
};
use dunnage_outputs::{MOST_TRIED, Which};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use std::{net::IpAddr, sync::Arc};
use utoipa::ToSchema;
use utoipa_axum::{router::OpenApiRouter, routes};

/// Most messages of one operation.
const MOST: usize = 1000;
/// Largest body of a request, in bytes.
const BODY: usize = 64 << 10;

/// The types of bodies. A page of another site can send none of them without a preflight request, and no DELETE.
const TYPES: [&str; 3] = ["application/json", "text/csv", "application/x-ndjson"];

/// The routes for operators.
pub fn routes() -> OpenApiRouter<Arc<GatewayState>> {
    OpenApiRouter::new()
        .routes(routes!(retry_quarantine))
        .routes(routes!(discard_quarantine))
        .routes(routes!(retry_dead_letters))
        .routes(routes!(discard_dead_letters))
        .routes(routes!(try_output))
}

/// The operator, for the log.
#[derive(Clone)]
pub struct Operator {
    token: String,
    address: IpAddr,
}

impl Operator {
    /// Logs what the operator did with the replay of an output.
    pub fn log_replay(&self, action: &'static str, output: &str, messages: &str, ok: bool) {
        tracing::info!(token = self.token, address = %self.address, output, messages, ok, "an operator {action} a replay");
    }

    /// Logs what the operator did with the register: with a device, or with how many.
    pub fn log(&self, action: &'static str, devices: &str, ok: bool) {
        tracing::info!(token = self.token, address = %self.address, devices, ok, "an operator {action}");
    }
}

/// Middleware that denies requests without a token that may operate, and those that a page of another site may have caused.
pub async fn operators_only(
    State(state): State<Arc<GatewayState>>,
    peer: Peer,
    mut request: Request,
    next: Next,
) -> Response {
    let mut response = match admit(&state, &peer, request.method(), request.headers()) {
        Ok(operator) => {
            request.extensions_mut().insert(operator);
            next.run(request).await
        }
        Err(problem) => {
            // An unread body would end the connection, perhaps before its client has read the answer.
            ignore(request.into_body(), &limits(&state, BODY)).await;
            problem.into_response()
        }
    };
    if response.status() == StatusCode::UNAUTHORIZED {
        // Not Basic: a browser would ask for a password, which does not help.
        let bearer = HeaderValue::from_static("Bearer realm=\"dunnage\"");
        response.headers_mut().insert(header::WWW_AUTHENTICATE, bearer);
    }
    response
}

fn admit(
    state: &GatewayState,
    peer: &Peer,
    method: &Method,
    headers: &HeaderMap,
) -> Result<Operator, Problem> {
    if is_cross_site(headers) {
        let detail = "a browser sent the request for a page of another site";
        return Err(Problem::new(CROSS_SITE, detail));
    }
    let given = headers.get(header::CONTENT_TYPE).and_then(|given| given.to_str().ok()).unwrap_or_default();
    let given = given.split(';').next().unwrap_or_default().trim();
    if *method != Method::DELETE && !TYPES.iter().any(|known| given.eq_ignore_ascii_case(known)) {
        let detail = "an operation must have Content-Type: application/json, and an import text/csv or application/x-ndjson";
        return Err(Problem::new(NOT_JSON, detail));
    }
    let token = state.ingest().access.may_operate(peer, bearer(headers).as_deref())?;
    Ok(Operator { token, address: peer.address.to_canonical() })
}

/// Selects messages of the quarantine: those of `ids`, or those up to `up_to`.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct QuarantineSelection {
    /// IDs in the quarantine, at most 1000.
    #[schema(max_items = 1000)]
    ids: Option<Vec<i64>>,
    /// The last ID in the quarantine that is meant. Messages that arrive later are not.
    up_to: Option<i64>,
    /// The ID after which to begin; `next` of the answer before.
    after: Option<i64>,
    /// Only messages of these devices: an ID, where `*` matches any characters.
    device: Option<String>,
}

/// Selects dead letters: those of `ids`, or those up to `up_to`. To discard, `ids` may also be those of messages that are retried.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct DeadLetterSelection {
    /// Message IDs, at most 1000.
    #[schema(max_items = 1000)]
    ids: Option<Vec<i64>>,
    /// The last message ID that is meant. Dead letters with larger IDs are not.
    up_to: Option<i64>,
    /// The ID after which to begin; `next` of the answer before.
    after: Option<i64>,
}

/// The result of an operation on dead letters.
#[derive(Serialize, ToSchema)]
pub struct Resolved {
    /// The dead letters that are retried, or were discarded. One that is delivered leaves the list, one that is rejected again stays.
    messages: u64,
    /// The last ID that was examined, if there are more dead letters of the selection after it.
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<i64>,
}

#[utoipa::path(post, path = "/api/quarantine/retry", tag = "operations", request_body = QuarantineSelection, security(("token" = [])), responses(
    (status = 200, description = "Messages were decoded with the current profiles and schemas, and stored with their original times of arrival if that succeeded: at most 1000.", body = Retried),
    QuarantineProblems,
))]
pub async fn retry_quarantine(
    State(state): State<Arc<GatewayState>>,
    Extension(operator): Extension<Operator>,
    _: NoQuery,
    body: Body,
) -> Result<Json<Retried>, Problem> {
    let (selection, part) = read::<QuarantineSelection>(&state, &operator, body).await?.checked()?;
    to_the_end(async move {
        let retried = quarantine::retry(&state, &selection, None, part).await;
        let (stored, failed) = retried.as_ref().map_or((0, 0), |retried| (retried.stored, retried.failed));
        let (Operator { token, address }, ok) = (operator, retried.is_ok());
        let (Selection { device, ids, .. }, Part { after, up_to, .. }) = (selection, part);
        tracing::info!(token, %address, device, ?ids, after, up_to, stored, failed, ok, "an operator retried quarantined messages");
        retried
    })
    .await
}

#[utoipa::path(post, path = "/api/quarantine/discard", tag = "operations", request_body = QuarantineSelection, security(("token" = [])), responses(
    (status = 200, description = "Up to 1000 quarantined messages were permanently discarded.", body = Discarded),
    QuarantineProblems,
))]
pub async fn discard_quarantine(
    State(state): State<Arc<GatewayState>>,
    Extension(operator): Extension<Operator>,
    _: NoQuery,
    body: Body,
) -> Result<Json<Discarded>, Problem> {
    let (selection, part) = read::<QuarantineSelection>(&state, &operator, body).await?.checked()?;
    to_the_end(async move {
        let discarded = quarantine::discard(&state, &selection, part).await;
        let messages = discarded.as_ref().map_or(0, |discarded| discarded.dropped);
        let (Operator { token, address }, ok) = (operator, discarded.is_ok());
        let (Selection { device, ids, .. }, Part { after, up_to, .. }) = (selection, part);
        tracing::warn!(token, %address, device, ?ids, after, up_to, messages, ok, "an operator discarded quarantined messages");
        discarded
    })
    .await
}

#[utoipa::path(post, path = "/api/outputs/{output}/dead-letters/retry", tag = "operations", params(("output" = String, Path, description = "The output's name.")), request_body = DeadLetterSelection, security(("token" = [])), responses(
    (status = 200, description = "The output delivers dead letters again: at most 1000.", body = Resolved),
    DeadLetterProblems,
    (status = 404, description = "`not-found`: there is no such output", body = Problem, content_type = "application/problem+json"),
    NotRunningProblems,
))]
pub async fn retry_dead_letters(
    State(state): State<Arc<GatewayState>>,
    Extension(operator): Extension<Operator>,
    Segment(output): Segment,
    _: NoQuery,
    body: Body,
) -> Result<Json<Resolved>, Problem> {
    resolve(state, operator, output, body, Action::Retry).await
}

#[utoipa::path(post, path = "/api/outputs/{output}/dead-letters/discard", tag = "operations", params(("output" = String, Path, description = "The output's name.")), request_body = DeadLetterSelection, security(("token" = [])), responses(
    (status = 200, description = "Dead letters left the list without being delivered, and messages that are retried are not delivered: at most 1000. The messages stay in the buffer.", body = Resolved),
    DeadLetterProblems,
    (status = 404, description = "`not-found`: there is no such output", body = Problem, content_type = "application/problem+json"),
))]
pub async fn discard_dead_letters(
    State(state): State<Arc<GatewayState>>,
    Extension(operator): Extension<Operator>,
    Segment(output): Segment,
    _: NoQuery,
    body: Body,
) -> Result<Json<Resolved>, Problem> {
    resolve(state, operator, output, body, Action::Discard).await
}

#[utoipa::path(post, path = "/api/outputs/{output}/try", tag = "operations", params(("output" = String, Path, description = "The output's name.")), request_body = Trial, security(("token" = [])), responses(
    (status = 200, description = "What the output would do with the last messages: the oldest first. Nothing is delivered.", body = TrialObject),
    TrialProblems,
    (status = 404, description = "`not-found`: there is no such output", body = Problem, content_type = "application/problem+json"),
))]
pub async fn try_output(
    State(state): State<Arc<GatewayState>>,
    Extension(operator): Extension<Operator>,
    Segment(output): Segment,
    _: NoQuery,
    body: Body,
) -> Result<Json<TrialObject>, Problem> {
    let trial = read::<Trial>(&state, &operator, body).await?;
    if !trial.last.is_none_or(|last| (1..=MOST_TRIED).contains(&last)) {
        return Err(bad(format!("last must be 1 to {MOST_TRIED}")));
    }
    Ok(Json(trial::run(&state, &output, trial).await?))
}

async fn resolve(
    state: Arc<GatewayState>,
    operator: Operator,
    output: String,
    body: Body,
    action: Action,
) -> Result<Json<Resolved>, Problem> {
    let selection = read::<DeadLetterSelection>(&state, &operator, body).await?;
    let chosen = chosen(selection.ids, selection.up_to, selection.after)?;
    dead_letters::counts(&state, Some(&output))?;
    to_the_end(async move {
        let (ids, next) = match chosen {
            Chosen::Ids(ids) => (ids, None),
            Chosen::Part(part) => of_part(&state, &output, part).await?,
        };
        let (first, last) = (ids.iter().min().copied(), ids.iter().max().copied());
        let resolved = dead_letters::resolve(&state, &output, Which::Ids(ids), action).await;
        let messages = *resolved.as_ref().unwrap_or(&0);
        let Operator { token, address } = operator;
        let ok = resolved.is_ok();
        match action {
            Action::Retry => {
                tracing::info!(token, %address, output, first, last, messages, ok, "an operator retried dead letters");
            }
            Action::Discard => {
                tracing::warn!(token, %address, output, first, last, messages, ok, "an operator discarded dead letters");
            }
        }
        Ok(Resolved { messages: resolved?, next })
    })
    .await
}

/// Returns the IDs of the dead letters of `part`, and the last of them if there are more.
async fn of_part(state: &GatewayState, output: &str, part: Part) -> Result<(Vec<i64>, Option<i64>), Problem> {
    let readers = state.buffer().readers.of(Use::Admin);
    let found = dead_letters::list(&readers, output, part.after, part.most as u32 + 1).await?;
    let mut ids: Vec<_> = found.iter().map(|letter| letter.id).filter(|id| *id <= part.up_to).collect();
    let more = ids.len() > part.most;
    ids.truncate(part.most);
    let next = ids.last().copied().filter(|_| more);
    Ok((ids, next))
}

/// The messages that a selection selects.
enum Chosen {
    Ids(Vec<i64>),
    Part(Part),
}

fn chosen(ids: Option<Vec<i64>>, up_to: Option<i64>, after: Option<i64>) -> Result<Chosen, Problem> {
    match (ids, up_to, after) {
        (Some(ids), None, None) if (1..=MOST).contains(&ids.len()) => Ok(Chosen::Ids(ids)),
        (Some(_), None, None) => Err(bad("ids must be 1 to 1000 IDs")),
        (None, Some(up_to), after) => {
            Ok(Chosen::Part(Part { after: after.unwrap_or_default(), up_to, most: MOST }))
        }
        _ => Err(bad("a selection must have either ids, or up_to and optionally after")),
    }
}

impl QuarantineSelection {
    fn checked(self) -> Result<(Selection, Part), Problem> {
        if self.device.as_deref().is_some_and(|device| !is_pattern(device)) {
            return Err(bad("device must be a device ID, in which * stands for any characters"));
        }
        let (ids, part) = match chosen(self.ids, self.up_to, self.after)? {
            // The quarantine is searched from the first to the last of them only.
            Chosen::Ids(ids) => {
                let after = ids.iter().min().map_or(0, |first| first.saturating_sub(1));
                let up_to = ids.iter().max().copied().unwrap_or_default();
                (ids, Part { after, up_to, most: MOST })
            }
            Chosen::Part(part) => (Vec::new(), part),
        };
        Ok((Selection { device: self.device, ids, ..Selection::default() }, part))
    }
}

fn bad(detail: impl Into<String>) -> Problem {
    Problem::new(SELECTION, detail)
}

/// Returns the limits of a body of at most `bytes`.
fn limits(state: &GatewayState, bytes: usize) -> HttpSettings {
    HttpSettings { body_limit_bytes: bytes, ..state.env.http.clone() }
}

/// Receives the body of an operation, of at most `most` bytes. The bodies of all operations together have a limit of their own.
pub async fn receive_from(
    state: &GatewayState,
    operator: &Operator,
    body: Body,
    most: usize,
) -> Result<Bytes, Problem> {
    let mut room = state.bodies.reserve();
    let sender = Sender { address: operator.address, device: None };
    Ok(receive(body, &limits(state, most), sender, &mut room).await?)
}

/// Receives and parses a selection.
pub async fn read<T: DeserializeOwned>(
    state: &GatewayState,
    operator: &Operator,
    body: Body,
) -> Result<T, Problem> {
    let bytes = receive_from(state, operator, body, BODY).await?;
    serde_json::from_slice(&bytes).map_err(|e| bad(format!("the body is not a selection: {e}")))
}

/// Completes an operation, and its line in the log, even if the client disconnects.
pub async fn to_the_end<T: Send + 'static>(
    operation: impl Future<Output = Result<T, Problem>> + Send + 'static,
) -> Result<Json<T>, Problem> {
    tokio::spawn(operation).await.unwrap_or_else(|_| Err(Problem::unreadable())).map(Json)
}
