//! The JSON marshalers: version 4, version 3, and the older one of version 3 (`json_v3`), which writes IDs in hexadecimal digits.

use super::{Up, id_of_version_3};
use crate::provider::{
    envelope::{Envelope, base64, foreign},
    fields::{Fields, number, text},
    ids,
    origin::{Heard, Lora, Origin, Position, time},
};
use dunnage_base::hex::hex;
use dunnage_formats::Value;
use dunnage_ingest::Rejected;
use dunnage_schema::pointer;
use serde_json::value::RawValue;

/// The digits of an EUI.
const DIGITS: usize = 16;

pub fn read(envelope: &Envelope<'_>) -> Result<Up, Rejected> {
    let fields = Fields::read(envelope.bytes)?;
    match fields.has("/deviceInfo") || !fields.has("/devEUI") {
        true => version_4(&fields),
        false => version_3(&fields),
    }
}

fn version_4(fields: &Fields<'_>) -> Result<Up, Rejected> {
    let dev_eui = fields.needed("/deviceInfo/devEui")?;
    let origin = Origin {
        sent_at: time(fields.text("/time").as_deref()),
        device_name: fields.text("/deviceInfo/deviceName"),
        tenant: fields.text("/deviceInfo/tenantName"),
        application: fields.text("/deviceInfo/applicationName"),
        profile: fields.text("/deviceInfo/deviceProfileName"),
        port: fields.port("/fPort")?,
        counter: Some(fields.count("/fCnt").unwrap_or_default()),
        gateway: Heard::best(fields.items("/rxInfo").iter().map(|info| heard(info, ["/gatewayId", "/snr"]))),
        frequency_hz: fields.count("/txInfo/frequency").map(Into::into),
        lora: Lora::new(
            fields.number("/txInfo/modulation/lora/spreadingFactor"),
            fields.number("/txInfo/modulation/lora/bandwidth"),
        ),
        ..Origin::default()
    };
    Ok(Up {
        dev_eui,
        id: Some(ids::encoded(&fields.needed("/deduplicationId")?)),
        payload: base64(&fields.text("/data").unwrap_or_default())?,
        object: fields.raw("/object"),
        origin,
    })
}

fn version_3(fields: &Fields<'_>) -> Result<Up, Rejected> {
    let published = fields.text("/publishedAt").or_else(|| fields.text("/rxInfo/0/time"));
    let counter = fields.count("/fCnt").unwrap_or_default();
    let mut gateway =
        Heard::best(fields.items("/rxInfo").iter().map(|info| heard(info, ["/gatewayID", "/loRaSNR"])));
    if let Some(gateway) = &mut gateway {
        gateway.id = eui(&gateway.id).unwrap_or_default();
    }
    let origin = Origin {
        sent_at: time(published.as_deref()),
        device_name: fields.text("/deviceName"),
        application: fields.text("/applicationName"),
        profile: fields.text("/deviceProfileName"),
        port: fields.port("/fPort")?,
        counter: Some(counter),
        gateway,
        frequency_hz: fields.count("/txInfo/frequency").map(Into::into),
        lora: Lora::new(
            fields.number("/txInfo/loRaModulationInfo/spreadingFactor"),
            // In kHz.
            fields.number("/txInfo/loRaModulationInfo/bandwidth").map(|khz| khz * 1000.0),
        ),
        ..Origin::default()
    };
    let dev_eui = fields.needed("/devEUI")?;
    let dev_eui =
        eui(&dev_eui).ok_or_else(|| foreign("devEUI must be 16 hexadecimal digits, or 8 bytes in base64"))?;
    Ok(Up {
        dev_eui,
        id: id_of_version_3(fields.text("/rxInfo/0/uplinkID"), counter, published.as_deref()),
        payload: base64(&fields.text("/data").unwrap_or_default())?,
        object: fields.raw("/object").or_else(|| object(&fields.text("/objectJSON")?)),
        origin,
    })
}

/// Returns an EUI in hexadecimal digits. The marshalers write it so, or its 8 bytes in base64.
fn eui(text: &str) -> Option<String> {
    if text.len() == DIGITS && text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return Some(text.to_owned());
    }
    base64(text).ok().filter(|bytes| bytes.len() == DIGITS / 2).map(|bytes| hex(&bytes))
}

/// Returns the object that is the text `json`.
pub fn object(json: &str) -> Option<Box<RawValue>> {
    serde_json::from_str::<Box<RawValue>>(json).ok().filter(|object| object.get() != "null")
}

/// Reads an element of `rxInfo`. A signal strength that is left out is 0, as in Protobuf.
fn heard(info: &Value, [id, snr]: [&str; 2]) -> Heard {
    let position =
        pointer::find(info, "/location").filter(|place| **place != Value::Null).and_then(|place| {
            let degrees = |name| number(place, name).or(Some(0.0));
            Some(Position::new(degrees("/latitude"), degrees("/longitude"))?.at(number(place, "/altitude")))
        });
    let level = |name| Some(number(info, name).unwrap_or_default());
    Heard { id: text(info, id).unwrap_or_default(), rssi: level("/rssi"), snr: level(snr), position }
}
