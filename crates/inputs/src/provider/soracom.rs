//! Soracom Beam (developers.soracom.io/en/docs/beam: "HTTP Entry Point", "UDP → HTTP/HTTPS Entry Point", "Header Manipulation"), also by
//! way of the Unified Endpoint: the device is in a header, and the body is what the device sent over HTTP, or of TCP and UDP
//! `{"payload": "<base64>"}` with the `User-Agent` `SORACOM Beam`. Soracom Funnel (users.soracom.io/ja-jp/docs/funnel/format): the device
//! and its JSON are in the body.

use super::{
    envelope::{Content, Envelope, Uplink, base64, foreign},
    fields::Fields,
    ids,
    origin::{Origin, unix},
};
use axum::http::{HeaderMap, header};
use dunnage_formats::Value;
use dunnage_ingest::Rejected;
use serde_json::value::RawValue;

/// The headers that name the device. The first that is there does.
const DEVICE: [&str; 6] = [
    "x-soracom-imsi",
    "x-soracom-imei",
    "x-soracom-sim-id",
    "x-soracom-lora-device-id",
    "x-soracom-sigfox-device-id",
    "x-soracom-device-id",
];

/// Opens a request of Beam, or a message of Funnel.
pub fn read(envelope: &Envelope<'_>) -> Result<Content, Rejected> {
    if let Some(headers) = envelope.headers {
        let devices: Vec<_> = DEVICE.iter().map(|name| one(headers, name)).collect::<Result<_, _>>()?;
        if let Some(device) = devices.into_iter().flatten().next() {
            return beam(envelope, headers, device.to_owned());
        }
    }
    funnel(&Fields::read(envelope.bytes)?)
}

/// Returns the value of a header. One that is there twice may be half of the device's own making, so that neither is believed.
fn one<'h>(headers: &'h HeaderMap, name: &str) -> Result<Option<&'h str>, Rejected> {
    let mut values = headers.get_all(name).iter();
    match (values.next(), values.next()) {
        (Some(_), Some(_)) => Err(foreign(format!("the header {name} is there twice"))),
        (Some(value), None) => {
            let text = value.to_str().map_err(|_| foreign(format!("the header {name} is not ASCII")))?;
            Ok(Some(text).filter(|text| !text.is_empty()))
        }
        (None, _) => Ok(None),
    }
}

fn beam(envelope: &Envelope<'_>, headers: &HeaderMap, device: String) -> Result<Content, Rejected> {
    let time = one(headers, "x-soracom-timestamp")?;
    let is_wrapped = headers.get(header::USER_AGENT).is_some_and(|agent| agent == "SORACOM Beam");
    let payload = match is_wrapped {
        true => base64(&Fields::read(envelope.bytes)?.text("/payload").unwrap_or_default())?,
        false => envelope.bytes.to_vec(),
    };
    let kind = envelope.content_type.split(';').next().unwrap_or_default().trim();
    let is_json = !is_wrapped && kind.eq_ignore_ascii_case("application/json");
    let decoded = is_json.then(|| serde_json::from_slice::<Box<RawValue>>(envelope.bytes).ok()).flatten();
    let id = time.map(|time| ids::of_content(time, &payload));
    let sent_at = unix(time.and_then(|time| time.parse::<f64>().ok()).map(|millis| millis / 1000.0));
    let origin = Origin { sent_at, ..Origin::default() };
    Ok(Content::uplink(Uplink { device, id, payload, decoded, origin, ..Uplink::default() }))
}

fn funnel(fields: &Fields<'_>) -> Result<Content, Rejected> {
    let device = ["/imsi", "/imei", "/simId", "/deviceId"].iter().find_map(|pointer| fields.id(pointer));
    let device = device.ok_or_else(|| {
        foreign("there is neither a header of Beam, such as x-soracom-imsi, nor the imsi or imei of Funnel")
    })?;
    let decoded = fields.raw("/payloads");
    if let Some(Value::Text(_)) = fields.value().get("payloads") {
        return Err(foreign("payloads is a text: set the data format of Funnel to JSON"));
    }
    let time = fields.text("/timestamp");
    let id = time.zip(decoded.as_ref()).map(|(time, text)| ids::of_content(&time, text.get().as_bytes()));
    let sent_at = unix(fields.number("/timestamp").map(|millis| millis / 1000.0));
    let origin = Origin { sent_at, tenant: fields.text("/operatorId"), ..Origin::default() };
    Ok(Content::uplink(Uplink { device, id, decoded, origin, ..Uplink::default() }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::provider::testing::{open, uplink};
    use serde_json::{Value as Json, json};

    fn beam(headers: &[(&'static str, &str)], content_type: &str, bytes: &[u8]) -> Result<Content, Rejected> {
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.append(*name, value.parse().unwrap());
        }
        read(&Envelope { event: None, content_type, headers: Some(&map), bytes })
    }

    const IMSI: (&str, &str) = ("x-soracom-imsi", "295050012345678");
    const IMEI: (&str, &str) = ("x-soracom-imei", "359675070019530");
    const TIME: (&str, &str) = ("x-soracom-timestamp", "1494631852102");
    const AGENT: (&str, &str) = ("user-agent", "SORACOM Beam");

    #[test]
    fn beam_forwards_the_body_of_an_http_device() {
        let up = uplink(beam(&[IMEI, IMSI, TIME], "application/cbor", &[0xa1, 0x61, 0x74, 1]));
        assert_eq!((&*up.device, &up.payload[..]), (IMSI.1, &[0xa1, 0x61, 0x74, 1][..]));
        assert_eq!(up.origin.sent_at.as_deref(), Some("2017-05-12T23:30:52.102Z"));
        assert!(up.decoded.is_none() && up.id.unwrap().starts_with("1494631852102@"));
        let up = uplink(beam(&[IMEI], "application/json; charset=utf-8", br#"{"payload":"AQI="}"#));
        assert_eq!((&*up.device, up.id), (IMEI.1, None));
        assert_eq!(up.decoded.unwrap().get(), r#"{"payload":"AQI="}"#);
        assert!(uplink(beam(&[IMSI], "application/json", b"{")).decoded.is_none());
        assert!(uplink(beam(&[IMSI], "", b"")).payload.is_empty());
    }

    #[test]
    fn beam_wraps_what_came_over_tcp_and_udp() {
        let up = uplink(beam(&[IMSI, AGENT], "application/json", br#"{"payload":"dGVzdCBtZXNzYWdlCg=="}"#));
        assert_eq!((&up.payload[..], up.decoded.is_none()), (&b"test message\n"[..], true));
        for empty in [&b"{}"[..], b"{\"payload\":null}", b"{\"payload\":\"\"}"] {
            assert!(uplink(beam(&[IMSI, AGENT], "application/json", empty)).payload.is_empty());
        }
        for bad in [&b"x"[..], b"{\"payload\":\"a b\"}", b"[]"] {
            assert!(beam(&[IMSI, AGENT], "application/json", bad).is_err());
        }
    }

    #[test]
    fn a_header_that_is_there_twice_names_no_device() {
        for name in [IMSI.0, IMEI.0] {
            let twice = beam(&[IMSI, IMEI, (name, "440103114938318")], "", b"x").err().unwrap();
            assert!(twice.detail.contains("twice"), "{twice:?}");
        }
        assert!(beam(&[("x-soracom-imsi", "")], "", b"x").is_err());
        assert_eq!(uplink(beam(&[("x-soracom-imsi", ""), IMEI], "", b"x")).device, IMEI.1);
    }

    /// The example of the page.
    fn funnelled() -> Json {
        json!({"credentialsId": "AWS-IAM-role-credentials", "operatorId": "OP0012345678",
            "destination": {"provider": "aws", "service": "aws-iot", "payloadsOnly": false, "sendPayloadsAsBinary": false},
            "sourceProtocol": "http", "payloads": {"deviceid": "iot123", "temp": 54.98, "humidity": 32.43},
            "timestamp": 1_653_891_795_421_u64, "imsi": "295050012345678", "imei": "867600012345678"})
    }

    #[test]
    fn funnel_in_its_documented_form() {
        let up = uplink(open(read, &funnelled()));
        assert_eq!((&*up.device, up.origin.tenant.as_deref()), ("295050012345678", Some("OP0012345678")));
        assert_eq!(up.decoded.unwrap().get(), r#"{"deviceid":"iot123","temp":54.98,"humidity":32.43}"#);
        assert_eq!(up.origin.sent_at.as_deref(), Some("2022-05-30T06:23:15.421Z"));
        assert!(up.id.unwrap().starts_with("1653891795421@"));
    }

    #[test]
    fn what_is_missing_or_odd_has_a_reason_or_no_effect() {
        let with = |key: &str, value: Json| {
            let mut body = funnelled();
            body[key] = value;
            open(read, &body)
        };
        assert_eq!(uplink(with("imsi", Json::Null)).device, "867600012345678");
        assert_eq!(uplink(with("imsi", json!(295_050_012_345_678_u64))).device, "295050012345678");
        let untimed = uplink(with("timestamp", Json::Null));
        assert_eq!((untimed.id, untimed.origin.sent_at), (None, None));
        assert!(uplink(with("payloads", Json::Null)).decoded.is_none());
        assert_eq!(uplink(with("payloads", json!(0))).decoded.unwrap().get(), "0");
        assert!(with("payloads", json!("AQI=")).err().unwrap().detail.contains("data format"));
        let neither = open(read, &json!({"payloads": {}})).err().unwrap();
        assert!(neither.detail.contains("x-soracom-imsi"), "{neither:?}");
    }
}
