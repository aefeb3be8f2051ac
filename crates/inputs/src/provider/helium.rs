//! Helium's Console (docs.helium.com, "Console: JSON Schema"), and servers that keep its form.

use super::{
    envelope::{Content, Envelope},
    fields::{Fields, number, text},
    origin::Heard,
    pointers::{NOWHERE, Pointers, at},
};
use dunnage_ingest::Rejected;
use std::borrow::Cow;

/// Where an uplink has its parts.
const HELIUM: Pointers = Pointers {
    device: Cow::Borrowed("/dev_eui"),
    payload: at("/payload"),
    decoded: at("/decoded/payload"),
    id: Cow::Borrowed(&[Cow::Borrowed("/fcnt"), Cow::Borrowed("/reported_at")]),
    port: at("/port"),
    time: at("/reported_at"),
    counter: at("/fcnt"),
    name: at("/name"),
    tenant: at("/metadata/labels/0/organization_id"),
    application: at("/app_eui"),
    ..NOWHERE
};

/// Opens an uplink.
pub fn read(envelope: &Envelope<'_>) -> Result<Content, Rejected> {
    let fields = Fields::read(envelope.bytes)?;
    let mut uplink = HELIUM.uplink(&fields)?;
    uplink.device.make_ascii_lowercase();
    uplink.origin.gateway = Heard::best(fields.items("/hotspots").iter().map(|hotspot| Heard {
        id: text(hotspot, "/id").unwrap_or_default(),
        rssi: number(hotspot, "/rssi"),
        snr: number(hotspot, "/snr"),
        position: None,
    }));
    Ok(Content::uplink(uplink))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::provider::testing::{open, uplink};
    use serde_json::json;

    /// The example of docs.helium.com, with what a function decoded.
    #[test]
    fn helium_in_its_documented_form() {
        let body = json!({
            "app_eui": "6948A4B59F4666AD", "dev_eui": "1C29FBD1D2084E21", "devaddr": "B5A44869", "fcnt": 19,
            "hotspots": [
                {"frequency": 912.299_987_792_968_8, "id": "11KHJW1", "name": "icy-fiery-hippo", "reported_at": 15_868_685_461_234_u64,
                 "rssi": -54, "snr": 9.8, "spreading": "SF9BW125", "status": "success"},
                {"id": "11ni2CA", "rssi": -51, "snr": 9}
            ],
            "id": "7c523974-4ce7-4a92-948b-55171a6e4d77", "metadata": {"labels": [{"name": "DontLabelMe", "organization_id": "d724b93a"}]}, "name": "Test Me", "payload": "SGVsbG8sIHdvcmxkIQ==", "port": 1,
            "reported_at": 1_586_868_546_123_u64, "decoded": {"payload": {"t": 21.5}, "status": "success"}
        });
        let up = uplink(open(read, &body));
        assert_eq!(
            (&*up.device, &up.payload[..], up.id.as_deref()),
            ("1c29fbd1d2084e21", &b"Hello, world!"[..], Some("19@1586868546123"))
        );
        assert_eq!(up.decoded.unwrap().get(), r#"{"t":21.5}"#);
        let origin = up.origin;
        assert_eq!(
            (origin.port, origin.counter, origin.sent_at.as_deref()),
            (Some(1), Some(19), Some("2020-04-14T12:49:06.123Z"))
        );
        assert_eq!(
            (origin.tenant.as_deref(), origin.application.as_deref()),
            (Some("d724b93a"), Some("6948A4B59F4666AD"))
        );
        assert_eq!(origin.gateway.unwrap().id, "11KHJW1");
    }
}
