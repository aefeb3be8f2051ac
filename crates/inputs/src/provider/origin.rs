//! Data of a provider about a message besides its bytes: the object that is stored with it (`spec/ingest.md`, "What is stored").

use dunnage_base::clock;
use serde::Serialize;
use serde_json::value::RawValue;
use std::sync::Arc;
use time::{PrimitiveDateTime, format_description::StaticFormatDescription, macros::format_description};

/// The information of all providers in one form.
#[derive(Debug, Default, PartialEq, Serialize)]
pub struct Origin {
    /// When the device sent the message: RFC 3339 in UTC with milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sent_at: Option<String>,
    /// Where the device was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub position: Option<Position>,
    /// The device's name, besides its ID.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub device_name: Option<String>,
    /// Whose device it is at the provider.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tenant: Option<String>,
    /// The application, or the product, that it belongs to there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub application: Option<String>,
    /// What kind of device it is there: its device profile, model, device type or fleet.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub profile: Option<String>,
    /// The LoRaWAN port.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub port: Option<u8>,
    /// The number of messages that the device had sent: LoRaWAN's frame counter, Iridium's MOMSN.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub counter: Option<u32>,
    /// The radio gateway that received the message best.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gateway: Option<Heard>,
    /// The frequency in Hz.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub frequency_hz: Option<u64>,
    /// The modulation of LoRa: its spreading factor, and its bandwidth in Hz.
    #[serde(flatten)]
    pub lora: Option<Lora>,
}

/// The modulation of LoRa.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Lora {
    /// The spreading factor: 5 to 12.
    pub spreading_factor: u8,
    /// The bandwidth in Hz.
    pub bandwidth_hz: u64,
}

impl Lora {
    /// Returns the modulation if the network server says it.
    pub fn new(spreading_factor: Option<f64>, bandwidth_hz: Option<f64>) -> Option<Lora> {
        let (factor, bandwidth) = (spreading_factor?, bandwidth_hz?);
        let known = (5.0..=12.0).contains(&factor) && (1.0..1e9).contains(&bandwidth);
        known.then_some(Lora { spreading_factor: factor as u8, bandwidth_hz: bandwidth as u64 })
    }
}

/// A position on the Earth, WGS 84.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Position {
    latitude: f64,
    longitude: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    altitude_m: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    accuracy_m: Option<f64>,
}

/// A radio gateway, and how well it received the message.
#[derive(Debug, Default, PartialEq, Serialize)]
pub struct Heard {
    /// Its ID.
    pub id: String,
    /// Received signal strength in dBm.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rssi: Option<f64>,
    /// Signal-to-noise ratio in dB.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub snr: Option<f64>,
    /// Its position.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub position: Option<Position>,
}

/// The stored object: the fields that all providers have, and the origin as read by the provider's module.
#[derive(Serialize)]
pub struct Stored<'o> {
    /// The name of the input.
    pub input: &'o str,
    /// The provider's name.
    pub provider: &'o str,
    /// The provider's ID of the message.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message_id: Option<&'o str>,
    /// The provider's ID of the device, if the device has another ID here.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub provider_device: Option<&'o str>,
    /// The topic or subject that carried the envelope.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub topic: Option<&'o str>,
    /// Further data of the provider.
    #[serde(flatten)]
    pub origin: &'o Origin,
    /// What the network server decoded. Ingest removes it if it becomes the message.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decoded: Option<&'o RawValue>,
}

impl Stored<'_> {
    /// Returns the JSON to store with the message.
    pub fn to_json(&self) -> Option<Arc<str>> {
        serde_json::to_string(self).ok().map(Into::into)
    }
}

impl Position {
    /// Returns a position if the coordinates are valid. Providers send `null`, or 0 and 0, when they do not know it.
    pub fn new(latitude: Option<f64>, longitude: Option<f64>) -> Option<Position> {
        let (latitude, longitude) = (latitude?, longitude?);
        let is_place = latitude.abs() <= 90.0 && longitude.abs() <= 180.0;
        let unknown = latitude == 0.0 && longitude == 0.0;
        (is_place && !unknown).then_some(Position { latitude, longitude, altitude_m: None, accuracy_m: None })
    }

    /// Adds the altitude above sea level, in metres.
    pub fn at(self, altitude_m: Option<f64>) -> Position {
        Position { altitude_m: altitude_m.filter(|altitude| altitude.is_finite()), ..self }
    }

    /// Adds the radius of uncertainty, in metres.
    pub fn within(self, accuracy_m: Option<f64>) -> Position {
        let accuracy_m = accuracy_m.filter(|accuracy| accuracy.is_finite() && *accuracy > 0.0);
        Position { accuracy_m, ..self }
    }
}

impl Heard {
    /// Returns the gateway with the best reception: the highest SNR, and of equal ones the highest RSSI. Receivers of FSK measure no SNR.
    pub fn best(all: impl Iterator<Item = Heard>) -> Option<Heard> {
        let least = f64::NEG_INFINITY;
        let snr = |heard: &Heard| heard.snr.unwrap_or(least);
        let rssi = |heard: &Heard| heard.rssi.unwrap_or(least);
        all.max_by(|a, b| snr(a).total_cmp(&snr(b)).then(rssi(a).total_cmp(&rssi(b))))
    }
}

/// Converts a time in seconds since 1970 to the form in which it is stored.
pub fn unix(seconds: Option<f64>) -> Option<String> {
    let micros = seconds? * 1e6;
    (0.0..4e15).contains(&micros).then(|| clock::rfc3339(micros.round() as i64))
}

/// The form of Iridium's times, in UTC.
const PLAIN: StaticFormatDescription = format_description!("[year]-[month]-[day] [hour]:[minute]:[second]");

/// Parses a time in UTC without a time zone: `2021-10-31 10:41:50`. Returns microseconds since 1970.
pub fn plain_time(text: &str) -> Option<i64> {
    let time = PrimitiveDateTime::parse(text, PLAIN).ok()?;
    i64::try_from(time.as_utc().unix_timestamp_nanos() / 1000).ok()
}

/// Converts an RFC 3339 time to the form in which it is stored.
pub fn time(text: Option<&str>) -> Option<String> {
    clock::parse(text?).map(clock::rfc3339)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_become_utc_with_milliseconds() {
        for (given, stored) in [
            ("2022-07-18T09:34:15.775023242+00:00", Some("2022-07-18T09:34:15.775Z")),
            ("2026-05-25T15:42:11+02:00", Some("2026-05-25T13:42:11.000Z")),
            ("21-10-31 10:41:50", None),
            ("", None),
        ] {
            assert_eq!(time(Some(given)).as_deref(), stored, "{given}");
        }
    }

    #[test]
    fn places_are_on_the_earth() {
        let new = |latitude, longitude| Position::new(Some(latitude), Some(longitude)).is_some();
        assert!(new(-90.0, 180.0) && new(0.0, 6.5));
        assert!(!new(90.1, 0.0) && !new(1.0, -181.0) && !new(f64::NAN, 1.0) && !new(0.0, 0.0));
        assert_eq!(Position::new(None, Some(1.0)), None);
    }

    #[test]
    fn the_best_gateway_is_the_one_with_the_least_noise() {
        let heard = |id: &str, rssi, snr| Heard { id: id.into(), rssi, snr, position: None };
        let all =
            [heard("a", Some(-50.0), Some(1.0)), heard("b", Some(-90.0), Some(9.5)), heard("c", None, None)];
        assert_eq!(Heard::best(all.into_iter()).unwrap().id, "b");
        let equal = [
            heard("a", Some(-101.0), Some(0.0)),
            heard("b", Some(-60.0), Some(0.0)),
            heard("c", Some(-9.0), Some(-17.5)),
        ];
        assert_eq!(Heard::best(equal.into_iter()).unwrap().id, "b");
    }
}
