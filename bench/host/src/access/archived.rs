//! rkyv: its bytes are the memory of a Rust struct, so it needs a struct for each message. The structs here have the fields of two messages.

use super::{Access, Leaf, Read, Step};
use crate::corpus::MessageSet;
use dunnage_formats::Value;
use rkyv::{Archive, Serialize, access, from_bytes, rancor, to_bytes, util::AlignedVec};
use serde::{Deserialize, de::DeserializeOwned};

/// How the bytes are made and read.
pub const NOTE: &str = "a typed struct; the message is checked before the field is read, because access without a check is unsafe";

/// The container's message.
#[derive(Archive, Serialize, rkyv::Deserialize, Deserialize, PartialEq)]
#[serde(rename_all = "kebab-case")]
struct Container {
    msisdn: String,
    iso6346: String,
    time: String,
    rssi: String,
    cgi: String,
    ble_m: String,
    bat_soc: String,
    acc: String,
    temperature: String,
    humidity: String,
    pressure: String,
    door: String,
    gnss: String,
    latitude: String,
    longitude: String,
    altitude: String,
    speed: String,
    heading: String,
    nsat: String,
    hdop: String,
}

/// The message of the weather station.
#[derive(Archive, Serialize, rkyv::Deserialize, Deserialize, PartialEq)]
struct Weather {
    station: String,
    time: String,
    temperature: f64,
    humidity: u8,
    pressure: f64,
    wind: Wind,
    rain: f64,
    solar: u16,
    battery: f64,
}

#[derive(Archive, Serialize, rkyv::Deserialize, Deserialize, PartialEq)]
struct Wind {
    speed: f64,
    gust: f64,
    direction: u16,
}

type Failure = rancor::Error;

/// Returns the bytes of the set's first message if it has a struct here, and comes back as the same struct.
pub fn encoded(set: &MessageSet) -> Option<AlignedVec> {
    let message = &set.messages[0];
    match set.name.as_str() {
        "container" => {
            let bytes = container(message)?;
            (from_bytes::<Container, Failure>(&bytes).ok() == typed(message)).then_some(bytes)
        }
        "weather" => {
            let bytes = weather(message)?;
            (from_bytes::<Weather, Failure>(&bytes).ok() == typed(message)).then_some(bytes)
        }
        _ => None,
    }
}

/// Returns the way to read the value if its message has a struct here.
pub fn accesses(set: &MessageSet, path: &[Step]) -> Option<Access> {
    let keys: Vec<&str> = path.iter().map_while(key).collect();
    let message = &set.messages[0];
    let (bytes, read): (AlignedVec, Read) = match (set.name.as_str(), keys.as_slice()) {
        ("container", ["msisdn"]) => (
            container(message)?,
            text(|bytes| Some(&access::<ArchivedContainer, Failure>(bytes).ok()?.msisdn)),
        ),
        ("container", ["hdop"]) => {
            (container(message)?, text(|bytes| Some(&access::<ArchivedContainer, Failure>(bytes).ok()?.hdop)))
        }
        ("weather", ["station"]) => {
            (weather(message)?, text(|bytes| Some(&access::<ArchivedWeather, Failure>(bytes).ok()?.station)))
        }
        ("weather", ["battery"]) => (
            weather(message)?,
            number(|bytes| Some(access::<ArchivedWeather, Failure>(bytes).ok()?.battery.to_native())),
        ),
        ("weather", ["wind", "speed"]) => (
            weather(message)?,
            number(|bytes| Some(access::<ArchivedWeather, Failure>(bytes).ok()?.wind.speed.to_native())),
        ),
        _ => return None,
    };
    Some(Access { format: "rkyv", library: "rkyv", note: NOTE, bytes, read })
}

fn key(step: &Step) -> Option<&str> {
    match step {
        Step::Key(key) => Some(key),
        Step::Index(_) => None,
    }
}

fn container(message: &Value) -> Option<AlignedVec> {
    to_bytes::<Failure>(&typed::<Container>(message)?).ok()
}

fn weather(message: &Value) -> Option<AlignedVec> {
    to_bytes::<Failure>(&typed::<Weather>(message)?).ok()
}

fn typed<T: DeserializeOwned>(message: &Value) -> Option<T> {
    serde_json::to_value(message).and_then(serde_json::from_value).ok()
}

fn text(find: fn(&[u8]) -> Option<&rkyv::string::ArchivedString>) -> Read {
    Box::new(move |bytes, found| {
        if let Some(text) = find(bytes) {
            found(Leaf::Text(text.as_str()));
        }
    })
}

fn number(find: fn(&[u8]) -> Option<f64>) -> Read {
    Box::new(move |bytes, found| {
        if let Some(number) = find(bytes) {
            found(Leaf::number(number));
        }
    })
}
