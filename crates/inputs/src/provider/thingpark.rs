//! Actility ThingPark (docs.thingpark.com, "ThingPark X: Uplink Message"; its tunnel interface sends the same): numbers may be texts.

use super::{
    envelope::{Content, Envelope, foreign},
    fields::Fields,
    origin::{Heard, Position},
    pointers::{Encoding, NOWHERE, Pointers, at},
};
use dunnage_ingest::Rejected;
use std::borrow::Cow;

/// The messages other than uplinks.
const EVENTS: [&str; 5] = [
    "DevEUI_downlink_Sent",
    "DevEUI_downlink_Rejected",
    "DevEUI_location",
    "DevEUI_notification",
    "DevEUI_multicast_summary",
];

/// Where an uplink has its parts.
const THINGPARK: Pointers = Pointers {
    device: Cow::Borrowed("/DevEUI_uplink/DevEUI"),
    payload: at("/DevEUI_uplink/payload_hex"),
    encoding: Encoding::Hex,
    decoded: at("/DevEUI_uplink/payload"),
    id: Cow::Borrowed(&[Cow::Borrowed("/DevEUI_uplink/FCntUp"), Cow::Borrowed("/DevEUI_uplink/Time")]),
    port: at("/DevEUI_uplink/FPort"),
    time: at("/DevEUI_uplink/Time"),
    counter: at("/DevEUI_uplink/FCntUp"),
    name: at("/DevEUI_uplink/CustomerData/name"),
    tenant: at("/DevEUI_uplink/CustomerID"),
    profile: at("/DevEUI_uplink/CustomerData/alr/pro"),
    ..NOWHERE
};

/// Opens a message.
pub fn read(envelope: &Envelope<'_>) -> Result<Content, Rejected> {
    let fields = Fields::read(envelope.bytes)?;
    if !fields.has("/DevEUI_uplink") {
        let event = EVENTS.into_iter().find(|event| fields.has(&format!("/{event}")));
        return event.map(Content::Event).ok_or_else(|| foreign("the envelope has no DevEUI_uplink"));
    }
    let mut uplink = THINGPARK.uplink(&fields)?;
    uplink.device.make_ascii_lowercase();
    let number = |name: &str| fields.number(&format!("/DevEUI_uplink/{name}"));
    uplink.origin.gateway = fields.text("/DevEUI_uplink/Lrrid").map(|id| Heard {
        id,
        rssi: number("LrrRSSI"),
        snr: number("LrrSNR"),
        position: Position::new(number("LrrLAT"), number("LrrLON")),
    });
    uplink.origin.frequency_hz = number("Frequency").map(|mhz| (mhz * 1e6).round() as u64);
    Ok(Content::uplink(uplink))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::provider::testing::{open, uplink};
    use serde_json::json;

    /// The examples of docs.thingpark.com: with numbers as texts, and with a decoded payload.
    #[test]
    fn thingpark_in_its_documented_forms() {
        let texts = json!({"DevEUI_uplink": {
            "Time": "2018-10-03T15:38:46.882+02:00", "DevEUI": "0018B20000000B20", "FPort": "1", "FCntUp": "1174", "ADRbit": "1", "MType": "4",
            "FCntDn": "1229", "payload_hex": "9e1c4852512000220020e3831071", "mic_hex": "cfffc70f", "Lrcid": "00000206",
            "LrrRSSI": "-80.000000", "LrrSNR": "7.000000", "SpFact": "7", "SubBand": "G2", "Channel": "LC6", "DevLrrCnt": "1",
            "Lrrid": "004A18E3", "Late": "0", "LrrLAT": "45.851032", "LrrLON": "1.266230",
            "CustomerID": "1100000077", "CustomerData": {"alr": {"pro": "ADRF/DEMO", "ver": "2"}, "tags": ["site=Paris"], "name": "My Demo Device"},
            "InstantPER": 0.0, "MeanPER": 0.0, "DevAddr": "04D2848E", "AckRequested": 1, "Frequency": 868.1}});
        let up = uplink(open(read, &texts));
        assert_eq!(
            (&*up.device, up.payload.len(), up.origin.port, up.origin.counter),
            ("0018b20000000b20", 14, Some(1), Some(1174))
        );
        assert_eq!(
            (up.origin.sent_at.as_deref(), up.origin.frequency_hz),
            (Some("2018-10-03T13:38:46.882Z"), Some(868_100_000))
        );
        assert_eq!(
            (up.origin.tenant.as_deref(), up.origin.profile.as_deref()),
            (Some("1100000077"), Some("ADRF/DEMO"))
        );
        assert_eq!(up.origin.gateway.unwrap().rssi, Some(-80.0));
        let decoded = json!({"DevEUI_uplink": {"Time": "2024-12-17T09:16:55.911+00:00", "DevEUI": "0018B20000000BEE", "FPort": 1, "FCntUp": 368,
            "payload_hex": "9e184856043000211770baae0bc9", "payload": {"temperature": 24}, "points": {}}});
        assert_eq!(uplink(open(read, &decoded)).decoded.unwrap().get(), r#"{"temperature":24}"#);
        let sent = json!({"DevEUI_downlink_Sent": {"DevEUI": "0018B20000000BEE"}});
        assert!(matches!(open(read, &sent), Ok(Content::Event("DevEUI_downlink_Sent"))));
        assert!(open(read, &json!({})).is_err());
    }
}
