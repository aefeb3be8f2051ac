//! LORIOT's application outputs (docs.loriot.io, "Uplink Data Message", "Gateway Information", "HTTP PUSH"): JSON. A frame is the message
//! `rx`, or `gw` with the gateways that received it. An output that sends both has the same counter and time in both. LORIOT does not repeat
//! what it could not deliver.

use super::{
    envelope::{Content, Envelope, foreign},
    fields::{Fields, number, text},
    origin::{Heard, Lora, Position},
    pointers::{Encoding, NOWHERE, Pointers, at},
};
use dunnage_formats::Value;
use dunnage_ingest::Rejected;
use std::borrow::Cow;

/// Where a message has its parts.
const LORIOT: Pointers = Pointers {
    device: Cow::Borrowed("/EUI"),
    payload: at("/data"),
    encoding: Encoding::Hex,
    id: Cow::Borrowed(&[Cow::Borrowed("/fcnt"), Cow::Borrowed("/ts")]),
    port: at("/port"),
    time: at("/ts"),
    counter: at("/fcnt"),
    ..NOWHERE
};

/// The answer to a downlink, and the notification that one was sent.
const EVENTS: [&str; 2] = ["tx", "txd"];

/// Opens a message.
pub fn read(envelope: &Envelope<'_>) -> Result<Content, Rejected> {
    let fields = Fields::read(envelope.bytes)?;
    let command = fields.needed("/cmd")?;
    if let Some(event) = EVENTS.into_iter().find(|event| *event == command) {
        return Ok(Content::Event(event));
    }
    if !["rx", "gw"].contains(&&*command) {
        return Err(foreign("cmd must be rx or gw"));
    }
    let mut uplink = LORIOT.uplink(&fields)?;
    if uplink.payload.is_empty() && fields.text("/encdata").is_some() {
        return Err(foreign("the data are encrypted (encdata): give the device its AppSKey at LORIOT"));
    }
    uplink.device.make_ascii_lowercase();
    uplink.origin.frequency_hz = fields.count("/freq").map(Into::into);
    uplink.origin.lora = fields.text("/dr").and_then(|text| modulation(&text));
    uplink.origin.gateway = Heard::best(fields.items("/gws").iter().map(heard));
    Ok(Content::uplink(uplink))
}

/// Reads a data rate: `SF12 BW125 4/5`, with the bandwidth in kHz.
fn modulation(text: &str) -> Option<Lora> {
    let mut words = text.split_whitespace();
    let factor = words.next()?.strip_prefix("SF")?.parse().ok();
    let kilohertz = words.next()?.strip_prefix("BW")?.parse::<f64>().ok();
    Lora::new(factor, kilohertz.map(|kilohertz| kilohertz * 1000.0))
}

fn heard(gateway: &Value) -> Heard {
    Heard {
        id: text(gateway, "/gweui").unwrap_or_default(),
        rssi: number(gateway, "/rssi"),
        snr: number(gateway, "/snr"),
        position: Position::new(number(gateway, "/lat"), number(gateway, "/lon")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::provider::testing::{open, uplink};
    use serde_json::json;

    /// The example of docs.loriot.io, "Uplink Data Message".
    #[test]
    fn loriot_in_its_documented_form() {
        let body = json!({"cmd": "rx", "EUI": "0102030405060708", "ts": 1_470_850_675_433_u64, "ack": false, "bat": 254, "fcnt": 1,
            "port": 1, "data": "0102AABB"});
        let up = uplink(open(read, &body));
        assert_eq!(
            (&*up.device, &up.payload[..], up.id.as_deref()),
            ("0102030405060708", &[1, 2, 0xaa, 0xbb][..], Some("1@1470850675433"))
        );
        assert_eq!(
            (up.origin.port, up.origin.counter, up.origin.sent_at.as_deref()),
            (Some(1), Some(1), Some("2016-08-10T17:37:55.433Z"))
        );
        assert_eq!((up.origin.gateway, up.origin.lora, up.origin.frequency_hz), (None, None, None));
    }

    /// "Gateway Information", with the positions of gateways.
    #[test]
    fn the_message_with_gateways_is_the_same_with_its_best_gateway() {
        let body = json!({"cmd": "gw", "seqno": 86_102_809, "EUI": "4786C58B0056003B", "ts": 1_470_850_675_433_u64, "fcnt": 1, "port": 1,
            "freq": 868_500_000, "toa": 61, "dr": "SF12 BW125 4/5", "ack": false, "bat": 254, "data": "0102aabb",
            "gws": [{"rssi": -130, "snr": 1.2, "ts": 1_470_850_675_433_u64, "gweui": "B827EBFFFF5B4D98", "lat": 49.39, "lon": 15.57},
                {"rssi": -122, "snr": -9, "gweui": "F03D29FFFF00000D"}]});
        let up = uplink(open(read, &body));
        assert_eq!((&*up.device, up.id.as_deref()), ("4786c58b0056003b", Some("1@1470850675433")));
        let gateway = up.origin.gateway.unwrap();
        assert_eq!((&*gateway.id, gateway.rssi), ("B827EBFFFF5B4D98", Some(-130.0)));
        assert!(gateway.position.is_some());
        let lora = Lora { spreading_factor: 12, bandwidth_hz: 125_000 };
        assert_eq!((up.origin.lora, up.origin.frequency_hz), (Some(lora), Some(868_500_000)));
    }

    #[test]
    fn what_is_missing_or_odd_has_a_reason_or_no_effect() {
        let with = |key: &str, value: serde_json::Value| {
            let mut body = json!({"cmd": "rx", "EUI": "0102030405060708", "ts": 1_470_850_675_433_u64, "fcnt": 0, "port": 0, "data": "01"});
            body[key] = value;
            open(read, &body)
        };
        let zero = uplink(with("bat", json!(null)));
        assert_eq!((zero.origin.port, zero.origin.counter), (Some(0), Some(0)));
        for dr in [json!(null), json!("FSK 50"), json!("SF12"), json!("SF99 BW125"), json!(7)] {
            assert_eq!(uplink(with("dr", dr)).origin.lora, None);
        }
        assert_eq!(uplink(with("gws", json!(null))).origin.gateway, None);
        assert_eq!(uplink(with("ts", json!(null))).id, None);
        assert!(uplink(with("data", json!(null))).payload.is_empty());
        for event in ["tx", "txd"] {
            assert!(matches!(with("cmd", json!(event)), Ok(Content::Event(_))));
        }
        for (key, value) in [
            ("cmd", json!(null)),
            ("cmd", json!("cq")),
            ("EUI", json!(null)),
            ("data", json!("0")),
            ("port", json!(256)),
        ] {
            assert!(with(key, value.clone()).is_err(), "{key} {value}");
        }
        let encrypted = json!({"cmd": "rx", "EUI": "0102030405060708", "ts": 1, "fcnt": 1, "port": 1, "encdata": "0102AABB"});
        let rejected = open(read, &encrypted).err().unwrap();
        assert!(rejected.detail.contains("AppSKey"), "{}", rejected.detail);
    }
}
