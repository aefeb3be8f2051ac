//! The record of one device.

use crate::Tags;
use dunnage_base::name::{is_device, is_name};
use serde::{Deserialize, Serialize, de::IgnoredAny};
use std::collections::BTreeMap;
use utoipa::ToSchema;

/// Longest name of a device and longest value of a tag, in bytes.
const TEXT: usize = 128;
/// Longest notes, in bytes.
const NOTES: usize = 1024;
/// Most tags, and most external IDs, of a device.
const MANY: usize = 16;
/// The fields of a record.
const FIELDS: [&str; 10] = [
    "device",
    "name",
    "tags",
    "external_ids",
    "profile",
    "latitude",
    "longitude",
    "interval_seconds",
    "notes",
    "disabled",
];
/// Longest expected interval: a year.
const INTERVAL: u64 = 366 * 86_400;

/// What the register holds of a device.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Record {
    /// The device's ID.
    pub device: String,
    /// Its name, for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Its tags: at most 16.
    #[serde(default, skip_serializing_if = "Tags::is_empty")]
    #[schema(value_type = std::collections::BTreeMap<String, String>)]
    pub tags: Tags,
    /// Other IDs under which messages may name it, such as a DevEUI or an IMEI: at most 16.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub external_ids: Vec<String>,
    /// The name of its profile, in place of the first profile that matches.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub profile: Option<String>,
    /// The latitude of a device that does not move, in degrees.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latitude: Option<f64>,
    /// The longitude of a device that does not move, in degrees.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub longitude: Option<f64>,
    /// How often it is expected to send, in seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interval_seconds: Option<u64>,
    /// Notes, for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub notes: Option<String>,
    /// Whether its messages go into the quarantine.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub disabled: bool,
}

/// A record that is not valid.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{field}: {message}")]
pub struct BadRecord {
    /// The field.
    pub field: &'static str,
    /// What is wrong with it.
    pub message: String,
}

impl Record {
    /// Checks everything that this record alone can violate.
    ///
    /// # Errors
    ///
    /// The first field that is not valid, and why.
    pub fn check(&self) -> Result<(), BadRecord> {
        let bad = |field, message: String| Err(BadRecord { field, message });
        if !is_device(&self.device) {
            return bad("device", id_rule(&self.device));
        }
        if let Some(name) = self.name.as_deref().filter(|name| !is_text(name, TEXT)) {
            return bad("name", text_rule(name, TEXT));
        }
        if self.tags.len() > MANY {
            return bad("tags", format!("{} tags; at most {MANY} are possible", self.tags.len()));
        }
        for (key, value) in self.tags.iter() {
            if !is_name(key) {
                return bad("tags", format!("the key {key:?} must be 1 to 64 of A-Z a-z 0-9 . _ : -"));
            }
            if !is_text(value, TEXT) {
                return bad("tags", format!("{key}: {}", text_rule(value, TEXT)));
            }
        }
        if self.external_ids.len() > MANY {
            return bad(
                "external_ids",
                format!("{} IDs; at most {MANY} are possible", self.external_ids.len()),
            );
        }
        for (at, id) in self.external_ids.iter().enumerate() {
            if !is_device(id) {
                return bad("external_ids", id_rule(id));
            }
            if *id == self.device || self.external_ids[..at].contains(id) {
                return bad("external_ids", format!("{id:?} is given twice"));
            }
        }
        if let Some(profile) = self.profile.as_deref().filter(|profile| !is_name(profile)) {
            return bad("profile", format!("{profile:?} must be 1 to 64 of A-Z a-z 0-9 . _ : -"));
        }
        self.check_place()?;
        if self.interval_seconds.is_some_and(|seconds| !(1..=INTERVAL).contains(&seconds)) {
            return bad("interval_seconds", format!("must be 1 to {INTERVAL}"));
        }
        if let Some(notes) = self.notes.as_deref().filter(|notes| notes.is_empty() || notes.len() > NOTES) {
            return bad("notes", format!("{} bytes; must be 1 to {NOTES}", notes.len()));
        }
        Ok(())
    }

    fn check_place(&self) -> Result<(), BadRecord> {
        for (field, value, most) in [("latitude", self.latitude, 90.0), ("longitude", self.longitude, 180.0)]
        {
            if value.is_some_and(|degrees| degrees.is_nan() || degrees.abs() > most) {
                return Err(BadRecord { field, message: format!("must be -{most} to {most} degrees") });
            }
        }
        match (self.latitude, self.longitude) {
            (Some(_), None) => {
                Err(BadRecord { field: "longitude", message: "missing beside latitude".into() })
            }
            (None, Some(_)) => {
                Err(BadRecord { field: "latitude", message: "missing beside longitude".into() })
            }
            _ => Ok(()),
        }
    }

    /// Returns latitude and longitude in degrees, if the device has a fixed place.
    pub fn place(&self) -> Option<(f64, f64)> {
        self.latitude.zip(self.longitude)
    }

    /// Reads a record from JSON and checks it.
    ///
    /// # Errors
    ///
    /// What is wrong, with the field where one is.
    pub fn from_json(json: &str) -> Result<Record, String> {
        let record: Record = serde_json::from_str(json).map_err(|e| e.to_string())?;
        // Not by serde, because the schema in the OpenAPI document is part of a larger object.
        let given: BTreeMap<String, IgnoredAny> = serde_json::from_str(json).map_err(|e| e.to_string())?;
        if let Some(unknown) = given.keys().find(|key| !FIELDS.contains(&key.as_str())) {
            return Err(format!("unknown field {unknown:?}; the fields are {}", FIELDS.join(", ")));
        }
        record.check().map_err(|e| e.to_string())?;
        Ok(record)
    }

    /// Returns the record as compact JSON.
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }
}

fn is_text(text: &str, most: usize) -> bool {
    (1..=most).contains(&text.len()) && !text.contains(char::is_control)
}

fn text_rule(text: &str, most: usize) -> String {
    format!("{:?} must be 1 to {most} bytes of UTF-8 text without control characters", shown(text))
}

fn id_rule(id: &str) -> String {
    text_rule(id, dunnage_base::name::MAX_DEVICE)
}

/// The beginning of a text that may be long.
fn shown(text: &str) -> String {
    text.chars().take(TEXT).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_is_checked_field_by_field() {
        let full = r#"{"device":"hive-7","name":"Hive 7","tags":{"site":"pisa"},"external_ids":["70b3d57ed0000001"],
            "profile":"hives","latitude":43.7,"longitude":10.4,"interval_seconds":900,"notes":"by the river","disabled":true}"#;
        let record = Record::from_json(full).unwrap();
        assert_eq!(record.place(), Some((43.7, 10.4)));
        assert_eq!(Record::from_json(&record.to_json()).unwrap(), record);
        assert_eq!(Record::from_json(r#"{"device":"a"}"#).unwrap().to_json(), r#"{"device":"a"}"#);
        for (more, error) in [
            (r#""name":"""#, "name: \"\" must be 1 to 128 bytes"),
            (r#""tags":{"a b":"c"}"#, "tags: the key \"a b\""),
            (r#""tags":{"a":"\n"}"#, "tags: a: "),
            (r#""external_ids":["x","x"]"#, "external_ids: \"x\" is given twice"),
            (r#""external_ids":["d"]"#, "external_ids: \"d\" is given twice"),
            (r#""profile":"a b""#, "profile: \"a b\""),
            (r#""latitude":1"#, "longitude: missing beside latitude"),
            (r#""latitude":91,"longitude":0"#, "latitude: must be -90 to 90"),
            (r#""interval_seconds":0"#, "interval_seconds: must be 1 to"),
            (r#""place":1"#, "unknown field \"place\"; the fields are device, name"),
        ] {
            let found = Record::from_json(&format!(r#"{{"device":"d",{more}}}"#)).unwrap_err();
            assert!(found.contains(error), "{more}: {found}");
        }
    }
}
