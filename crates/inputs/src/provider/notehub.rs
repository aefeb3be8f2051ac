//! Blues Notehub's routes (dev.blues.io, "Notehub API", "Event"): the body of a note is what the device measured; its payload are bytes in
//! base64. Both may be there.

use super::{
    envelope::{Content, Envelope},
    pointers::{NOWHERE, Pointers, at},
};
use dunnage_ingest::Rejected;
use std::borrow::Cow;

/// Where an event has its parts.
const NOTEHUB: Pointers = Pointers {
    device: Cow::Borrowed("/device"),
    payload: at("/payload"),
    decoded: at("/body"),
    id: Cow::Borrowed(&[Cow::Borrowed("/event")]),
    time: at("/when"),
    name: at("/sn"),
    application: at("/product"),
    profile: at("/fleets/0"),
    latitude: at("/best_lat"),
    longitude: at("/best_lon"),
    ..NOWHERE
};

/// Opens an event.
pub fn read(envelope: &Envelope<'_>) -> Result<Content, Rejected> {
    NOTEHUB.read(envelope)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::provider::testing::{open, uplink};
    use serde_json::json;

    #[test]
    fn notehub_with_a_body_a_payload_or_both() {
        let body = json!({"event": "c2a1", "device": "dev:864475044207255", "sn": "tank 7", "when": 1_651_262_690, "file": "sensors.qo",
            "product": "product:com.example.tanks", "fleets": ["fleet:1", "fleet:2"],
            "body": {"temp": 34.2}, "best_lat": 42.57, "best_lon": -70.87});
        let up = uplink(open(read, &body));
        assert_eq!(
            (&*up.device, up.decoded.unwrap().get(), up.payload.len()),
            ("dev:864475044207255", r#"{"temp":34.2}"#, 0)
        );
        assert_eq!((up.id.as_deref(), up.origin.device_name.as_deref()), (Some("c2a1"), Some("tank 7")));
        assert_eq!(up.origin.application.as_deref(), Some("product:com.example.tanks"));
        assert_eq!(up.origin.profile.as_deref(), Some("fleet:1"));
        let bytes = json!({"event": "c2a2", "device": "dev:1", "payload": "AQI=", "body": null});
        let up = uplink(open(read, &bytes));
        assert_eq!((up.decoded.is_none(), up.payload), (true, vec![1, 2]));
    }
}
