//! Iridium CloudConnect for SBD ("Data Format" of the deployment guide, aws-ia.github.io/cfn-ps-iridium-cloudconnect-sbd): JSON in a queue of
//! AWS (SQS), from which a function of the operator posts it. The message is in hexadecimal digits.

use super::{
    envelope::{Content, Envelope},
    fields::Fields,
    origin::{Position, plain_time},
    pointers::{Encoding, NOWHERE, Pointers, at},
};
use dunnage_base::clock;
use dunnage_ingest::Rejected;
use std::borrow::Cow;

/// Where a message has its parts. The reference of its call data record is unique in Iridium's gateway.
const CLOUDCONNECT: Pointers = Pointers {
    device: Cow::Borrowed("/data/mo_header/imei"),
    payload: at("/data/payload"),
    encoding: Encoding::Hex,
    id: Cow::Borrowed(&[Cow::Borrowed("/data/mo_header/cdr_reference")]),
    counter: at("/data/mo_header/momsn"),
    ..NOWHERE
};

/// Opens a message, or the confirmation of one to a device.
pub fn read(envelope: &Envelope<'_>) -> Result<Content, Rejected> {
    let fields = Fields::read(envelope.bytes)?;
    if fields.has("/mt_message_status") {
        return Ok(Content::Event("mt_confirmation"));
    }
    let mut uplink = CLOUDCONNECT.uplink(&fields)?;
    let time = fields.text("/data/mo_header/time_of_session");
    uplink.origin.sent_at = time.and_then(|time| plain_time(&time)).map(clock::rfc3339);
    let place = |key: &str| fields.number(&format!("/data/location_information/{key}"));
    let kilometres = place("cep_radius");
    let position = Position::new(place("latitude"), place("longitude"));
    uplink.origin.position = position.map(|position| position.within(kilometres.map(|km| km * 1000.0)));
    Ok(Content::uplink(uplink))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::provider::testing::{open, uplink};
    use serde_json::{Value, json};

    /// The example of the deployment guide.
    fn body() -> Value {
        json!({"api_version": 1, "data": {
            "mo_header": {"cdr_reference": 1_179_650_258, "session_status_int": 0, "session_status": "No error.", "momsn": 58939, "mtmsn": 0,
                "imei": "300334010407160", "time_of_session": "2019-12-16 15:04:09"},
            "location_information": {"cep_radius": 10, "latitude": "38.52137", "longitude": "-77.12970"},
            "payload": "746573746d756963"}})
    }

    #[test]
    fn cloudconnect_in_its_documented_form() {
        let up = uplink(open(read, &body()));
        assert_eq!(
            (&*up.device, &up.payload[..], up.id.as_deref()),
            ("300334010407160", &b"testmuic"[..], Some("1179650258"))
        );
        assert_eq!(
            (up.origin.sent_at.as_deref(), up.origin.counter),
            (Some("2019-12-16T15:04:09.000Z"), Some(58939))
        );
        let position = serde_json::to_value(up.origin.position).unwrap();
        assert_eq!(position, json!({"latitude": 38.52137, "longitude": -77.1297, "accuracy_m": 10_000.0}));
    }

    #[test]
    fn what_is_missing_or_odd_has_a_reason_or_no_effect() {
        let with = |pointer: &str, value: Value| {
            let mut body = body();
            *body.pointer_mut(pointer).unwrap() = value;
            open(read, &body)
        };
        // A session without a message only fetches those to the device.
        assert!(uplink(with("/data/payload", Value::Null)).payload.is_empty());
        assert_eq!(uplink(with("/data/location_information", Value::Null)).origin.position, None);
        assert_eq!(uplink(with("/data/mo_header/time_of_session", json!("soon"))).origin.sent_at, None);
        assert_eq!(uplink(with("/data/mo_header/cdr_reference", Value::Null)).id, None);
        assert_eq!(uplink(with("/data/mo_header/momsn", json!(0))).origin.counter, Some(0));
        for (pointer, value) in [
            ("/data/mo_header/imei", Value::Null),
            ("/data/payload", json!("7g")),
            ("/data/mo_header", json!([])),
        ] {
            assert!(with(pointer, value.clone()).is_err(), "{pointer} {value}");
        }
        let confirmation = json!({"mt_message_id": 1_234_512_345, "unique_client_message_id": 1234, "imei": 123_451_234_512_345_u64,
            "auto_id_reference": 5_432_154_321_u64, "mt_message_status": -2});
        assert!(matches!(open(read, &confirmation), Ok(Content::Event("mt_confirmation"))));
    }
}
