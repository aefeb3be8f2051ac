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

// Zero and empty fields may be absent, as in Protobuf's JSON.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Up {
    deduplication_id: String,
    device_info: DeviceInfo,
    time: Option<String>,
    f_cnt: Option<u32>,
    f_port: Option<u32>,
    data: Option<String>,
    #[serde(default)]
    rx_info: Vec<RxInfo>,
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
    #[serde(default)]
    gateway_id: String,
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
        counter: up.f_cnt,
        gateway: Heard::best(up.rx_info.into_iter().map(heard)),
        ..Origin::default()
    };
    let payload = base64(up.data.as_deref().unwrap_or_default())?;
    Callback::uplink(up.device_info.dev_eui.to_ascii_lowercase(), up.deduplication_id, payload, origin)
}

fn heard(info: RxInfo) -> Heard {
    let position = info.location.and_then(|place| {
        Position::new(place.latitude, place.longitude).map(|position| position.at(place.altitude))
    });
    Heard { id: info.gateway_id, rssi: info.rssi, snr: info.snr, position }
}
