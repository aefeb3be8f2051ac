//! Sigfox callbacks (support.sigfox.com/docs, "Callbacks: Data", "Data advanced"): JSON with the names of the variables as keys.
//! The operator of the account writes the body, so the names are a convention: `{"device":"{device}","time":{time},"data":"{data}",
//! "seqNumber":{seqNumber}}`, and `"deviceTypeId":"{deviceTypeId}"` to choose a profile by. "Data advanced" repeats a message 30 s later with its computed location, and is then a duplicate.

use super::{
    envelope::{Content, Envelope},
    pointers::{Encoding, NOWHERE, Pointers, at},
};
use dunnage_ingest::Rejected;
use std::borrow::Cow;

/// Where a callback has its parts.
const SIGFOX: Pointers = Pointers {
    device: Cow::Borrowed("/device"),
    payload: at("/data"),
    encoding: Encoding::Hex,
    id: Cow::Borrowed(&[Cow::Borrowed("/time"), Cow::Borrowed("/seqNumber")]),
    time: at("/time"),
    counter: at("/seqNumber"),
    profile: at("/deviceTypeId"),
    latitude: at("/computedLocation/lat"),
    longitude: at("/computedLocation/lng"),
    ..NOWHERE
};

/// Opens a callback.
pub fn read(envelope: &Envelope<'_>) -> Result<Content, Rejected> {
    SIGFOX.read(envelope)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::provider::testing::{open, uplink};
    use serde_json::json;

    #[test]
    fn sigfox_with_texts_or_numbers_and_with_a_location() {
        for body in [
            json!({"device": "1B2C3D", "data": "01ff", "time": "1447429617", "seqNumber": "12", "ack": "false", "deviceTypeId": "5e1f"}),
            json!({"device": "1B2C3D", "data": "01FF", "time": 1_447_429_617, "seqNumber": 12, "lqi": "GOOD", "linkQuality": 2,
                "computedLocation": {"lat": 43.45, "lng": 1.45, "radius": 500, "source": 2, "status": 1}}),
        ] {
            let up = uplink(open(read, &body));
            assert_eq!(
                (&*up.device, &up.payload[..], up.id.as_deref()),
                ("1B2C3D", &[1, 255][..], Some("1447429617@12"))
            );
            assert_eq!(
                (up.origin.sent_at.as_deref(), up.origin.counter),
                (Some("2015-11-13T15:46:57.000Z"), Some(12))
            );
            assert_eq!(up.origin.profile.is_some(), body.get("deviceTypeId").is_some());
            assert_eq!(up.origin.position.is_some(), body.get("computedLocation").is_some());
        }
    }
}
