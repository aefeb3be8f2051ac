//! The publications of a message.

use super::{
    settings::Payload,
    topic::{is_unusual, level_of},
};
use crate::{
    Message, envelope,
    leaves::{LEAVES, Leaf, POINTER, flatten_all},
    origin,
};
use bytes::Bytes;
use dunnage_clients::{
    mqtt::Publication,
    nats::{header, header_of},
};
use dunnage_schema::pointer::unescape;
use std::fmt::Write;

/// The user property with the stable ID.
const NAME: &str = "Dunnage-Name";
const JSON: &str = "application/json";
const TEXT: &str = "text/plain;charset=utf-8";

/// Returns the publications of `message`, whose topic is `topic`. An error says why there can be none, ever.
pub fn publications(
    message: &Message,
    topic: &str,
    payload: Payload,
    retain: bool,
) -> Result<Vec<Publication>, String> {
    let user = properties(message);
    let one = |payload: Bytes, content_type: Option<String>| {
        vec![Publication { topic: topic.to_owned(), payload, retain, content_type, user: user.clone() }]
    };
    Ok(match payload {
        // What a network server decoded is not in the format of the message, so a receiver could not decode it.
        Payload::Raw if !origin::is_decoded(message.origin.as_deref()) => {
            let media_type =
                message.media_type.map(|kind| origin::with_slot(kind, message.origin.as_deref()));
            one(message.raw.clone(), media_type)
        }
        Payload::Json | Payload::Raw => {
            one(Bytes::copy_from_slice(message.payload().as_bytes()), Some(JSON.to_owned()))
        }
        Payload::Envelope => {
            let mut body = Vec::new();
            envelope::write(message, &mut body).map_err(|e| e.to_string())?;
            one(body.into(), Some(JSON.to_owned()))
        }
        Payload::Fields => {
            let value = serde_json::from_str(message.payload()).map_err(|e| e.to_string())?;
            let leaves = flatten_all(value).map_err(|e| e.to_string())?.ok_or_else(|| {
                format!("it has more than {LEAVES} fields, or one with a name of more than {POINTER} bytes")
            })?;
            let of = |(pointer, leaf): (String, Leaf)| {
                let (payload, media_type) = text(leaf);
                let content_type = Some(media_type.to_owned());
                Publication {
                    topic: field(topic, &pointer),
                    payload,
                    retain,
                    content_type,
                    user: user.clone(),
                }
            };
            leaves.into_iter().map(of).collect()
        }
    })
}

/// Returns the topic of the field at `pointer`.
pub fn field(topic: &str, pointer: &str) -> String {
    let names = pointer.split('/').skip(1).map(|name| level_of(&unescape(name)));
    std::iter::once(topic.to_owned()).chain(names).collect::<Vec<_>>().join("/")
}

/// Returns a leaf as a payload, and its media type: a text without quotes, anything else as in the JSON.
fn text(leaf: Leaf) -> (Bytes, &'static str) {
    match leaf {
        Leaf::Null => ("null".into(), JSON),
        Leaf::Bool(value) => (value.to_string().into(), JSON),
        Leaf::Number(text) | Leaf::Empty(text) => (text.into(), JSON),
        Leaf::Text(text) => (text.into(), TEXT),
    }
}

/// Returns the user properties that describe `message`.
fn properties(message: &Message) -> Vec<(&'static str, String)> {
    let mut all = vec![
        (NAME, message.stable_id.clone()),
        (header::DEVICE, header_of(&message.device)),
        (header::RECEIVED_AT, message.received_at.to_string()),
        (header::FORMAT, message.format.to_string()),
        (header::REQUEST, message.request.clone()),
    ];
    let optional = [
        (header::DEVICE_NAME, message.device_name().map(header_of)),
        (header::TAGS, message.tags_json().map(|tags| usual(&tags))),
        (header::SCHEMA, message.schema.as_deref().map(str::to_owned)),
        (header::LINK, message.link.clone()),
        (header::ORIGIN, message.origin.as_deref().map(usual)),
    ];
    all.extend(optional.into_iter().filter_map(|(key, value)| Some((key, value?))));
    all
}

/// Returns the same JSON without characters that a broker may refuse, which only texts in it can have.
fn usual(json: &str) -> String {
    let mut text = String::with_capacity(json.len());
    for character in json.chars() {
        match is_unusual(character) {
            false => text.push(character),
            true => {
                for unit in character.encode_utf16(&mut [0; 2]) {
                    // Writing to a String does not fail.
                    let _ = write!(text, "\\u{unit:04x}");
                }
            }
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(json: &str) -> Message {
        let mut message = Message::default();
        message.stored.device = "a/b".into();
        message.stored.json = json.into();
        message
    }

    #[test]
    fn each_field_has_a_topic_below_that_of_the_message() {
        let json = r#"{"t":21.50,"wind/":{"gust+":1e2,"":null},"on":[true,{}],"note":"say \"é\""}"#;
        let all = publications(&message(json), "t/d", Payload::Fields, true).unwrap();
        assert!(all.iter().all(|one| one.retain));
        let texts: Vec<_> = all
            .iter()
            .map(|one| format!("{} {}", one.topic, std::str::from_utf8(&one.payload).unwrap()))
            .collect();
        let expected = [
            "t/d/t 21.50",
            "t/d/wind%2F/gust%2B 1e2",
            "t/d/wind%2F/% null",
            "t/d/on/0 true",
            "t/d/on/1 {}",
            "t/d/note say \"é\"",
        ];
        assert_eq!(texts, expected);
        assert_eq!(all[0].content_type.as_deref(), Some(JSON));
        assert_eq!(all[5].content_type.as_deref(), Some(TEXT));
        let one = publications(&message("7"), "t/d", Payload::Fields, false).unwrap();
        assert_eq!((one.len(), &*one[0].topic, &one[0].payload[..]), (1, "t/d", &b"7"[..]));
        let many = format!("[{}0]", "0,".repeat(LEAVES));
        let error = publications(&message(&many), "t", Payload::Fields, false).unwrap_err();
        assert!(error.contains("more than 1000 fields"), "{error}");
    }

    #[test]
    fn raw_bytes_that_a_network_server_decoded_are_sent_as_json() {
        let mut message = message("{}");
        message.stored.raw = Bytes::from_static(b"\x01");
        message.media_type = Some("application/vnd.dunnage.packed");
        let of = |message: &Message| publications(message, "t", Payload::Raw, false).unwrap().remove(0);
        assert_eq!(&of(&message).payload[..], b"\x01");
        message.stored.origin = Some(r#"{"slot":7}"#.into());
        assert_eq!(of(&message).content_type.as_deref(), Some("application/vnd.dunnage.packed; slot=7"));
        message.stored.origin = Some(r#"{"payload":"decoded"}"#.into());
        assert_eq!(
            (&of(&message).payload[..], of(&message).content_type.as_deref()),
            (&b"{}"[..], Some(JSON))
        );
    }

    #[test]
    fn properties_have_no_character_that_a_broker_may_refuse() {
        let mut message = message("1");
        message.stored.device = "a\u{7f}/é".into();
        message.stored.origin = Some("{\"topic\":\"\u{7f}\u{1ffff}é\"}".into());
        let properties = properties(&message);
        let value = |key| &*properties.iter().find(|(known, _)| *known == key).unwrap().1;
        assert_eq!(value(header::DEVICE), "a%7F%2F%C3%A9");
        assert_eq!(value(header::ORIGIN), "{\"topic\":\"\\u007f\\ud83f\\udfffé\"}");
        assert_eq!(
            serde_json::from_str::<serde_json::Value>(value(header::ORIGIN)).unwrap()["topic"],
            "\u{7f}\u{1ffff}é"
        );
    }
}
