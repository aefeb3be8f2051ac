//! Ground Control's RockBLOCK (docs.groundcontrol.com, "Receiving MO messages via HTTP Webhook"; docs.rock7.com, "Push API"): a form, or
//! JSON with the same fields. The message is in hexadecimal digits, and a signed token, `JWT`, repeats all fields. RockBLOCK retries
//! until the answer is 200.

use super::{
    envelope::{Content, Envelope, Signed, Uplink, foreign, hex, unauthorized},
    ids::joined,
    jwt::PublicKey,
    origin::{Origin, Position, plain_time},
};
use dunnage_base::clock;
use dunnage_ingest::Rejected;
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// The fields of a request, by name.
struct Fields(Map<String, Value>);

/// Opens a request. With a `key`, only the claims of the signed token are used; the other fields are ignored.
pub fn read(envelope: &Envelope<'_>, key: Option<&PublicKey>) -> Result<Content, Rejected> {
    let mut fields = Fields::read(envelope)?;
    if let Some(key) = key {
        let token = fields.text("JWT").ok_or_else(|| unauthorized("the request has no JWT"))?;
        fields = Fields(key.claims(&token).map_err(unauthorized)?);
    }
    let needed = |name: &str| fields.text(name).ok_or_else(|| foreign(format!("the request has no {name}")));
    let (imei, momsn, sent) = (needed("imei")?, needed("momsn")?, needed("transmit_time")?);
    // Trackers post positions without a message.
    let data = hex(&fields.text("data").unwrap_or_default())?;
    let kilometres = fields.number("iridium_cep");
    let place = Position::new(fields.number("iridium_latitude"), fields.number("iridium_longitude"));
    let sent_micros = micros(&sent);
    let sent_at = sent_micros.map(clock::rfc3339);
    // The counter wraps after 65,535, so the time is part of the ID.
    let id = joined([&*momsn, sent_at.as_deref().unwrap_or(&sent)]);
    let origin = Origin {
        sent_at,
        position: place.map(|place| place.within(kilometres.map(|km| km * 1000.0))),
        counter: momsn.parse().ok(),
        ..Origin::default()
    };
    let issued = fields.number("iat").map(|seconds| (seconds * 1e6) as i64);
    let signed = key.map(|_| Signed { at: issued.or(sent_micros), sent: sent_micros });
    Ok(Content::uplink(Uplink {
        device: imei,
        id: Some(id),
        payload: data,
        origin,
        signed,
        ..Uplink::default()
    }))
}

impl Fields {
    fn read(envelope: &Envelope<'_>) -> Result<Fields, Rejected> {
        if envelope.content_type.to_ascii_lowercase().starts_with("application/json") {
            return serde_json::from_slice(envelope.bytes).map(Fields).map_err(|e| foreign(e.to_string()));
        }
        let form: BTreeMap<String, String> =
            serde_urlencoded::from_bytes(envelope.bytes).map_err(|e| foreign(e.to_string()))?;
        Ok(Fields(form.into_iter().map(|(name, text)| (name, Value::String(text))).collect()))
    }

    /// Returns a field as text. Forms and JSON differ in whether a field is a text or a number.
    fn text(&self, name: &str) -> Option<String> {
        match self.0.get(name)? {
            Value::String(text) => Some(text.clone()),
            Value::Number(number) => Some(number.to_string()),
            _ => None,
        }
    }

    fn number(&self, name: &str) -> Option<f64> {
        self.text(name)?.parse().ok()
    }
}

/// Parses a time: without its century, `21-10-31 10:41:50`, or of RFC 3339, as some devices send it. Returns microseconds since 1970.
fn micros(text: &str) -> Option<i64> {
    plain_time(&format!("20{text}")).or_else(|| clock::parse(text))
}

#[cfg(test)]
mod tests {
    use super::micros;
    use dunnage_base::clock;

    #[test]
    fn both_shapes_of_times_are_read() {
        let utc = |text: &str| micros(text).map(clock::rfc3339);
        assert_eq!(utc("21-10-31 10:41:50").as_deref(), Some("2021-10-31T10:41:50.000Z"));
        assert_eq!(utc("2019-01-31T14:00:13Z").as_deref(), Some("2019-01-31T14:00:13.000Z"));
        assert_eq!(utc("yesterday"), None);
    }
}
