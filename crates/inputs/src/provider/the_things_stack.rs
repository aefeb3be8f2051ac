//! Messages of The Things Stack 3 (thethingsindustries.com/docs, "Data Formats"), over its webhooks, its MQTT server and its Pub/Sub: JSON.
//! `X-Downlink-Apikey` of webhooks is ignored, because it is a secret of the application and does not authenticate the sender.

use super::{
    envelope::{Content, Envelope, Uplink, base64, foreign},
    fields::{Fields, number, text},
    ids::encoded,
    origin::{Heard, Lora, Origin, Position, time},
};
use dunnage_formats::Value;
use dunnage_ingest::Rejected;
use dunnage_schema::pointer;

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

/// Opens a message. Zero, false and empty fields are absent.
pub fn read(envelope: &Envelope<'_>) -> Result<Content, Rejected> {
    let fields = Fields::read(envelope.bytes)?;
    if !fields.has("/uplink_message") {
        // What applications queue (`down/push`, `down/replace`) is a list of downlinks.
        let queued = fields.has("/downlinks").then_some("downlinks");
        let event = queued.or_else(|| EVENTS.into_iter().find(|event| fields.has(&format!("/{event}"))));
        return event.map(Content::Event).ok_or_else(|| foreign("the envelope has no uplink_message"));
    }
    let device_id = fields.needed("/end_device_ids/device_id")?;
    let counter = fields.count("/uplink_message/f_cnt").unwrap_or_default();
    let lora = "/uplink_message/settings/data_rate/lora";
    let origin = Origin {
        sent_at: time(fields.text("/uplink_message/received_at").as_deref()),
        position: located(&fields),
        port: fields.port("/uplink_message/f_port")?,
        counter: Some(counter),
        gateway: Heard::best(fields.items("/uplink_message/rx_metadata").iter().map(heard)),
        device_name: Some(device_id.clone()),
        tenant: fields.text("/uplink_message/network_ids/tenant_id"),
        application: fields.text("/end_device_ids/application_ids/application_id"),
        profile: fields.text("/uplink_message/version_ids/model_id"),
        frequency_hz: fields.count("/uplink_message/settings/frequency").map(Into::into),
        lora: Lora::new(
            fields.number(&format!("{lora}/spreading_factor")),
            fields.number(&format!("{lora}/bandwidth")),
        ),
    };
    let device = fields.text("/end_device_ids/dev_eui").map_or(device_id, |eui| eui.to_ascii_lowercase());
    Ok(Content::uplink(Uplink {
        device,
        id: Some(encoded(&name(&fields, counter)?)),
        payload: base64(&fields.text("/uplink_message/frm_payload").unwrap_or_default())?,
        decoded: fields.raw("/uplink_message/decoded_payload"),
        normalized: fields.raw("/uplink_message/normalized_payload"),
        origin,
        signed: None,
    }))
}

/// Returns the ID of the message: from the Application Server or the Gateway Server, or else its place in the session.
fn name(fields: &Fields<'_>, counter: u32) -> Result<String, Rejected> {
    let all: Vec<String> = fields.items("/correlation_ids").iter().filter_map(|id| text(id, "")).collect();
    let given = |by: &str| all.iter().find(|id| id.starts_with(by)).cloned();
    let place = || Some(format!("{}:{counter}", fields.text("/uplink_message/session_key_id")?));
    let id = given("as:up:").or_else(|| given("gs:uplink:")).or_else(place);
    id.ok_or_else(|| foreign("the envelope has neither a correlation ID nor a session_key_id"))
}

/// Returns where the device is: the first of its locations, by their names.
fn located(fields: &Fields<'_>) -> Option<Position> {
    let Some(Value::Map(all)) = pointer::find(fields.value(), "/uplink_message/locations") else {
        return None;
    };
    place(&all.iter().min_by(|a, b| a.0.cmp(&b.0))?.1)
}

fn place(location: &Value) -> Option<Position> {
    let Value::Map(_) = location else { return None };
    let degrees = |name| number(location, name).or(Some(0.0));
    let position = Position::new(degrees("/latitude"), degrees("/longitude"))?;
    Some(position.at(number(location, "/altitude")).within(number(location, "/accuracy")))
}

fn heard(metadata: &Value) -> Heard {
    let level = |name| Some(number(metadata, name).unwrap_or_default());
    Heard {
        id: text(metadata, "/gateway_ids/gateway_id").unwrap_or_default(),
        rssi: level("/rssi"),
        snr: level("/snr"),
        position: pointer::find(metadata, "/location").and_then(place),
    }
}
