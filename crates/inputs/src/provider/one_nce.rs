//! 1NCE's Cloud Integrator (help.1nce.com, "1NCE OS", "Cloud Integrator": "Output Format", "Features & Limitations"): what a device sent
//! over UDP, CoAP or LwM2M, as JSON if 1NCE parsed it, else in base64. 1NCE retries until the answer is 2xx, and gives the integration up
//! after five failures, so events that are not known here are accepted as well.

use super::{
    envelope::{Content, Envelope, base64, foreign},
    fields::Fields,
    pointers::{NOWHERE, Pointers, at},
};
use dunnage_ingest::Rejected;
use std::borrow::Cow;

/// Where an event has its parts, besides the payload.
const EVENT: Pointers = Pointers {
    device: Cow::Borrowed("/device/iccid"),
    id: Cow::Borrowed(&[Cow::Borrowed("/id")]),
    time: at("/received"),
    ..NOWHERE
};

/// Opens an event.
pub fn read(envelope: &Envelope<'_>) -> Result<Content, Rejected> {
    let fields = Fields::read(envelope.bytes)?;
    let kind = fields.text("/type").ok_or_else(|| foreign("the envelope has no type"))?;
    match &*kind {
        "TELEMETRY_DATA" => {}
        "LIFECYCLE" => return Ok(Content::Event("lifecycle")),
        "LOCATION" => return Ok(Content::Event("location")),
        "GEOFENCE" => return Ok(Content::Event("geofence")),
        "ERROR" => return Ok(Content::Event("error")),
        "TEST_MESSAGE" => return Ok(Content::Event("test_message")),
        _ => return Ok(Content::Event("other")),
    }
    let mut uplink = EVENT.uplink(&fields)?;
    match fields.text("/payload/type").as_deref() {
        Some("JSON") => uplink.decoded = fields.raw("/payload/value"),
        _ => uplink.payload = base64(&fields.text("/payload/value").unwrap_or_default())?,
    }
    Ok(Content::uplink(uplink))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::provider::testing::{open, uplink};
    use serde_json::{Value, json};

    /// The example of "Output Format".
    fn body() -> Value {
        json!({
            "payload": {"type": "JSON", "value": {"latitude": 7.5, "longitude": 2.5}},
            "received": "1670598749915", "id": "1-6393505d-67fa8489fb9c791fcddd43f0", "source": "UDP",
            "type": "TELEMETRY_DATA", "version": "1.0.0",
            "device": {"iccid": "8988280666000002864", "ip": "100.91.200.24", "imsi": "901405100002864"}})
    }

    fn with(pointer: &str, value: Value) -> Result<Content, Rejected> {
        let mut body = body();
        *body.pointer_mut(pointer).unwrap() = value;
        open(read, &body)
    }

    #[test]
    fn telemetry_in_its_documented_form() {
        let up = uplink(open(read, &body()));
        assert_eq!(
            (&*up.device, up.id.as_deref()),
            ("8988280666000002864", Some("1-6393505d-67fa8489fb9c791fcddd43f0"))
        );
        assert_eq!(up.decoded.unwrap().get(), r#"{"latitude":7.5,"longitude":2.5}"#);
        assert!(up.payload.is_empty());
        assert_eq!(up.origin.sent_at.as_deref(), Some("2022-12-09T15:12:29.915Z"));
    }

    #[test]
    fn what_1nce_did_not_parse_is_bytes_in_base64() {
        let up = uplink(with("/payload", json!({"type": "STRING", "value": "AQI="})));
        assert_eq!((up.payload, up.decoded.is_none()), (vec![1, 2], true));
        assert!(with("/payload", json!({"type": "STRING", "value": "a b"})).is_err());
        // A text that is JSON is not base64.
        assert_eq!(uplink(with("/payload/value", json!("AQI="))).decoded.unwrap().get(), r#""AQI=""#);
    }

    #[test]
    fn what_is_missing_or_odd_has_a_reason_or_no_effect() {
        for empty in [Value::Null, json!({}), json!({"type": "JSON", "value": null})] {
            let up = uplink(with("/payload", empty));
            assert!(up.payload.is_empty() && up.decoded.is_none());
        }
        assert_eq!(uplink(with("/received", json!("soon"))).origin.sent_at, None);
        assert_eq!(
            uplink(with("/received", json!(1_670_598_749_915_u64))).origin.sent_at.as_deref(),
            Some("2022-12-09T15:12:29.915Z")
        );
        assert_eq!(uplink(with("/id", Value::Null)).id, None);
        assert!(with("/device/iccid", Value::Null).is_err() && with("/device", json!([])).is_err());
        assert!(with("/type", Value::Null).is_err());
        for (kind, event) in [("LIFECYCLE", "lifecycle"), ("TEST_MESSAGE", "test_message"), ("NEW", "other")]
        {
            assert!(
                matches!(with("/type", json!(kind)), Ok(Content::Event(name)) if name == event),
                "{kind}"
            );
        }
    }
}
