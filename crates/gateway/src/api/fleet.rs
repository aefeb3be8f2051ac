//! The list of devices: sorted, filtered, and in pages.

#![allow(unused_qualifications, reason = "what utoipa makes of params(...)")]

use super::guard::Readable;
use super::lists::{DEFAULT_LIMIT, limit_of, nothing_stored};
use super::objects::NamedObject;
use super::problems::{AnswerProblems, QueryAndNameProblems, QueryProblems, ReadProblems};
use super::register::filter;
use crate::{
    fleet::{Direction, Entry, Kind, Page, Position, Query, Sort, Source},
    visible::Visible,
};
use axum::{Json, http::Uri};
use dunnage_base::clock::{self, rfc3339};
use dunnage_ingest::profiles::Profiles;
use dunnage_inputs::{AccessProblems, NoQuery, Problem, Segment, query};
use dunnage_register::Filter;
use serde::{Deserialize, Serialize};
use std::{collections::BTreeMap, sync::Arc};
use utoipa::{IntoParams, ToSchema};

/// The devices to return.
#[derive(IntoParams)]
#[expect(dead_code, reason = "the OpenAPI document alone has it")]
#[into_params(parameter_in = Query)]
pub struct Parameters {
    /// Only devices with this in the ID or, as the register has them, in the name, an external ID or the notes, in upper or lower case.
    find: Option<String>,
    /// Only devices with all these tags in the register: an object, such as `{"site":"pisa"}`.
    tags: Option<String>,
    /// Only devices whose last message came over this link; empty: over none that is known.
    link: Option<String>,
    /// Only devices whose last message has this format.
    format: Option<String>,
    /// Only devices whose last message has this schema; empty: none.
    schema: Option<String>,
    /// Only devices whose last message has this profile, as `profile` of a device; empty: none.
    profile: Option<String>,
    /// Only devices whose next message is late, or only the others.
    late: Option<bool>,
    /// Only devices with messages in the quarantine, or only the others.
    quarantined: Option<bool>,
    /// The sort key; `last` by default.
    #[param(inline)]
    sort: Option<Sort>,
    /// The direction. Without it, names ascend, and everything else descends.
    #[param(inline)]
    order: Option<Direction>,
    /// Most entries: 1 to 1000, and 50 by default.
    #[param(value_type = Option<i64>, minimum = 1, maximum = 1000)]
    limit: Option<u32>,
    /// `next` or `previous` of another page with the same order.
    cursor: Option<String>,
}

const NAMES: [&str; 12] = [
    "find",
    "tags",
    "link",
    "format",
    "schema",
    "profile",
    "late",
    "quarantined",
    "sort",
    "order",
    "limit",
    "cursor",
];

fn read(uri: &Uri, now: i64, visible: Visible) -> Result<Query, Problem> {
    let mut wanted = Query {
        visible,
        filter: Filter::default(),
        names: [const { None }; 4],
        late: None,
        quarantined: None,
        sort: Sort::Last,
        direction: Direction::Desc,
        limit: DEFAULT_LIMIT as usize,
        cursor: None,
        now,
    };
    let (mut find, mut tags, mut direction, mut cursor) = (None, None, None, None);
    for (name, value) in query::read(uri.query(), &NAMES)? {
        match name {
            "find" => find = Some(value),
            "tags" => tags = Some(value),
            "link" => wanted.names[Kind::Link as usize] = Some(value),
            "format" => wanted.names[Kind::Format as usize] = Some(value),
            "schema" => wanted.names[Kind::Schema as usize] = Some(value),
            "profile" => wanted.names[Kind::Profile as usize] = Some(value),
            "late" => wanted.late = Some(choice(name, &value, "true or false")?),
            "quarantined" => wanted.quarantined = Some(choice(name, &value, "true or false")?),
            "sort" => wanted.sort = choice(name, &value, "name, last, messages, bytes or late")?,
            "order" => direction = Some(choice(name, &value, "asc or desc")?),
            "limit" => wanted.limit = limit_of(&value)? as usize,
            _ => cursor = Some(value),
        }
    }
    wanted.filter = filter(find.as_deref(), tags.as_deref())?;
    let natural = if wanted.sort == Sort::Name { Direction::Asc } else { Direction::Desc };
    wanted.direction = direction.unwrap_or(natural);
    if let Some(text) = cursor {
        let detail = "cursor must be next or previous of a page with the same sort and order; leave it out to start at the beginning";
        wanted.cursor = Some(wanted.read(&text).ok_or_else(|| query::bad_query(detail))?);
    }
    Ok(wanted)
}

/// Reads one of a few words.
fn choice<T: for<'a> Deserialize<'a>>(name: &str, value: &str, words: &str) -> Result<T, Problem> {
    let json = match value {
        "true" | "false" => serde_json::Value::Bool(value == "true"),
        _ => serde_json::Value::String(value.to_owned()),
    };
    // Do not repeat an overlong value in the answer.
    let shown: String = value.chars().take(64).collect();
    let bad = |_| query::bad_query(format!("{name} must be {words}, not {shown:?}"));
    Ok(serde_json::from_value(json).map_err(bad)?)
}

/// A page of the devices.
#[derive(Serialize, ToSchema)]
pub struct Devices {
    devices: Vec<DeviceObject>,
    /// How many devices match.
    matches: usize,
    /// How many of them come before this page.
    offset: usize,
    /// The cursor of the page before.
    #[schema(required)]
    previous: Option<String>,
    /// The cursor of the next page.
    #[schema(required)]
    next: Option<String>,
    /// How many devices are in the list: at most 100,000, those that sent last.
    listed: usize,
    /// How many devices have stored messages. A token for a part of the devices is told how many of those in the list have.
    stored: u64,
    names: Names,
}

/// The links, formats, schemas and profiles that most of the listed devices have, at most 50 of each, with their numbers of devices.
#[derive(Serialize, ToSchema)]
struct Names {
    #[schema(value_type = BTreeMap<String, u32>)]
    link: BTreeMap<Arc<str>, u32>,
    #[schema(value_type = BTreeMap<String, u32>)]
    format: BTreeMap<Arc<str>, u32>,
    #[schema(value_type = BTreeMap<String, u32>)]
    schema: BTreeMap<Arc<str>, u32>,
    #[schema(value_type = BTreeMap<String, u32>)]
    profile: BTreeMap<Arc<str>, u32>,
}

/// A device.
#[derive(Serialize, ToSchema)]
pub struct DeviceObject {
    #[schema(value_type = String)]
    device: Arc<str>,
    /// The name and the tags of the device in the register.
    #[serde(flatten)]
    named: NamedObject,
    /// When its first message was received. `null` if it has stored none, or if an older version stored it and retention dropped it.
    #[schema(required)]
    first_seen: Option<String>,
    /// How many messages it has stored, and their raw bytes.
    messages: u64,
    bytes: u64,
    /// How many of its messages are in the quarantine.
    quarantined: u64,
    /// The profile of its last message: its name, else the pattern of its devices, else its conditions.
    #[schema(required, value_type = Option<String>)]
    profile: Option<Arc<str>>,
    /// The expected seconds between two messages, and where that figure comes from.
    #[schema(required)]
    expected_every: Option<f64>,
    #[schema(required)]
    expected_from: Option<Source>,
    /// After how many seconds without a message the device is late.
    #[schema(required)]
    late_after: Option<f64>,
    /// By how many seconds the next message is late. `null` if it is not, or if nothing is known.
    #[schema(required)]
    late: Option<f64>,
    /// Its last message. `null` if all its messages are in the quarantine.
    #[schema(required)]
    last: Option<LastObject>,
}

/// The last message of a device.
#[derive(Serialize, ToSchema)]
struct LastObject {
    id: i64,
    received_at: String,
    #[schema(value_type = String)]
    format: Option<Arc<str>>,
    #[schema(required, value_type = Option<String>)]
    schema: Option<Arc<str>>,
    #[schema(required, value_type = Option<String>)]
    link: Option<Arc<str>>,
    bytes: u32,
    #[schema(required)]
    position: Option<Position>,
}

impl DeviceObject {
    fn of((entry, quarantined): (Entry, u64), profiles: &Profiles, now: i64) -> DeviceObject {
        let seconds = |micros: i64| micros as f64 / 1e6;
        let expected = entry.cadence.expected();
        let [link, format, schema, profile] = entry.names;
        let record = profiles.record(&entry.device);
        DeviceObject {
            named: NamedObject::of(record.as_deref()),
            device: entry.device,
            first_seen: entry.first_at.map(rfc3339),
            messages: entry.messages,
            bytes: entry.bytes,
            quarantined,
            profile,
            expected_every: expected.map(|(every, _)| seconds(every)),
            expected_from: expected.map(|(_, source)| source),
            late_after: entry.cadence.late_after().map(seconds),
            late: entry.cadence.late(entry.received_at, now).map(seconds),
            last: (entry.last_id > 0).then(|| LastObject {
                id: entry.last_id,
                received_at: rfc3339(entry.received_at),
                format,
                schema,
                link,
                bytes: entry.message_bytes,
                position: entry.position.or_else(|| Position::of(record.as_deref()?)),
            }),
        }
    }
}

#[utoipa::path(get, path = "/api/devices", tag = "api", params(Parameters), responses(
    (status = 200, description = "A page of the devices.", body = Devices),
    QueryProblems,
    AccessProblems,
    ReadProblems,
    AnswerProblems,
))]
pub async fn devices(client: Readable, uri: Uri) -> Result<Json<Devices>, Problem> {
    let now = clock::now();
    let Readable { state, visible, .. } = client;
    let is_all = visible.is_everything();
    let wanted = read(&uri, now, visible)?;
    let profiles = state.ingest().profiles.load_full();
    let page = state.fleet.page(wanted, &profiles).await.ok_or_else(Problem::unreadable)?;
    let Page { devices, matches, offset, previous, next, listed, stored, names } = page;
    let [link, format, schema, profile] = names;
    Ok(Json(Devices {
        devices: devices.into_iter().map(|device| DeviceObject::of(device, &profiles, now)).collect(),
        matches,
        offset,
        previous,
        next,
        listed,
        stored: if is_all { state.buffer().stats.totals().devices } else { stored },
        names: Names { link, format, schema, profile },
    }))
}

#[utoipa::path(get, path = "/api/devices/{device}", tag = "api", params(("device" = String, Path, description = "The device's id.")), responses(
    (status = 200, description = "The device.", body = DeviceObject),
    QueryAndNameProblems,
    AccessProblems,
    (status = 404, description = "`not-found`: nothing of this device has been stored or is in the quarantine", body = Problem, content_type = "application/problem+json"),
    ReadProblems,
))]
pub async fn device(
    client: Readable,
    Segment(device): Segment,
    _: NoQuery,
) -> Result<Json<DeviceObject>, Problem> {
    let device = client.device(device, nothing_stored)?;
    let (state, ingest) = (&client.state, client.state.ingest());
    let profiles = ingest.profiles.load_full();
    let found = state.fleet.device(&device, &profiles, &ingest.buffer.readers).await?;
    let found = found.ok_or_else(|| nothing_stored(&device))?;
    Ok(Json(DeviceObject::of(found, &profiles, clock::now())))
}
