//! The line of a message.

use super::{
    fields::{BYTES, Fields, TAG},
    line,
};
use crate::{
    Message,
    leaves::{self, LEAVES, POINTER},
    origin,
};
use serde_json::value::RawValue;
use std::fmt::Write;

/// Messages of a device that have the same time are told apart by this many nanoseconds: less than the millisecond that providers say.
const PLACES: i64 = 1_000_000;

/// Appends the line of `message`, with its end. An error says why it has none.
pub fn write(fields: &Fields<'_>, message: &Message, line: &mut String) -> Result<(), String> {
    let whole: &RawValue =
        serde_json::from_str(&message.json).map_err(|e| format!("the JSON is invalid: {e}"))?;
    let leaves = leaves::flatten_all(whole).map_err(|e| format!("the JSON is invalid: {e}"))?;
    let leaves = leaves.ok_or_else(|| {
        format!("the message has more than {LEAVES} fields, or one with a name of more than {POINTER} bytes")
    })?;
    line.push_str(&fields.measurement);
    tag("device", &message.device, line);
    tag("device_name", message.device_name().unwrap_or_default(), line);
    tag("link", message.link.as_deref().unwrap_or_default(), line);
    for (key, value) in message.tags().into_iter().flat_map(|tags| tags.iter()) {
        tag(&format!("{TAG}{key}"), value, line);
    }
    // Writing to a String does not fail.
    let _ = write!(line, " {BYTES}={}i", message.raw.len());
    for (pointer, leaf) in &leaves {
        fields.write(pointer, leaf, line)?;
    }
    let _ = writeln!(line, " {}", nanoseconds(message));
    Ok(())
}

/// Appends a tag. A line cannot have an empty one.
fn tag(key: &str, value: &str, line: &mut String) {
    if !value.is_empty() {
        line.push(',');
        line::name(key, line);
        line.push('=');
        line::name(value, line);
    }
}

/// Returns the time of a message's point, in nanoseconds since 1970: when it was sent, if its provider says so, else when it was received.
///
/// A database keeps one point of a device for each time, so the message's place in the buffer is added. All messages of a batch have one time;
/// their places differ.
fn nanoseconds(message: &Message) -> i64 {
    let sent = message.origin.as_deref().and_then(origin::sent_at);
    let at = |micros: i64| micros.checked_mul(1000)?.checked_add(place(message));
    sent.and_then(at).or_else(|| at(message.received_at)).unwrap_or(i64::MAX)
}

/// Returns the message's place in the buffer that it was received in if its stable ID says it, else in this gateway's.
fn place(message: &Message) -> i64 {
    let place = message.stable_id.strip_prefix('m').and_then(|id| id.split_once('-')?.1.parse().ok());
    place.unwrap_or(message.id).rem_euclid(PLACES)
}

#[cfg(test)]
mod tests {
    use super::*;
    use dunnage_register::{Record, Tags};
    use std::sync::Arc;

    fn message(json: &str) -> Message {
        let mut message = Message::default();
        message.stored.stable_id = "k0".into();
        message.stored.id = 7;
        message.stored.device = "urn:x".into();
        message.stored.received_at = 1_767_225_600_000_001;
        message.stored.json = json.into();
        message.stored.raw = vec![0; 3].into();
        message
    }

    fn of(message: &Message) -> Result<String, String> {
        let mut line = String::new();
        write(&Fields::new(None, None), message, &mut line).map(|()| line)
    }

    #[test]
    fn a_line_has_the_tags_that_have_a_value_and_the_fields() {
        let mut message = message(r#"{"t":17,"time":"x","list":[1,null,{"a":true}],"none":null,"e":{}}"#);
        assert_eq!(
            of(&message).unwrap(),
            "messages,device=urn:x message_bytes=3i,t=17.0,time_=\"x\",list__0=1.0,list__2__a=true 1767225600000001007\n"
        );
        let mut tags = Tags::default();
        tags.insert("a b".into(), "c,d\\".into());
        tags.insert("empty".into(), String::new());
        message.record = Some(Arc::new(Record { name: Some("Käse=1".into()), tags, ..Record::default() }));
        message.stored.link = Some("lora".into());
        message.stored.json = "null".into();
        assert_eq!(
            of(&message).unwrap(),
            "messages,device=urn:x,device_name=Käse\\=1,link=lora,tag_a\\ b=c\\,d%5C message_bytes=3i 1767225600000001007\n"
        );
    }

    #[test]
    fn the_time_is_the_senders_and_tells_messages_apart() {
        let time = |message: &Message| {
            of(message).unwrap().trim().rsplit_once(' ').unwrap().1.parse::<i64>().unwrap()
        };
        let mut sent = message("1");
        sent.stored.origin = Some(r#"{"sent_at":"2026-01-03T11:00:00.123Z"}"#.into());
        assert_eq!(time(&sent), 1_767_438_000_123_000_007);
        // A place of another buffer stays, whichever gateway delivers the message.
        sent.stored.stable_id = "m0a1b2c3d-2000009".into();
        assert_eq!(time(&sent), 1_767_438_000_123_000_009);
        // A time that the line protocol does not have.
        sent.stored.origin = Some(r#"{"sent_at":"9999-01-03T11:00:00.123Z"}"#.into());
        assert_eq!(time(&sent), 1_767_225_600_000_001_009);
    }

    #[test]
    fn a_message_without_a_line_says_why() {
        let array = format!("[{}]", vec!["1"; 1001].join(","));
        assert!(of(&message(&array)).unwrap_err().contains("more than 1000 fields"));
        assert!(of(&message("{")).unwrap_err().contains("invalid"));
        let long = format!("{{\"t\":\"{}\"}}", "x".repeat(1 << 17));
        assert_eq!(
            of(&message(&long)).unwrap_err(),
            "field t: a text of 131072 bytes; the longest has 65536"
        );
    }
}
