//! Time series of the numbers in a device's messages, for plots. They are downsampled here, so that an answer does not grow with the time range.

#![allow(unused_qualifications, reason = "what utoipa makes of params(...)")]

use super::problems::{AnswerProblems, QueryAndNameProblems, ReadProblems};
use super::{
    guard::Readable,
    lists::{TIMES, TimesParameters, nothing_stored, times},
    turns::turn,
};
use crate::fleet::Position;
use axum::{Json, http::Uri};
use dunnage_base::clock::rfc3339;
use dunnage_buffer::{Message, Page, Readers, Times};
use dunnage_ingest::profiles::{Profiles, Subject};
use dunnage_inputs::{AccessProblems, Problem, Segment, query};
use serde::Serialize;
use serde_json::Value;
use std::{collections::HashMap, sync::Arc};
use utoipa::ToSchema;

/// Most messages and bytes of values that are read for an answer.
const MESSAGES: usize = 20_000;
const BYTES: usize = 32 << 20;
/// Most points of a field in an answer.
const POINTS: usize = 400;
/// Most fields in an answer, and most bytes of a field's pointer. A value may have names of many kilobytes, nested.
const FIELDS: usize = 32;
const POINTER: usize = 256;
/// The numbers of an origin that change over time.
const ORIGIN: [&str; 2] = ["/gateway/rssi", "/gateway/snr"];

/// The numeric fields of a device's messages over time.
#[derive(Serialize, ToSchema)]
pub struct Series {
    device: String,
    /// How many messages were read.
    messages: usize,
    /// Whether these are all messages of the time range. Otherwise they are its newest ones.
    complete: bool,
    /// When the first and the last of them were received.
    #[schema(required)]
    first: Option<String>,
    #[schema(required)]
    last: Option<String>,
    /// The median of the seconds between two messages.
    #[schema(required)]
    interval: Option<f64>,
    /// Their raw bytes.
    bytes: Points,
    /// The numeric fields in the order in which they appear first, newest message first.
    fields: Vec<Field>,
    /// The units of the values, as the schema of the newest message has them in `x-dunnage-unit`.
    units: Vec<Unit>,
    /// The signal strength in dBm and the signal-to-noise ratio in dB, as reported by providers. The pointers refer to the origin.
    origin: Vec<Field>,
    /// Where the device was, oldest first. If there are more positions than fit an answer, some are left out.
    track: Vec<Stop>,
    /// Whether the messages have more numeric fields: an answer has 32 at most, with pointers of at most 256 bytes.
    more_fields: bool,
}

/// A numeric field: a number, or text that is one.
#[derive(Serialize, ToSchema)]
struct Field {
    /// Its JSON pointer in the value.
    pointer: String,
    #[serde(flatten)]
    points: Points,
}

/// The unit of a value.
#[derive(Serialize, ToSchema)]
struct Unit {
    /// The JSON pointer of the value, where `*` matches any element or field. The first pointer that matches a value has its unit.
    pointer: String,
    unit: String,
}

/// A position of the device.
#[derive(Serialize, ToSchema)]
struct Stop {
    /// When its message was received, in milliseconds since 1970.
    at: i64,
    #[serde(flatten)]
    position: Position,
}

/// Numbers over time. If there are more than fit an answer, neighbours are a point together.
#[derive(Serialize, ToSchema, Debug, PartialEq)]
struct Points {
    /// The time of the last number of each point, in milliseconds since 1970, ascending.
    at: Vec<i64>,
    /// The least number of each point.
    low: Vec<f64>,
    /// The greatest one.
    high: Vec<f64>,
    /// The last one.
    last: Vec<f64>,
}

#[utoipa::path(get, path = "/api/devices/{device}/series", tag = "api", params(("device" = String, Path, description = "The device's id."), TimesParameters), responses(
    (status = 200, description = "The numbers in a device's messages over time.", body = Series),
    QueryAndNameProblems,
    AccessProblems,
    (status = 404, description = "`not-found`: nothing has been stored of this device", body = Problem, content_type = "application/problem+json"),
    ReadProblems,
    AnswerProblems,
))]
pub async fn series(client: Readable, Segment(device): Segment, uri: Uri) -> Result<Json<Series>, Problem> {
    let mut given = query::read(uri.query(), &TIMES)?;
    let times = times(&mut given)?;
    let device = client.device(device, nothing_stored)?;
    let state = client.state;
    let _turn = turn().await?;
    let profiles = state.ingest().profiles.load_full();
    let read = Read::of(&state.buffer().readers, &device, times, &profiles).await?;
    Ok(Json(read.ok_or_else(|| nothing_stored(&device))?.series(device, &profiles)))
}

/// The values read from a device's messages, newest first.
#[derive(Default)]
struct Read {
    /// When each message was received, in microseconds since 1970, and its raw bytes.
    bytes: Vec<(i64, f64)>,
    fields: Vec<(String, Vec<(i64, f64)>)>,
    /// The places in `fields`.
    places: HashMap<String, usize>,
    has_more_fields: bool,
    /// The numbers at each pointer of [`ORIGIN`].
    origin: [Vec<(i64, f64)>; ORIGIN.len()],
    positions: Vec<(i64, Position)>,
    /// The schema of the newest message.
    schema: Option<String>,
    is_complete: bool,
}

impl Read {
    /// Reads the messages of `device`. Returns `None` for an unknown device.
    async fn of(
        readers: &Readers,
        device: &str,
        times: Times,
        profiles: &Arc<Profiles>,
    ) -> Result<Option<Read>, Problem> {
        let (mut read, mut size, mut before) = (Read::default(), 0, None);
        while read.bytes.len() < MESSAGES && size < BYTES {
            let page = Page { limit: 1000, before };
            let found = readers.device_messages(device.to_owned(), page, times).await?;
            let Some(found) = found else { return Ok(None) };
            let Some(oldest) = found.last() else {
                read.is_complete = true;
                break;
            };
            before = Some(oldest.id);
            size += found.iter().map(|message| message.json.len()).sum::<usize>();
            let profiles = Arc::clone(profiles);
            let parsed = tokio::task::spawn_blocking(move || {
                for message in &found {
                    let subject = Subject::new(&message.device, message.origin.as_deref());
                    read.add(message, profiles.position(&subject));
                }
                read
            });
            read = parsed.await.map_err(|_| Problem::unreadable())?;
        }
        Ok(Some(read))
    }

    /// Adds a message. `pointer` says where its position is, if the device's profile does.
    fn add(&mut self, message: &Message, pointer: Option<&str>) {
        let at = message.received_at;
        if self.bytes.is_empty() {
            self.schema.clone_from(&message.schema);
        }
        let position = Position::find(pointer, &message.json, message.origin.as_deref());
        self.positions.extend(position.map(|position| (at, position)));
        self.bytes.push((at, message.raw.len() as f64));
        if let Ok(value) = serde_json::from_str(&message.json) {
            self.walk(&value, &mut String::new(), at);
        }
        let origin = message.origin.as_deref().and_then(|origin| serde_json::from_str::<Value>(origin).ok());
        for (pointer, numbers) in ORIGIN.iter().zip(&mut self.origin) {
            let number = origin.as_ref().and_then(|origin| origin.pointer(pointer)?.as_f64());
            numbers.extend(number.map(|number| (at, number)));
        }
    }

    fn walk(&mut self, value: &Value, pointer: &mut String, at: i64) {
        let end = pointer.len();
        if end > POINTER {
            self.has_more_fields = true;
            return;
        }
        match value {
            Value::Number(number) => self.put(pointer, at, number.as_f64()),
            Value::String(text) => self.put(pointer, at, numeric(text)),
            Value::Array(elements) => {
                for (i, element) in elements.iter().enumerate() {
                    pointer.push_str(&format!("/{i}"));
                    self.walk(element, pointer, at);
                    pointer.truncate(end);
                }
            }
            Value::Object(members) => {
                for (name, member) in members {
                    pointer.push('/');
                    pointer.push_str(&name.replace('~', "~0").replace('/', "~1"));
                    self.walk(member, pointer, at);
                    pointer.truncate(end);
                }
            }
            Value::Null | Value::Bool(_) => {}
        }
    }

    fn put(&mut self, pointer: &str, at: i64, number: Option<f64>) {
        let Some(number) = number else { return };
        if let Some(place) = self.places.get(pointer) {
            self.fields[*place].1.push((at, number));
        } else if self.fields.len() < FIELDS {
            self.places.insert(pointer.to_owned(), self.fields.len());
            self.fields.push((pointer.to_owned(), vec![(at, number)]));
        } else {
            self.has_more_fields = true;
        }
    }

    fn series(self, device: String, profiles: &Profiles) -> Series {
        let units = self.schema.map(|schema| profiles.units(&schema).to_vec()).unwrap_or_default();
        let (last, first) = (self.bytes.first().map(|(at, _)| *at), self.bytes.last().map(|(at, _)| *at));
        Series {
            device,
            messages: self.bytes.len(),
            complete: self.is_complete,
            first: first.map(rfc3339),
            last: last.map(rfc3339),
            interval: interval(&self.bytes),
            more_fields: self.has_more_fields,
            bytes: Points::of(&self.bytes),
            units: units.into_iter().map(|(pointer, unit)| Unit { pointer, unit }).collect(),
            origin: ORIGIN
                .iter()
                .zip(&self.origin)
                .filter(|(_, numbers)| !numbers.is_empty())
                .map(|(pointer, numbers)| Field { pointer: (*pointer).into(), points: Points::of(numbers) })
                .collect(),
            track: thinned(&self.positions)
                .map(|few| Stop { at: few[0].0 / 1000, position: few[0].1 })
                .collect(),
            fields: self
                .fields
                .into_iter()
                .map(|(pointer, numbers)| Field { pointer, points: Points::of(&numbers) })
                .collect(),
        }
    }
}

/// Returns the number that `text` is, if it is one as JSON writes it, or has zeros in front, as numbers of a fixed width have.
fn numeric(text: &str) -> Option<f64> {
    let (sign, digits) = text.strip_prefix('-').map_or(("", text), |digits| ("-", digits));
    let zeros = digits.bytes().take_while(|byte| *byte == b'0').count();
    let is_padded = digits.as_bytes().get(zeros).is_some_and(u8::is_ascii_digit);
    let bare = &digits[if is_padded { zeros } else { zeros.saturating_sub(1) }..];
    serde_json::from_str::<serde_json::Number>(&format!("{sign}{bare}")).ok()?.as_f64()
}

/// Returns the median of the seconds between messages, newest first.
fn interval(messages: &[(i64, f64)]) -> Option<f64> {
    let mut all: Vec<i64> = messages.windows(2).map(|pair| pair[0].0.saturating_sub(pair[1].0)).collect();
    let middle = all.len() / 2;
    (!all.is_empty()).then(|| *all.select_nth_unstable(middle).1 as f64 / 1e6)
}

/// Returns groups of neighbours, oldest first, from `all`, newest first: as many as fit an answer.
fn thinned<T>(all: &[T]) -> impl Iterator<Item = &[T]> {
    all.chunks(all.len().div_ceil(POINTS).max(1)).rev()
}

impl Points {
    /// Thins out `numbers`, newest first. The points are in ascending order.
    fn of(numbers: &[(i64, f64)]) -> Points {
        let mut points = Points { at: Vec::new(), low: Vec::new(), high: Vec::new(), last: Vec::new() };
        for few in thinned(numbers) {
            let all = || few.iter().map(|(_, number)| *number);
            points.at.push(few[0].0 / 1000);
            points.low.push(all().fold(f64::INFINITY, f64::min));
            points.high.push(all().fold(f64::NEG_INFINITY, f64::max));
            points.last.push(few[0].1);
        }
        points
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dunnage_ingest::profiles::settings::SchemaSettings;

    fn read(values: &[&str]) -> Series {
        let mut read = Read::default();
        for (i, value) in values.iter().enumerate().rev() {
            let received_at = i as i64 * 60_000_000;
            read.add(&Message { received_at, json: (*value).into(), ..Message::default() }, None);
        }
        read.series("d".into(), &profiles())
    }

    fn profiles() -> Profiles {
        Profiles::load(&SchemaSettings::default(), &[]).unwrap()
    }

    #[test]
    fn numbers_and_texts_that_are_numbers_have_points() {
        let series = read(&[
            r#"{"t":1.5,"a":["7",null,"x",true],"k/~":-1}"#,
            r#"{"t":2.5,"a":["8.25"],"late":"2026-01-01"}"#,
            "[[]]",
        ]);
        let pointers: Vec<_> = series.fields.iter().map(|field| field.pointer.as_str()).collect();
        assert_eq!(pointers, ["/t", "/a/0", "/k~1~0"]);
        assert!(!series.more_fields);
        let t = &series.fields[0].points;
        assert_eq!((&t.at, &t.last), (&vec![0, 60_000], &vec![1.5, 2.5]));
        assert_eq!(series.interval, Some(60.0));
        assert_eq!(series.bytes.at.len(), 3);
    }

    #[test]
    fn texts_of_a_fixed_width_are_numbers() {
        for (text, number) in
            [("06", 6.0), ("-007.50", -7.5), ("000", 0.0), ("00.5", 0.5), ("0", 0.0), ("1e3", 1000.0)]
        {
            assert_eq!(numeric(text), Some(number), "{text}");
        }
        for text in ["", "-", "0x6", "00x", "é", "0é", "+6", "2026-01-01", "1.2.3", "--1"] {
            assert_eq!(numeric(text), None, "{text}");
        }
    }

    #[test]
    fn the_reception_that_providers_report_has_points() {
        let mut read = Read::default();
        for (at, origin) in [(2, Some(r#"{"gateway":{"id":"g","rssi":-101.5}}"#)), (1, Some("{}")), (0, None)]
        {
            let origin = origin.map(Into::into);
            let message = Message {
                received_at: at,
                origin,
                json: r#"{"p":{"lat":1,"lon":2}}"#.into(),
                ..Message::default()
            };
            read.add(&message, (at == 1).then_some("/p"));
        }
        let series = read.series("d".into(), &profiles());
        assert_eq!(series.origin.len(), 1);
        assert_eq!(
            (series.origin[0].pointer.as_str(), &series.origin[0].points.last),
            ("/gateway/rssi", &vec![-101.5])
        );
        assert_eq!(series.track.iter().map(|stop| stop.position.longitude).collect::<Vec<_>>(), [2.0]);
    }

    #[test]
    fn the_units_are_those_of_the_newest_messages_schema() {
        let mut read = Read::default();
        for schema in ["weather", "meter"] {
            read.add(&Message { schema: Some(schema.into()), json: "{}".into(), ..Message::default() }, None);
        }
        let units: Vec<_> = read.series("d".into(), &profiles()).units;
        assert!(units.iter().any(|unit| (&*unit.pointer, &*unit.unit) == ("/wind/gust", "m/s")));
        assert!(units.iter().all(|unit| unit.unit != "kWh"));
    }

    #[test]
    fn many_numbers_are_thinned_out_and_keep_their_extremes() {
        let numbers: Vec<_> =
            (0..20_000).rev().map(|i| (i * 1000, if i == 777 { -5.0 } else { i as f64 })).collect();
        let points = Points::of(&numbers);
        assert_eq!(points.at.len(), POINTS);
        assert!(points.at.is_sorted());
        assert_eq!(points.low.iter().copied().fold(f64::INFINITY, f64::min), -5.0);
        assert_eq!(points.high.last(), Some(&19_999.0));
        assert_eq!(points.last.last(), Some(&19_999.0));
    }

    #[test]
    fn fields_beyond_the_limit_are_counted() {
        let members: Vec<_> = (0..10_000).map(|i| format!("\"f{i}\":{i}")).collect();
        let value = format!("{{{}}}", members.join(","));
        let series = read(&[&value, &value]);
        assert_eq!((series.fields.len(), series.more_fields), (FIELDS, true));
        assert_eq!(series.fields[0].points.at.len(), 2);
        let long = read(&[&format!("{{\"{}\":{{\"a\":1}},\"b\":2}}", "x".repeat(100_000))]);
        assert_eq!((long.fields.len(), long.more_fields), (1, true));
    }
}
