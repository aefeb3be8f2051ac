//! The texts of devices that packed omits.

use crate::profiles::{Wrong, settings::Profile};
use std::collections::{BTreeMap, HashMap};

/// The texts of each device that packed omits, by their names.
pub type KnownTexts = HashMap<String, BTreeMap<String, String>>;

/// Reads the known texts of the devices of a profile.
pub fn read(profile: &Profile, wrong: &mut Wrong) -> KnownTexts {
    let Some(path) = &profile.known else { return KnownTexts::new() };
    let read = std::fs::read(path).map_err(|e| e.to_string());
    read.and_then(|text| serde_json::from_slice(&text).map_err(|e| e.to_string())).unwrap_or_else(|message| {
        wrong.push(("known", format!("{}: {message}", path.display())));
        KnownTexts::new()
    })
}
