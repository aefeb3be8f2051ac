//! Where a device was when it sent a message.

use dunnage_register::Record;
use serde::{Deserialize, Serialize};
use serde_json::{Value, value::RawValue};
use utoipa::ToSchema;

/// Longest JSON that is searched, in bytes: the search is a part of the work of every commit.
const JSON_BYTES: usize = 64 << 10;

/// A position in degrees.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, ToSchema)]
pub struct Position {
    pub latitude: f64,
    pub longitude: f64,
}

/// The members of an object that are a position, and those that may hold one.
#[derive(Deserialize)]
struct Members<'a> {
    #[serde(borrow)]
    latitude: Option<&'a RawValue>,
    #[serde(borrow)]
    lat: Option<&'a RawValue>,
    #[serde(borrow)]
    longitude: Option<&'a RawValue>,
    #[serde(borrow)]
    lon: Option<&'a RawValue>,
    #[serde(borrow)]
    lng: Option<&'a RawValue>,
    #[serde(borrow)]
    position: Option<&'a RawValue>,
    #[serde(borrow)]
    gps: Option<&'a RawValue>,
    #[serde(borrow)]
    location: Option<&'a RawValue>,
    #[serde(borrow)]
    geometry: Option<&'a RawValue>,
    /// Two or three numbers in a GeoJSON point, or an object.
    #[serde(borrow)]
    coordinates: Option<&'a RawValue>,
}

impl Position {
    /// Finds the position in a message as JSON: at the JSON pointer that the device's profile names or else where it usually is. If there is
    /// none, what the provider says in the message's origin.
    pub fn find(pointer: Option<&str>, json: &str, origin: Option<&str>) -> Option<Position> {
        let in_message = match pointer {
            _ if json.len() > JSON_BYTES => None,
            Some(pointer) => at(json, pointer),
            None => usual(json),
        };
        let of_provider = || at(origin.filter(|origin| origin.contains("\"position\""))?, "/position");
        in_message.or_else(of_provider)
    }

    /// Returns the place of a device that does not move, if the register has one.
    pub fn of(record: &Record) -> Option<Position> {
        record.place().map(|(latitude, longitude)| Position { latitude, longitude })
    }

    fn new(latitude: &RawValue, longitude: &RawValue) -> Option<Position> {
        let (latitude, longitude) = (number(latitude)?, number(longitude)?);
        (latitude.abs() <= 90.0 && longitude.abs() <= 180.0).then_some(Position { latitude, longitude })
    }
}

/// Finds the position in an object or in one of its members.
fn usual(json: &str) -> Option<Position> {
    if !json.contains("\"lat") && !json.contains("\"coordinates\"") {
        return None;
    }
    let object = Members::read(json)?;
    let inner = [object.position, object.gps, object.location, object.coordinates, object.geometry];
    object.position().or_else(|| inner.into_iter().flatten().find_map(own))
}

/// Returns the position that the value at `pointer` is or holds.
fn at(json: &str, pointer: &str) -> Option<Position> {
    let value: Value = serde_json::from_str(json).ok()?;
    usual(&value.pointer(pointer)?.to_string())
}

/// Returns the position that an object is.
fn own(value: &RawValue) -> Option<Position> {
    Members::read(value.get())?.position()
}

impl<'a> Members<'a> {
    fn read(json: &'a str) -> Option<Members<'a>> {
        json.starts_with('{').then(|| serde_json::from_str(json).ok()).flatten()
    }

    fn position(&self) -> Option<Position> {
        if let (Some(latitude), Some(longitude)) =
            (self.latitude.or(self.lat), self.longitude.or(self.lon).or(self.lng))
        {
            return Position::new(latitude, longitude);
        }
        // RFC 7946: the longitude comes first. A line or an area has lists in place of the numbers.
        match serde_json::from_str::<Vec<&RawValue>>(self.coordinates?.get()).ok()?[..] {
            [longitude, latitude, ..] => Position::new(latitude, longitude),
            _ => None,
        }
    }
}

/// Returns a number, or a text that is one.
fn number(value: &RawValue) -> Option<f64> {
    let text = value.get();
    let text = text.strip_prefix('"').and_then(|text| text.strip_suffix('"')).unwrap_or(text).trim();
    // Rust also reads "inf" and "nan".
    let is_number = text.bytes().all(|b| b.is_ascii_digit() || b"+-.eE".contains(&b));
    if is_number { text.parse().ok() } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(pointer: Option<&str>, json: &str, origin: Option<&str>) -> Option<(f64, f64)> {
        Position::find(pointer, json, origin).map(|found| (found.latitude, found.longitude))
    }

    #[test]
    fn a_position_is_a_pair_of_numbers_in_range_also_as_texts() {
        let found = |json| found(None, json, None);
        assert_eq!(found(r#"{"latitude":"31.8682","longitude":"-28.7"}"#), Some((31.8682, -28.7)));
        assert_eq!(found(r#"{"a":[{"lat":1}],"lat":0,"lon":180}"#), Some((0.0, 180.0)));
        assert_eq!(found(r#"{"latitude":null,"lat":" 5 ","lng":1e1}"#), Some((5.0, 10.0)));
        for none in [
            "null",
            "5",
            r#""lat""#,
            "{}",
            r#"[{"lat":1,"lon":1}]"#,
            r#"{"lat":1}"#,
            r#"{"lat":91,"lon":0}"#,
            r#"{"lat":0,"lon":181}"#,
            r#"{"lat":"","lon":""}"#,
            r#"{"lat":"0x10","lon":1}"#,
            r#"{"lat":"nan","lon":"inf"}"#,
            r#"{"lat":true,"lon":[]}"#,
            r#"{"deep":{"lat":1,"lon":1}}"#,
            r#"{"gps":{"gps":{"lat":1,"lon":1}}}"#,
        ] {
            assert_eq!(found(none), None, "{none}");
        }
        let long = format!(r#"{{"lat":1,"lon":1,"text":"{}"}}"#, "x".repeat(JSON_BYTES));
        assert_eq!(found(&long), None);
    }

    #[test]
    fn a_position_is_found_one_level_deeper_and_in_geojson() {
        let found = |json| found(None, json, None);
        for json in [
            r#"{"t":1,"position":{"lat":47.5,"lon":8.5}}"#,
            r#"{"gps":{"latitude":"47.5","lng":8.5,"fix":3}}"#,
            r#"{"lat":null,"location":{"lat":47.5,"lon":8.5}}"#,
            r#"{"coordinates":{"lat":47.5,"lon":8.5}}"#,
            r#"{"position":null,"gps":{"sats":4},"location":{"type":"Point","coordinates":[8.5,47.5,400]}}"#,
            r#"{"type":"Feature","geometry":{"type":"Point","coordinates":[8.5,47.5]},"properties":{}}"#,
            r#"{"type":"Point","coordinates":[8.5,47.5]}"#,
        ] {
            assert_eq!(found(json), Some((47.5, 8.5)), "{json}");
        }
        assert_eq!(found(r#"{"type":"LineString","coordinates":[[8.5,47.5],[9,47]]}"#), None);
        assert_eq!(found(r#"{"location":{"coordinates":[8.5]}}"#), None);
    }

    #[test]
    fn a_pointer_comes_before_the_usual_places_and_the_provider_after_them() {
        let json = r#"{"lat":1,"lon":2,"base":{"gps":[{"lat":3,"lon":4}],"lat":5,"lon":6}}"#;
        let origin = r#"{"gateway":{"position":{"latitude":9,"longitude":9}},"position":{"latitude":7,"longitude":8}}"#;
        assert_eq!(found(None, json, Some(origin)), Some((1.0, 2.0)));
        assert_eq!(found(Some("/base"), json, Some(origin)), Some((5.0, 6.0)));
        assert_eq!(found(Some("/base/gps/0"), json, Some(origin)), Some((3.0, 4.0)));
        assert_eq!(found(Some("/none"), json, Some(origin)), Some((7.0, 8.0)));
        assert_eq!(found(None, "5", Some(origin)), Some((7.0, 8.0)));
        assert_eq!(found(None, "5", Some(r#"{"gateway":{"position":{"latitude":9,"longitude":9}}}"#)), None);
    }
}
