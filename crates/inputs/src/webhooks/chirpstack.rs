//! The HTTP integration of ChirpStack 4 (chirpstack.io, "Integrations", "Event types"; integration.proto): `?event=`, JSON, configurable
//! headers. ChirpStack does not retry.

use super::{
    callback::{Body, Callback, base64, foreign},
    origin::{Heard, Origin, Position, time},
};
use dunnage_ingest::Rejected;
use serde::Deserialize;

/// The events that are not messages.
const EVENTS: [&str; 7] = ["join", "status", "ack", "txack", "log", "location", "integration"];

// Fields that are 0 or empty may be absent or null, as in Protobuf's JSON. An absent SNR is one of 0 dB, and the first frame has no `fCnt`.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Up {
    deduplication_id: String,
    device_info: DeviceInfo,
    time: Option<String>,
    f_cnt: Option<u32>,
    f_port: Option<u32>,
    data: Option<String>,
    rx_info: Option<Vec<RxInfo>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct DeviceInfo {
    dev_eui: String,
    device_name: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct RxInfo {
    gateway_id: Option<String>,
    rssi: Option<f64>,
    snr: Option<f64>,
    location: Option<Location>,
}

#[derive(Deserialize)]
struct Location {
    latitude: Option<f64>,
    longitude: Option<f64>,
    altitude: Option<f64>,
}

#[derive(Deserialize)]
struct Query {
    event: Option<String>,
}

/// Parses an event.
pub fn read(body: &Body<'_>) -> Result<Callback, Rejected> {
    let query: Query = serde_urlencoded::from_str(body.query).map_err(|e| foreign(e.to_string()))?;
    let event = query.event.ok_or_else(|| foreign("the URL must have the parameter event"))?;
    if let Some(event) = EVENTS.into_iter().find(|known| *known == event) {
        return Ok(Callback::Event(event));
    }
    if event != "up" {
        return Err(foreign("the event is not one of ChirpStack"));
    }
    let up: Up = body.json()?;
    let origin = Origin {
        sent_at: time(up.time.as_deref()),
        device_name: up.device_info.device_name,
        port: up.f_port.and_then(|port| port.try_into().ok()),
        counter: Some(up.f_cnt.unwrap_or_default()),
        gateway: Heard::best(up.rx_info.unwrap_or_default().into_iter().map(heard)),
        ..Origin::default()
    };
    let payload = base64(up.data.as_deref().unwrap_or_default())?;
    Callback::uplink(up.device_info.dev_eui.to_ascii_lowercase(), up.deduplication_id, payload, origin)
}

fn heard(info: RxInfo) -> Heard {
    let position = info.location.and_then(|place| {
        let position = Position::new(place.latitude.or(Some(0.0)), place.longitude.or(Some(0.0)))?;
        Some(position.at(place.altitude))
    });
    let zero = Some(0.0);
    Heard {
        id: info.gateway_id.unwrap_or_default(),
        rssi: info.rssi.or(zero),
        snr: info.snr.or(zero),
        position,
    }
}
