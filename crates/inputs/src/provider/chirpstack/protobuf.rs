//! The Protobuf marshaler: the fields of `integration.UplinkEvent` of version 4, and of `integration.UplinkEvent` of version 3
//! (`as_pb/integration`), that the gateway needs. The crate `chirpstack_api` would bring gRPC with it.

use super::{Up, id_of_version_3, json};
use crate::provider::{
    envelope::foreign,
    fields, ids,
    origin::{Heard, Lora, Origin, Position},
};
use dunnage_base::{clock, hex::hex};
use dunnage_formats::Value;
use dunnage_ingest::Rejected;
use prost::Message;
use prost_types::{Struct, Timestamp, value::Kind};

/// The first byte of version 3: its field 1 is the number of the application, which is never 0. That of version 4 is a text.
const APPLICATION_NUMBER: u8 = 0x08;

#[derive(Clone, PartialEq, Message)]
struct Up4 {
    #[prost(string, tag = "1")]
    deduplication_id: String,
    #[prost(message, optional, tag = "2")]
    time: Option<Timestamp>,
    #[prost(message, optional, tag = "3")]
    device_info: Option<DeviceInfo>,
    #[prost(uint32, tag = "7")]
    f_cnt: u32,
    #[prost(uint32, tag = "8")]
    f_port: u32,
    #[prost(bytes = "vec", tag = "10")]
    data: Vec<u8>,
    #[prost(message, optional, tag = "11")]
    object: Option<Struct>,
    #[prost(message, repeated, tag = "12")]
    rx_info: Vec<RxInfo4>,
    #[prost(message, optional, tag = "13")]
    tx_info: Option<TxInfo4>,
}

#[derive(Clone, PartialEq, Message)]
struct DeviceInfo {
    #[prost(string, tag = "2")]
    tenant_name: String,
    #[prost(string, tag = "4")]
    application_name: String,
    #[prost(string, tag = "6")]
    device_profile_name: String,
    #[prost(string, tag = "7")]
    device_name: String,
    #[prost(string, tag = "8")]
    dev_eui: String,
}

#[derive(Clone, PartialEq, Message)]
struct RxInfo4 {
    #[prost(string, tag = "1")]
    gateway_id: String,
    #[prost(int32, tag = "6")]
    rssi: i32,
    #[prost(float, tag = "7")]
    snr: f32,
    #[prost(message, optional, tag = "12")]
    location: Option<Location>,
}

#[derive(Clone, PartialEq, Message)]
struct TxInfo4 {
    #[prost(uint32, tag = "1")]
    frequency: u32,
    #[prost(message, optional, tag = "2")]
    modulation: Option<Modulation>,
}

#[derive(Clone, PartialEq, Message)]
struct Modulation {
    #[prost(message, optional, tag = "3")]
    lora: Option<LoraInfo>,
}

#[derive(Clone, PartialEq, Message)]
struct LoraInfo {
    #[prost(uint32, tag = "1")]
    bandwidth: u32,
    #[prost(uint32, tag = "2")]
    spreading_factor: u32,
}

#[derive(Clone, PartialEq, Message)]
struct Location {
    #[prost(double, tag = "1")]
    latitude: f64,
    #[prost(double, tag = "2")]
    longitude: f64,
    #[prost(double, tag = "3")]
    altitude: f64,
}

#[derive(Clone, PartialEq, Message)]
struct Up3 {
    #[prost(string, tag = "2")]
    application_name: String,
    #[prost(string, tag = "3")]
    device_name: String,
    #[prost(bytes = "vec", tag = "4")]
    dev_eui: Vec<u8>,
    #[prost(message, repeated, tag = "5")]
    rx_info: Vec<RxInfo3>,
    #[prost(message, optional, tag = "6")]
    tx_info: Option<TxInfo3>,
    #[prost(uint32, tag = "9")]
    f_cnt: u32,
    #[prost(uint32, tag = "10")]
    f_port: u32,
    #[prost(bytes = "vec", tag = "11")]
    data: Vec<u8>,
    #[prost(string, tag = "12")]
    object_json: String,
    #[prost(message, optional, tag = "16")]
    published_at: Option<Timestamp>,
    #[prost(string, tag = "18")]
    device_profile_name: String,
}

#[derive(Clone, PartialEq, Message)]
struct RxInfo3 {
    #[prost(bytes = "vec", tag = "1")]
    gateway_id: Vec<u8>,
    #[prost(message, optional, tag = "2")]
    time: Option<Timestamp>,
    #[prost(int32, tag = "5")]
    rssi: i32,
    #[prost(double, tag = "6")]
    lora_snr: f64,
    #[prost(message, optional, tag = "11")]
    location: Option<Location>,
    #[prost(bytes = "vec", tag = "16")]
    uplink_id: Vec<u8>,
}

#[derive(Clone, PartialEq, Message)]
struct TxInfo3 {
    #[prost(uint32, tag = "1")]
    frequency: u32,
    #[prost(message, optional, tag = "3")]
    lora: Option<LoraInfo>,
}

pub fn read(bytes: &[u8]) -> Result<Up, Rejected> {
    let invalid =
        |e: prost::DecodeError| foreign(format!("the event is neither JSON nor Protobuf of ChirpStack: {e}"));
    match bytes.first() {
        Some(&APPLICATION_NUMBER) => version_3(Up3::decode(bytes).map_err(invalid)?),
        _ => version_4(Up4::decode(bytes).map_err(invalid)?),
    }
}

fn version_4(up: Up4) -> Result<Up, Rejected> {
    let info = up.device_info.filter(|info| !info.dev_eui.is_empty());
    let info = info.ok_or_else(|| foreign("the event has no device_info.dev_eui"))?;
    if up.deduplication_id.is_empty() {
        return Err(foreign("the event has no deduplication_id"));
    }
    let heard = up.rx_info.into_iter().map(|info| Heard {
        id: info.gateway_id,
        rssi: Some(info.rssi.into()),
        snr: Some(info.snr.into()),
        position: info.location.as_ref().and_then(place),
    });
    let (frequency, modulation) =
        up.tx_info.map(|info| (info.frequency, info.modulation)).unwrap_or_default();
    let origin = Origin {
        sent_at: up.time.as_ref().and_then(rfc3339),
        device_name: text(info.device_name),
        tenant: text(info.tenant_name),
        application: text(info.application_name),
        profile: text(info.device_profile_name),
        port: port(up.f_port)?,
        counter: Some(up.f_cnt),
        gateway: Heard::best(heard),
        frequency_hz: Some(frequency.into()).filter(|frequency| *frequency > 0),
        lora: modulation.and_then(|modulation| lora(&modulation.lora?, 1)),
        ..Origin::default()
    };
    let object = up.object.as_ref().and_then(|object| fields::raw(&map(object)));
    Ok(Up {
        dev_eui: info.dev_eui,
        id: Some(ids::encoded(&up.deduplication_id)),
        payload: up.data,
        object,
        origin,
    })
}

fn version_3(up: Up3) -> Result<Up, Rejected> {
    if up.dev_eui.len() != 8 {
        return Err(foreign("the event has no dev_eui of 8 bytes"));
    }
    let first = up.rx_info.first();
    let uplink = first.map(|info| hex(&info.uplink_id)).filter(|id| !id.is_empty());
    let published = up.published_at.as_ref().or_else(|| first?.time.as_ref()).and_then(rfc3339);
    let id = id_of_version_3(uplink, up.f_cnt, published.as_deref());
    let heard = up.rx_info.into_iter().map(|info| Heard {
        id: hex(&info.gateway_id),
        rssi: Some(info.rssi.into()),
        snr: Some(info.lora_snr),
        position: info.location.as_ref().and_then(place),
    });
    let (frequency, modulation) = up.tx_info.map(|info| (info.frequency, info.lora)).unwrap_or_default();
    let origin = Origin {
        sent_at: published,
        device_name: text(up.device_name),
        application: text(up.application_name),
        profile: text(up.device_profile_name),
        port: port(up.f_port)?,
        counter: Some(up.f_cnt),
        gateway: Heard::best(heard),
        frequency_hz: Some(frequency.into()).filter(|frequency| *frequency > 0),
        lora: modulation.and_then(|info| lora(&info, 1000)),
        ..Origin::default()
    };
    let (dev_eui, object) = (hex(&up.dev_eui), json::object(&up.object_json));
    Ok(Up { dev_eui, id, payload: up.data, object, origin })
}

/// Returns a text. Protobuf cannot tell an empty one from none.
fn text(text: String) -> Option<String> {
    Some(text).filter(|text| !text.is_empty())
}

/// Returns the port. Protobuf cannot tell port 0, which carries no messages, from none.
fn port(number: u32) -> Result<Option<u8>, Rejected> {
    let port =
        u8::try_from(number).map_err(|_| foreign("f_port must be a port, a whole number from 0 to 255"))?;
    Ok(Some(port).filter(|port| *port > 0))
}

/// Returns the modulation; `hertz` is the unit of its bandwidth.
fn lora(info: &LoraInfo, hertz: u32) -> Option<Lora> {
    Lora::new(Some(info.spreading_factor.into()), Some(f64::from(info.bandwidth) * f64::from(hertz)))
}

fn place(location: &Location) -> Option<Position> {
    Some(Position::new(Some(location.latitude), Some(location.longitude))?.at(Some(location.altitude)))
}

fn rfc3339(time: &Timestamp) -> Option<String> {
    let micros = time.seconds.checked_mul(1_000_000)?.checked_add(i64::from(time.nanos) / 1000)?;
    (0..4_000_000_000_000_000).contains(&micros).then(|| clock::rfc3339(micros))
}

/// Returns a `google.protobuf.Struct` as a message. Its order is that of its keys, because Protobuf's maps have none.
fn map(object: &Struct) -> Value {
    Value::Map(object.fields.iter().map(|(key, value)| (key.clone(), value_of(value))).collect())
}

/// Returns a value. prost has limited its depth to 100, and writing it as JSON limits it to 32.
fn value_of(value: &prost_types::Value) -> Value {
    match &value.kind {
        None | Some(Kind::NullValue(_)) => Value::Null,
        // JSON has no NaN.
        Some(Kind::NumberValue(number)) if !number.is_finite() => Value::Null,
        Some(Kind::NumberValue(number)) => Value::F64(*number),
        Some(Kind::StringValue(text)) => Value::Text(text.clone()),
        Some(Kind::BoolValue(flag)) => Value::Bool(*flag),
        Some(Kind::ListValue(list)) => Value::Array(list.values.iter().map(value_of).collect()),
        Some(Kind::StructValue(object)) => map(object),
    }
}
