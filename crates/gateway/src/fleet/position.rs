//! The position of a device in its message, by the same rules as `position` of `dashboard/value.js`.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use utoipa::ToSchema;

/// Longest JSON that is searched, in bytes: the search is a part of the work of every commit.
const JSON_BYTES: usize = 64 << 10;

/// A position in degrees.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, ToSchema)]
pub struct Position {
    latitude: f64,
    longitude: f64,
}

#[derive(Deserialize)]
struct Fields<'a> {
    #[serde(borrow)]
    latitude: Option<&'a RawValue>,
    #[serde(borrow)]
    lat: Option<&'a RawValue>,
    #[serde(borrow)]
    longitude: Option<&'a RawValue>,
    #[serde(borrow)]
    lon: Option<&'a RawValue>,
}

impl Position {
    /// Finds the position in a message as JSON: `latitude` or `lat`, and `longitude` or `lon`, of the object, as numbers or as texts that
    /// are numbers.
    pub fn find(json: &str) -> Option<Position> {
        if json.len() > JSON_BYTES || !json.starts_with('{') || !json.contains("\"lat") {
            return None;
        }
        let fields: Fields<'_> = serde_json::from_str(json).ok()?;
        let latitude = number(fields.latitude.or(fields.lat)?)?;
        let longitude = number(fields.longitude.or(fields.lon)?)?;
        (latitude.abs() <= 90.0 && longitude.abs() <= 180.0).then_some(Position { latitude, longitude })
    }
}

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

    #[test]
    fn a_position_is_a_pair_of_numbers_in_range_also_as_texts() {
        let found = |json| Position::find(json).map(|found| (found.latitude, found.longitude));
        assert_eq!(found(r#"{"latitude":"31.8682","longitude":"-28.7"}"#), Some((31.8682, -28.7)));
        assert_eq!(found(r#"{"a":[{"lat":1}],"lat":0,"lon":180}"#), Some((0.0, 180.0)));
        assert_eq!(found(r#"{"latitude":null,"lat":" 5 ","lon":1e1}"#), Some((5.0, 10.0)));
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
        ] {
            assert_eq!(found(none), None, "{none}");
        }
        let long = format!(r#"{{"lat":1,"lon":1,"text":"{}"}}"#, "x".repeat(JSON_BYTES));
        assert_eq!(found(&long), None);
    }
}
