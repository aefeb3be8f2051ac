//! Makes a message of a PUBLISH, from its topic and properties.

use crate::{
    device_at,
    routes::{self, DeviceIn, Route, TopicSettings},
    topic::{self, Said},
};
use dunnage_base::{
    clock,
    name::{is_device, is_key, is_name},
};
use dunnage_buffer::Provenance;
use dunnage_clients::mqtt::{
    packet::Publish,
    reason::{Reason, Refusal},
};
use dunnage_formats::Id;
use dunnage_ingest::{
    Code, DECODED_TYPE, Ingest, Meter, RawMessage, Rejected,
    media_types::{NAMES, is_unnamed},
};
use serde::Serialize;
use serde_json::value::RawValue;
use std::{borrow::Cow, collections::BTreeMap, sync::Arc};

/// The input's name in metrics.
pub const METRIC: &str = "mqtt";

/// How many characters of an invalid device ID an error repeats.
const MAX_SHOWN: usize = 64;

/// The parts of a topic: `v1/{device}`, `v1/{device}/{format}` or `v1/{device}/{format}/{schema}`.
#[derive(Debug, PartialEq, Eq)]
pub struct Address<'t> {
    pub device: Cow<'t, str>,
    pub format: Option<&'t str>,
    pub schema: Option<&'t str>,
    /// The schema, if the message names none either.
    pub schema_else: Option<&'t str>,
    /// The key under which the payload is a value of the message.
    pub field: Option<&'t str>,
    /// The topic, if it is not one of the gateway's own, which say no more than the above.
    pub topic: Option<&'t str>,
}

/// The topics of a listener: those that match the operator's patterns, and the gateway's own.
#[derive(Default)]
pub struct Topics {
    routes: Vec<Route>,
    /// The format of messages to topics of the patterns that do not name theirs.
    format: Option<Id>,
    /// Where messages have their device ID, as a JSON pointer, if their topic matches a pattern without one.
    device_at: Option<String>,
    /// Filters of topics whose messages are dropped.
    ignored: Vec<String>,
}

impl Topics {
    /// Accepts topics that match one of `topics`, and the gateway's own. A pattern needs no device if messages have theirs at `device_at`.
    /// An error describes the mistake in a pattern.
    pub fn new(
        topics: &[TopicSettings],
        format: Option<Id>,
        device_at: Option<&str>,
    ) -> Result<Topics, String> {
        let device_in = if device_at.is_some() { DeviceIn::Message } else { DeviceIn::Topic };
        let routes = routes::read(topics, device_in)?;
        Ok(Topics { routes, format, device_at: device_at.map(str::to_owned), ignored: Vec::new() })
    }

    /// Drops messages to other topics that match one of `filters`. An error describes the mistake in a filter.
    pub fn ignoring(self, filters: &[String]) -> Result<Topics, String> {
        filters.iter().try_for_each(|filter| topic::check_filter(filter))?;
        Ok(Topics { ignored: filters.to_vec(), ..self })
    }

    /// Returns whether messages to a topic that has no address are dropped. Bridges publish their state to topics of servers. A message
    /// that only lacks its device ID is not dropped.
    pub fn ignores(&self, topic: &str) -> bool {
        topic.starts_with("$SYS/")
            || (self.find(topic).is_none() && self.ignored.iter().any(|filter| topic::matches(filter, topic)))
    }

    /// Returns whether messages can be sent to `topic`.
    pub fn knows(&self, topic: &str) -> bool {
        self.find(topic).is_some() || address(topic).is_ok()
    }

    /// Returns the first pattern that matches `topic`, and the parts that it names.
    fn find<'t>(&self, topic: &'t str) -> Option<(&Route, Said<'t>)> {
        if topic.contains(['+', '#']) { None } else { routes::find(&self.routes, topic) }
    }

    /// Parses `topic`, to which the message `payload` was sent; `typed` says whether the message itself names its format. Fails if no
    /// pattern matches and the topic is not the gateway's own, and if neither the topic nor the message has a valid device ID.
    pub fn address<'t>(
        &'t self,
        topic: &'t str,
        typed: bool,
        payload: &[u8],
    ) -> Result<Address<'t>, Refusal> {
        let Some((route, said)) = self.find(topic) else {
            return address(topic).map_err(|refusal| match self.routes.is_empty() {
                true => refusal,
                false => {
                    Refusal::new(Reason::Topic, format!("{}; and no pattern of topics matches", refusal.why))
                }
            });
        };
        let device = match &self.device_at {
            Some(pointer) if said.device.is_empty() => device_at::device(payload, pointer).map(Cow::Owned),
            _ if is_device(said.device) => Ok(Cow::Borrowed(said.device)),
            _ => Err(bad_device(said.device)),
        };
        let device = device.map_err(|rejected| Refusal::new(Reason::Topic, rejected.detail))?;
        let standard = route.format.or(self.format).or(matches!(device, Cow::Owned(_)).then_some(Id::Json));
        let format = said.format.or_else(|| standard.filter(|_| !typed).map(Id::name));
        let Said { schema, field, .. } = said;
        let schema_else = route.schema.as_deref();
        Ok(Address { device, format, schema, schema_else, field, topic: Some(topic) })
    }
}

/// Returns the problem of a topic with an invalid device ID.
pub fn bad_device(device: &str) -> Rejected {
    let device: String = device.chars().take(MAX_SHOWN).collect();
    Rejected::bad_device(&format!("the device ID {device:?} in the topic"))
}

/// Parses a `topic` of the gateway's own. Fails for any other.
pub fn address(topic: &str) -> Result<Address<'_>, Refusal> {
    let refused =
        || Refusal::new(Reason::Topic, "a topic must be v1/DEVICE/FORMAT, or v1/DEVICE with a content type");
    let mut parts = topic.split('/');
    let (Some("v1"), Some(device)) = (parts.next(), parts.next()) else { return Err(refused()) };
    let (format, schema) = (parts.next(), parts.next());
    let address = Address {
        device: Cow::Borrowed(device),
        format,
        schema,
        schema_else: None,
        field: None,
        topic: None,
    };
    if parts.next().is_some() || topic.contains(['+', '#']) {
        return Err(refused());
    }
    match is_device(device) {
        true => Ok(address),
        false => Err(Refusal::new(Reason::Topic, bad_device(device).detail)),
    }
}

/// Returns whether a message names its format itself.
pub fn is_typed(publish: &Publish) -> bool {
    publish.content_type.as_deref().is_some_and(|given| !is_unnamed(given))
}

/// What is stored with a message besides its bytes.
#[derive(Serialize)]
struct Origin<'t> {
    topic: &'t str,
    /// The message, if the payload is only one of its values.
    #[serde(skip_serializing_if = "Option::is_none")]
    decoded: Option<BTreeMap<&'t str, Box<RawValue>>>,
}

/// Returns a payload that is one value, as JSON: the value if it is JSON, such as `21.5` or `true`, and else the text. Fails if it is not
/// UTF-8.
fn value(payload: &[u8]) -> Option<Box<RawValue>> {
    let text = std::str::from_utf8(payload).ok()?.trim();
    serde_json::from_str(text).or_else(|_| serde_json::value::to_raw_value(text)).ok()
}

/// Makes a message of `publish`, which was sent to `address`; `input` is the kind of input, as metrics name it, and its counts. If anything in it is invalid, the
/// message goes into the quarantine, because its device is known.
pub fn read(
    ingest: &Ingest,
    input: (&'static str, Arc<Meter>),
    address: &Address<'_>,
    publish: Publish,
) -> RawMessage<'static> {
    let said = |name: &str| publish.user.iter().find(|(key, _)| key == name).map(|(_, value)| &**value);
    let mut bad = None;
    let mut name = |what: &str, given: Option<&str>| match given {
        Some(given) if !is_name(given) => {
            bad.get_or_insert_with(|| Rejected::bad_id(what));
            None
        }
        given => given.map(str::to_owned),
    };
    let schema =
        name("schema", address.schema.or_else(|| said("schema")).or(address.schema_else)).map(Into::into);
    let link = name("link", said("link"));
    let request = said("request").filter(|name| is_name(name)).map(str::to_owned);
    let key = said("key").map(str::to_owned);
    if key.as_deref().is_some_and(|key| !is_key(key)) {
        bad.get_or_insert_with(|| Rejected::bad_key("the user property key"));
    }
    let mut content_type =
        content_type(address.format, publish.content_type.as_deref()).unwrap_or_else(|rejected| {
            bad.get_or_insert(rejected);
            publish.content_type.clone().unwrap_or_default()
        });
    let mut origin = address.topic.map(|topic| Origin { topic, decoded: None });
    if let (Some(field), Some(origin)) = (address.field, &mut origin) {
        match value(&publish.payload) {
            Some(value) => {
                origin.decoded = Some(BTreeMap::from([(field, value)]));
                content_type = DECODED_TYPE.to_owned();
            }
            None => {
                let rejected = Rejected::new(Code::Malformed, "the value is not UTF-8");
                bad.get_or_insert(Rejected { kind: Some("malformed"), ..rejected });
            }
        }
    }
    let limit = ingest.message_limit_bytes();
    if publish.payload.len() > limit {
        bad = Some(Rejected::too_large(limit));
    }
    let provenance = Provenance {
        schema,
        link,
        key: key.filter(|key| is_key(key)),
        origin: origin.and_then(|origin| serde_json::to_string(&origin).ok()).map(Into::into),
        ..Provenance::new(
            &*address.device,
            clock::now(),
            request.unwrap_or_else(|| ingest.request_ids.next()),
        )
    };
    RawMessage::new(input, provenance, content_type, publish.payload, bad)
}

/// Returns the media type of a message from the `format` in its topic and its content type, `said`. If both are present, they must agree.
pub fn content_type(format: Option<&str>, said: Option<&str>) -> Result<String, Rejected> {
    let Some(name) = format else { return Ok(said.unwrap_or_default().to_owned()) };
    let Ok(id) = name.parse::<Id>() else {
        let detail = format!("{name:?}, in the topic, is not a format");
        return Err(Rejected::unsupported(detail).with_choice(format!("; the formats are {}", *NAMES)));
    };
    match said {
        None => Ok(id.media_type().to_owned()),
        Some(said) if is_unnamed(said) => Ok(id.media_type().to_owned()),
        Some(said) if Id::from_media_type(said) == Some(id) => Ok(said.to_owned()),
        Some(said) => {
            Err(Rejected::unsupported(format!("the topic says {name}, but the content type is {said:?}")))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_topic_says_device_format_and_schema() {
        let read = |topic| address(topic).map(|a| (a.device, a.format, a.schema)).ok();
        assert_eq!(read("v1/buoy-7"), Some(("buoy-7".into(), None, None)));
        assert_eq!(read("v1/buoy-7/cbor"), Some(("buoy-7".into(), Some("cbor"), None)));
        assert_eq!(
            read("v1/LMCU1231237/packed/container"),
            Some(("LMCU1231237".into(), Some("packed"), Some("container")))
        );
        for topic in
            ["", "v1", "v1/", "v2/d/json", "/v1/d/json", "v1/a\0/json", "v1/d/json/s/", "v1/+", "#", "v1/d/#"]
        {
            assert!(read(topic).is_none(), "{topic}");
        }
    }

    #[test]
    fn patterns_come_before_the_gateways_own_topics() {
        let patterns = ["tele/{device}/SENSOR", "v1/devices/{device}/{format}", "a/{schema}/{device}/#"];
        let topics = Topics::new(&patterns.map(TopicSettings::from), Some(Id::Json), None).unwrap();
        let read = |topic| topics.address(topic, false, b"").map(|a| (a.device, a.format, a.schema)).ok();
        assert_eq!(read("tele/plug-1/SENSOR"), Some(("plug-1".into(), Some("json"), None)));
        assert_eq!(read("v1/devices/d/cbor"), Some(("d".into(), Some("cbor"), None)));
        assert_eq!(read("a/meter/d/x/y"), Some(("d".into(), Some("json"), Some("meter"))));
        assert_eq!(read("v1/buoy-7/cbor"), Some(("buoy-7".into(), Some("cbor"), None)));
        assert_eq!(topics.address("tele/plug-1/SENSOR", true, b"").unwrap().format, None);
        for topic in ["tele/+/SENSOR", "tele/plug-1", "stat/plug-1"] {
            assert!(read(topic).is_none(), "{topic}");
        }
        let why = topics.address("stat/plug-1", false, b"").unwrap_err().why;
        assert!(why.contains("no pattern of topics matches"), "{why}");
    }

    #[test]
    fn a_topic_without_a_device_has_it_in_the_message() {
        let patterns = ["tracker/up", "named/{device}"].map(TopicSettings::from);
        assert!(Topics::new(&patterns, None, None).is_err());
        let topics = Topics::new(&patterns, None, Some("/imei")).unwrap().ignoring(&["#".into()]).unwrap();
        let device = |topic, payload: &str| {
            topics.address(topic, true, payload.as_bytes()).map(|a| a.device.into_owned()).map_err(|e| e.why)
        };
        assert_eq!(device("tracker/up", r#"{"imei":356938035643809}"#).as_deref(), Ok("356938035643809"));
        let format = |typed| topics.address("tracker/up", typed, br#"{"imei":"a"}"#).unwrap().format;
        assert_eq!((format(false), format(true)), (Some("json"), None));
        // The topic names the device where it can, and the gateway's own topics always do.
        for topic in ["named/a", "v1/a/json"] {
            assert_eq!(device(topic, r#"{"imei":"b"}"#).as_deref(), Ok("a"));
        }
        for payload in ["{}", "[", r#"{"imei":"a\n"}"#] {
            assert!(device("tracker/up", payload).is_err(), "{payload}");
        }
        assert!(topics.knows("tracker/up") && !topics.ignores("tracker/up"));
        assert!(!topics.knows("tracker/down") && topics.ignores("tracker/down"));
    }

    #[test]
    fn a_payload_is_a_value() {
        for (payload, json) in [
            ("21.50", "21.50"),
            (" true\n", "true"),
            ("on", "\"on\""),
            ("", "\"\""),
            ("nan", "\"nan\""),
            ("{\"a\":1}", "{\"a\":1}"),
        ] {
            assert_eq!(value(payload.as_bytes()).unwrap().get(), json, "{payload}");
        }
        assert!(value(b"\xff").is_none());
    }

    #[test]
    fn a_format_is_named_once_or_twice_the_same() {
        let read = |format, said| content_type(format, said).ok();
        assert_eq!(read(Some("cbor"), None).as_deref(), Some("application/cbor"));
        assert_eq!(read(None, Some("application/json")).as_deref(), Some("application/json"));
        assert_eq!(read(None, None).as_deref(), Some(""));
        let packed = "application/vnd.dunnage.packed; layout=01234567";
        assert_eq!(read(Some("packed"), Some(packed)).as_deref(), Some(packed));
        assert_eq!(read(Some("json"), Some(packed)), None);
        assert_eq!(read(Some("jsn"), None), None);
        assert_eq!(read(Some("cbor"), Some("application/octet-stream")).as_deref(), Some("application/cbor"));
        assert_eq!(
            read(Some("json"), Some("application/vnd.x+json")).as_deref(),
            Some("application/vnd.x+json")
        );
    }
}
