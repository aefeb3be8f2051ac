//! The numbers of a relay's devices, in a file that both gateways have.

use dunnage_base::name::is_device;
use serde::{
    Deserialize, Deserializer,
    de::{Error, MapAccess, Visitor},
};
use std::{
    collections::{BTreeMap, HashMap},
    fmt,
};

/// Highest number of a device.
const MAX_NUMBER: u32 = 65_535;
/// Highest slot of a packed layout.
const MAX_SLOT: u8 = 63;

/// The numbers of a relay's devices: a JSON object of `"DEVICE": {"number": 1, "slot": 11}`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Numbers {
    by_device: BTreeMap<String, Numbered>,
    devices: HashMap<u32, String>,
}

/// The entry of a device in the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Numbered {
    /// Its number in batches. Those up to 30 take no bytes of their own.
    pub number: u32,
    /// The slot of its packed layout. Without it, its readings are sent as it sent them.
    #[serde(default)]
    pub slot: Option<u8>,
    /// The beginning of the layout's fingerprint, so that readings are not packed or decoded with another layout of the slot.
    #[serde(default)]
    pub layout: Option<Beginning>,
}

/// The first four bytes of a fingerprint: 8 hexadecimal digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct Beginning([u8; 4]);

impl TryFrom<String> for Beginning {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Beginning, &'static str> {
        let is_hex = text.len() == 8 && text.bytes().all(|digit| digit.is_ascii_hexdigit());
        let number = u32::from_str_radix(&text, 16).ok().filter(|_| is_hex);
        number.map(|number| Beginning(number.to_be_bytes())).ok_or("layout must be 8 hexadecimal digits")
    }
}

impl Numbered {
    /// Whether a layout with this fingerprint, which is asked for only if the file has one, is that of the file.
    pub fn is_layout(&self, fingerprint: impl FnOnce() -> [u8; 32]) -> bool {
        self.layout.is_none_or(|Beginning(beginning)| fingerprint().starts_with(&beginning))
    }
}

impl Numbers {
    /// Reads the file's text.
    ///
    /// # Errors
    ///
    /// If the text is not such an object, or an ID, a number or a slot is invalid, or a device or a number is there twice.
    pub fn parse(text: &str) -> Result<Numbers, String> {
        serde_json::from_str(text).map_err(|e| e.to_string())
    }

    /// Returns the entry of `device`.
    pub fn of(&self, device: &str) -> Option<Numbered> {
        self.by_device.get(device).copied()
    }

    /// Returns the device with `number`, and its entry.
    pub fn device(&self, number: u32) -> Option<(&str, Numbered)> {
        let device = self.devices.get(&number)?;
        Some((device, self.of(device)?))
    }

    fn add(&mut self, device: String, numbered: Numbered) -> Result<(), String> {
        let Numbered { number, slot, .. } = numbered;
        if !is_device(&device) {
            return Err(format!("{device:?} is not a device ID"));
        }
        if !(1..=MAX_NUMBER).contains(&number) {
            return Err(format!("{device:?}: number must be 1 to {MAX_NUMBER}"));
        }
        if slot.is_some_and(|slot| !(1..=MAX_SLOT).contains(&slot)) {
            return Err(format!("{device:?}: slot must be 1 to {MAX_SLOT}"));
        }
        if let Some(other) = self.devices.insert(number, device.clone()) {
            return Err(format!("{device:?}: {other:?} has the number {number}, too"));
        }
        match self.by_device.insert(device, numbered) {
            None => Ok(()),
            Some(before) => Err(format!("a device has the number {}, too", before.number)),
        }
    }
}

impl<'de> Deserialize<'de> for Numbers {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Numbers, D::Error> {
        from.deserialize_map(Entries)
    }
}

/// Reads the entries one by one, because a map would keep the last of two equal keys.
struct Entries;

impl<'de> Visitor<'de> for Entries {
    type Value = Numbers;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object of devices")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Numbers, A::Error> {
        let mut numbers = Numbers::default();
        while let Some((device, numbered)) = map.next_entry()? {
            numbers.add(device, numbered).map_err(A::Error::custom)?;
        }
        Ok(numbers)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_gives_each_device_a_number() {
        let numbers =
            Numbers::parse(r#"{"hold-1": {"number": 1, "slot": 11}, "gps": {"number": 300}}"#).unwrap();
        assert_eq!(numbers.device(1), Some(("hold-1", Numbered { number: 1, slot: Some(11), layout: None })));
        assert_eq!(numbers.of("gps"), Some(Numbered { number: 300, slot: None, layout: None }));
        assert_eq!((numbers.device(2), numbers.of("hold-2")), (None, None));
    }

    #[test]
    fn a_layout_is_compared_by_the_beginning_of_its_fingerprint() {
        let numbers = Numbers::parse(r#"{"a": {"number": 1, "slot": 2, "layout": "01AB02cd"}}"#).unwrap();
        let mut fingerprint = [7; 32];
        fingerprint[..4].copy_from_slice(&[1, 0xab, 2, 0xcd]);
        assert!(
            numbers.of("a").unwrap().is_layout(|| fingerprint)
                && !numbers.of("a").unwrap().is_layout(|| [7; 32])
        );
    }

    #[test]
    fn mistakes_are_named() {
        for (text, mistake) in [
            (r#"{"a": {"number": 0}}"#, "number must be 1 to 65535"),
            (r#"{"a": {"number": 1, "slot": 64}}"#, "slot must be 1 to 63"),
            (r#"{"a": {"number": 1}, "b": {"number": 1}}"#, r#""b": "a" has the number 1, too"#),
            (r#"{"a": {"number": 1}, "a": {"number": 2}}"#, "a device has the number 1, too"),
            (r#"{"": {"number": 1}}"#, "is not a device ID"),
            (r#"{"a": {"number": 1, "port": 2}}"#, "unknown field `port`"),
            (r#"{"a": {"number": 1, "layout": "12"}}"#, "layout must be 8 hexadecimal digits"),
            (r#"{"a": {}}"#, "missing field `number`"),
            ("[]", "expected an object of devices"),
        ] {
            let error = Numbers::parse(text).unwrap_err();
            assert!(error.contains(mistake), "{text}: {error}");
        }
    }
}
