//! Lists of messages and of the quarantine. They start with the newest entry; `before=ID` continues a list.

#![allow(unused_qualifications, reason = "what utoipa makes of params(...)")]

use super::guard::Readable;
use super::objects::{MessageObject, RejectObject};
use super::problems::{AnswerProblems, QueryAndNameProblems, QueryProblems, ReadProblems};
use super::turns::turn;
use crate::state::GatewayState;
use axum::{Json, http::Uri};
use dunnage_base::clock;
use dunnage_buffer::{Message, Page, Times};
use dunnage_inputs::{AccessProblems, Problem, Segment, query};
use serde::Serialize;
use utoipa::{IntoParams, ToSchema};

pub const DEFAULT_LIMIT: u32 = 50;
pub const MAX_LIMIT: u32 = 1000;

/// The part of a list to return.
#[derive(IntoParams)]
#[expect(dead_code, reason = "the OpenAPI document alone has it")]
#[into_params(parameter_in = Query)]
pub struct Parameters {
    /// Most entries: 1 to 1000, and 50 by default.
    #[param(value_type = Option<i64>, minimum = 1, maximum = 1000)]
    limit: Option<u32>,
    /// Only entries with smaller IDs.
    before: Option<i64>,
}

impl Parameters {
    /// Parses the parameters of `uri`. Also returns those that are among `more`.
    fn read(uri: &Uri, more: &[&'static str]) -> Result<(Page, query::Given), Problem> {
        let known = [&["limit", "before"], more].concat();
        let (mut limit, mut before, mut others) = (None, None, Vec::new());
        for (name, value) in query::read(uri.query(), &known)? {
            match name {
                "limit" => limit = Some(limit_of(&value)?),
                "before" => before = Some(number(name, &value)?),
                _ => others.push((name, value)),
            }
        }
        Ok((Page { limit: limit.unwrap_or(DEFAULT_LIMIT), before }, others))
    }
}

/// The times of receipt of the messages to return.
#[derive(IntoParams)]
#[expect(dead_code, reason = "the OpenAPI document alone has it")]
#[into_params(parameter_in = Query)]
pub struct TimesParameters {
    /// Only messages that were received at this time or later: RFC 3339.
    #[param(value_type = Option<String>, format = DateTime)]
    from: Option<String>,
    /// Only messages that were received before this time: RFC 3339.
    #[param(value_type = Option<String>, format = DateTime)]
    until: Option<String>,
}

/// The names of [`TimesParameters`].
pub const TIMES: [&str; 2] = ["from", "until"];

/// Takes the parameters `from` and `until` out of `given`.
pub fn times(given: &mut query::Given) -> Result<Times, Problem> {
    let mut times = Times::ALL;
    for (name, value) in given.extract_if(.., |(name, _)| TIMES.contains(name)) {
        let time = clock::parse(&value).ok_or_else(|| {
            query::bad_query(format!("{name} must be a time such as 2026-01-31T08:00:00Z, not {value:?}"))
        })?;
        *(if name == "from" { &mut times.from } else { &mut times.until }) = time;
    }
    Ok(times)
}

/// Parses the parameter `limit`.
pub fn limit_of(value: &str) -> Result<u32, Problem> {
    match number("limit", value)? {
        limit @ 1..=MAX_LIMIT => Ok(limit),
        limit => Err(query::bad_query(format!("limit must be 1 to {MAX_LIMIT}, not {limit}")).into()),
    }
}

/// Parses the parameter `name`.
pub fn number<T: std::str::FromStr>(name: &str, value: &str) -> Result<T, Problem> {
    // Do not repeat an overlong value in the answer.
    let shown: String = value.chars().take(64).collect();
    let bad = |_| query::bad_query(format!("{name} must be a whole number, not {shown:?}"));
    Ok(value.parse().map_err(bad)?)
}

/// The answer for a device of which nothing is stored, or which the client may not read.
pub fn nothing_stored(device: &str) -> Problem {
    Problem::not_found(format!("no message of the device {device:?} is stored"))
}

#[derive(Serialize, ToSchema)]
pub struct Messages<T> {
    messages: Vec<T>,
}

#[utoipa::path(get, path = "/api/devices/{device}/messages", tag = "api", params(("device" = String, Path, description = "The device's id."), Parameters, TimesParameters), responses(
    (status = 200, description = "The newest messages of a device, or of a time range.", body = Messages<MessageObject>),
    QueryAndNameProblems,
    AccessProblems,
    (status = 404, description = "`not-found`: nothing has been stored of this device", body = Problem, content_type = "application/problem+json"),
    ReadProblems,
    AnswerProblems,
))]
pub async fn device_messages(
    client: Readable,
    Segment(device): Segment,
    uri: Uri,
) -> Result<Json<Messages<MessageObject>>, Problem> {
    let (page, mut others) = Parameters::read(&uri, &TIMES)?;
    let times = times(&mut others)?;
    let device = client.device(device, nothing_stored)?;
    let missing = nothing_stored(&device);
    let found = client.state.buffer().readers.device_messages(device, page, times).await?;
    objects(found.ok_or(missing)?, &client.state)
}

#[utoipa::path(get, path = "/api/messages", tag = "api", params(Parameters, TimesParameters, ("device" = Option<String>, Query, description = "Only those of this device.")), responses(
    (status = 200, description = "The newest messages, or those of a time range.", body = Messages<MessageObject>),
    QueryProblems,
    AccessProblems,
    ReadProblems,
    AnswerProblems,
))]
pub async fn messages(client: Readable, uri: Uri) -> Result<Json<Messages<MessageObject>>, Problem> {
    let (page, mut others) = Parameters::read(&uri, &["device", "from", "until"])?;
    let Readable { state, visible, .. } = client;
    let (times, readers) = (times(&mut others)?, &state.buffer().readers);
    let found = match others.into_iter().next() {
        None if visible.is_everything() => readers.messages(page, times).await?,
        None => {
            let _turn = turn().await?;
            readers.messages_of(move |device| visible.has(device), page, times).await?
        }
        // A device without stored messages has an empty list.
        Some((_, device)) if !visible.has(&device) => Vec::new(),
        Some((_, device)) => readers.device_messages(device, page, times).await?.unwrap_or_default(),
    };
    objects(found, &state)
}

#[utoipa::path(get, path = "/api/quarantine", tag = "api", params(Parameters, ("device" = Option<String>, Query, description = "Only those of this device.")), responses(
    (status = 200, description = "The newest messages of the quarantine.", body = Messages<RejectObject>),
    QueryProblems,
    AccessProblems,
    ReadProblems,
    AnswerProblems,
))]
pub async fn rejects(client: Readable, uri: Uri) -> Result<Json<Messages<RejectObject>>, Problem> {
    let (page, others) = Parameters::read(&uri, &["device"])?;
    let device = others.into_iter().next().map(|(_, device)| device);
    let Readable { state, visible, .. } = client;
    let found = state.buffer().readers.quarantined(device, move |device| visible.has(device), page).await?;
    let profiles = state.ingest().profiles.load();
    Ok(Json(Messages {
        messages: found.into_iter().map(|kept| RejectObject::of_stored(kept, &profiles)).collect(),
    }))
}

fn objects(found: Vec<Message>, state: &GatewayState) -> Result<Json<Messages<MessageObject>>, Problem> {
    let profiles = state.ingest().profiles.load();
    let messages =
        found.into_iter().map(|message| MessageObject::of_stored(message, &profiles)).collect::<Option<_>>();
    Ok(Json(Messages { messages: messages.ok_or_else(Problem::unreadable)? }))
}
