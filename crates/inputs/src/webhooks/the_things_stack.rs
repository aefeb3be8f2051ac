//! Webhooks of The Things Stack 3 (thethingsindustries.com/docs, "Webhooks", "Data formats"): JSON, configurable headers.
//! `X-Downlink-Apikey` is ignored, because it is a secret of the application and does not authenticate the sender.

use super::{
    callback::{Body, Callback, base64, foreign},
    origin::{Heard, Origin, Position, time},
};
use dunnage_ingest::Rejected;
use serde::{Deserialize, de::IgnoredAny};
use std::collections::BTreeMap;

/// Notifications without a message of a device.
const EVENTS: [&str; 10] = [
    "join_accept",
    "downlink_ack",
    "downlink_nack",
    "downlink_sent",
    "downlink_failed",
    "downlink_queued",
    "downlink_queue_invalidated",
    "location_solved",
    "service_data",
    // Repeats an uplink message.
    "uplink_normalized",
];

// Zero, false and empty fields are absent.
#[derive(Deserialize)]
struct Up {
    end_device_ids: EndDeviceIds,
    #[serde(default)]
    correlation_ids: Vec<String>,
    uplink_message: Option<UplinkMessage>,
    #[serde(flatten)]
    other: BTreeMap<String, IgnoredAny>,
}

#[derive(Deserialize)]
struct EndDeviceIds {
    device_id: String,
    dev_eui: Option<String>,
}

#[derive(Deserialize)]
struct UplinkMessage {
    session_key_id: Option<String>,
    received_at: Option<String>,
    f_port: Option<u32>,
    #[serde(default)]
    f_cnt: u32,
    #[serde(default)]
    frm_payload: String,
    #[serde(default)]
    rx_metadata: Vec<RxMetadata>,
    #[serde(default)]
    locations: BTreeMap<String, Location>,
}

#[derive(Deserialize)]
struct RxMetadata {
    gateway_ids: GatewayIds,
    #[serde(default)]
    rssi: f64,
    #[serde(default)]
    snr: f64,
    location: Option<Location>,
}

#[derive(Deserialize)]
struct GatewayIds {
    gateway_id: String,
}

#[derive(Deserialize)]
struct Location {
    #[serde(default)]
    latitude: f64,
    #[serde(default)]
    longitude: f64,
    altitude: Option<f64>,
    accuracy: Option<f64>,
}

/// Parses a message.
pub fn read(body: &Body<'_>) -> Result<Callback, Rejected> {
    let up: Up = body.json()?;
    let Some(message) = up.uplink_message else {
        let event = EVENTS.into_iter().find(|event| up.other.contains_key(*event));
        return event.map(Callback::Event).ok_or_else(|| foreign("the request has no uplink_message"));
    };
    let id = name(&up.correlation_ids, &message)?;
    let EndDeviceIds { device_id, dev_eui } = up.end_device_ids;
    let origin = Origin {
        sent_at: time(message.received_at.as_deref()),
        position: message.locations.into_values().next().as_ref().and_then(place),
        port: message.f_port.and_then(|port| port.try_into().ok()),
        counter: Some(message.f_cnt),
        gateway: Heard::best(message.rx_metadata.into_iter().map(heard)),
        device_name: Some(device_id.clone()),
    };
    let device = dev_eui.map_or(device_id, |eui| eui.to_ascii_lowercase());
    Callback::uplink(device, id, base64(&message.frm_payload)?, origin)
}

/// Returns the ID of the message: from the Application Server or the Gateway Server, or else its place in the session.
fn name(correlation_ids: &[String], message: &UplinkMessage) -> Result<String, Rejected> {
    let given = |by: &str| correlation_ids.iter().find(|id| id.starts_with(by)).cloned();
    let place = || Some(format!("{}:{}", message.session_key_id.as_deref()?, message.f_cnt));
    let id = given("as:up:").or_else(|| given("gs:uplink:")).or_else(place);
    id.ok_or_else(|| foreign("the request has neither a correlation ID nor a session_key_id"))
}

fn place(location: &Location) -> Option<Position> {
    let position = Position::new(Some(location.latitude), Some(location.longitude))?;
    Some(position.at(location.altitude).within(location.accuracy))
}

fn heard(metadata: RxMetadata) -> Heard {
    Heard {
        id: metadata.gateway_ids.gateway_id,
        rssi: Some(metadata.rssi),
        snr: Some(metadata.snr),
        position: metadata.location.as_ref().and_then(place),
    }
}
