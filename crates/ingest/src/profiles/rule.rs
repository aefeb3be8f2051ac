//! A profile, compiled.

use super::{
    Wrong,
    codecs::{self, Codecs},
    conditions::Conditions,
    known::{self, KnownTexts},
    schemas::Schemas,
    settings::{self, Duplicates, Profile},
};
use dunnage_base::name::is_name;
use dunnage_formats::Id;
use dunnage_relay::Numbers;
use dunnage_vendor_codec::Codec;
use std::{collections::BTreeMap, sync::Arc};

/// Longest output path, in bytes.
const PATH: usize = 256;
/// Longest `silent_after_seconds`: a year.
const SILENT_AFTER: u64 = 366 * 86_400;

/// A profile, compiled.
pub struct Rule {
    /// The messages that it applies to.
    pub conditions: Conditions,
    /// By which people know it: its name, else the pattern of its devices, else its conditions.
    pub label: String,
    /// Its name, by which the register can give it to a device.
    pub name: Option<String>,
    pub(super) codecs: Codecs,
    /// The formats that may be sent; empty for all.
    pub formats: Vec<Id>,
    /// The treatment of numbers in text that no value holds exactly.
    pub numbers: settings::Numbers,
    /// Whether numbers that are binary32 become the shortest decimals.
    pub shortens_binary32: bool,
    /// The link of their messages, if the sender names none.
    pub link: Option<String>,
    /// Whether a message without a key is a duplicate of an earlier one with the same bytes.
    pub dedup_by_payload: bool,
    /// What becomes the message of an envelope, if the profile says it.
    pub payload: Option<settings::Payload>,
    /// How long after its last message a device counts as silent, in microseconds.
    pub(super) silent_after: Option<i64>,
    pub(super) path: Arc<str>,
    pub(super) position: Option<String>,
    known: KnownTexts,
    /// The numbers of the devices, if the messages are batches of a relay.
    pub relay: Option<Arc<Numbers>>,
    /// The vendor's codec of messages that name no format.
    pub codec: Option<Arc<Codec>>,
}

impl Rule {
    /// Returns the only format that may be sent, if there is only one.
    pub fn only_format(&self) -> Option<Id> {
        match self.formats[..] {
            [format] => Some(format),
            _ => None,
        }
    }

    /// Returns the texts of `device` that packed omits, if its profile has any.
    pub fn known(&self, device: &str) -> Option<&BTreeMap<String, String>> {
        self.known.get(device)
    }

    /// Rejects a format that these devices may not send. The error lists those that they may.
    pub fn check(&self, format: Id) -> Result<(), String> {
        if self.formats.is_empty() || self.formats.contains(&format) {
            return Ok(());
        }
        let names: Vec<_> = self.formats.iter().map(|format| format.name()).collect();
        let may = match self.conditions.device_alone() {
            Some(pattern) => format!("devices that match {pattern} may send"),
            None => format!("messages of the profile {} may be", self.label),
        };
        Err(format!("{may} {}, not {format}", names.join(", ")))
    }
}

/// Compiles `profile`, which has the vendor's `codec`. Records what is wrong with its keys.
pub(super) fn read(
    profile: &Profile,
    codec: Option<Arc<Codec>>,
    schemas: &Schemas,
    wrong: &mut Wrong,
) -> Rule {
    if profile.link.as_deref().is_some_and(|link| !is_name(link)) {
        wrong.push(("link", "link must be 1 to 64 of A-Z a-z 0-9 . _ : -".into()));
    }
    let path = profile.path.as_deref().unwrap_or_default();
    if profile.path.is_some() && !is_path(path) {
        let message =
            format!("path must be names of A-Z a-z 0-9 . _ : - separated by /, at most {PATH} characters");
        wrong.push(("path", message));
    }
    if profile.position.as_deref().is_some_and(|pointer| !pointer.starts_with('/')) {
        wrong.push(("position", "position must be a JSON pointer, such as /gps or /status/location".into()));
    }
    if profile.silent_after_seconds.is_some_and(|seconds| !(1..=SILENT_AFTER).contains(&seconds)) {
        let message = format!("silent_after_seconds must be 1 to {SILENT_AFTER}");
        wrong.push(("silent_after_seconds", message));
    }
    let silent_after =
        profile.silent_after_seconds.map(|seconds| seconds.min(SILENT_AFTER) as i64 * 1_000_000);
    let conditions = Conditions::of(profile);
    Rule {
        label: label(profile.name.as_deref(), &conditions),
        name: profile.name.clone(),
        conditions,
        codecs: codecs::read(profile, schemas, wrong),
        numbers: profile.numbers,
        shortens_binary32: profile.binary32 == settings::Binary32::Shortest,
        formats: profile.formats.iter().map(|format| format.0).collect(),
        link: profile.link.clone(),
        dedup_by_payload: profile.duplicates == Duplicates::Bytes,
        payload: profile.payload,
        silent_after,
        path: path.into(),
        position: profile.position.clone(),
        known: known::read(profile, wrong),
        relay: numbers(profile, wrong),
        codec,
    }
}

/// Reads the numbers of a relay's devices.
fn numbers(profile: &Profile, wrong: &mut Wrong) -> Option<Arc<Numbers>> {
    let path = profile.relay.as_ref()?;
    if profile.codec.is_some() {
        wrong.push(("relay", "relay, codec: only one may be given".into()));
    }
    let read = std::fs::read_to_string(path).map_err(|e| e.to_string());
    let numbers = read.and_then(|text| Numbers::parse(&text));
    numbers
        .map_err(|message| wrong.push(("relay", format!("{}: {message}", path.display()))))
        .map(Arc::new)
        .ok()
}

/// Whether `path` is a valid output path: names with `/` between them.
fn is_path(path: &str) -> bool {
    path.len() <= PATH && path.split('/').all(is_name)
}

fn label(name: Option<&str>, conditions: &Conditions) -> String {
    let text = name.or(conditions.device_alone()).map(str::to_owned);
    text.unwrap_or_else(|| conditions.to_string())
}

/// Records what is wrong with the name and the conditions of `profile`, which follows the `earlier` ones.
pub(super) fn check(profile: &Profile, earlier: (&[Profile], &[Rule]), wrong: &mut Wrong) {
    if let Some(name) = &profile.name {
        if !is_name(name) {
            wrong.push(("name", "name must be 1 to 64 of A-Z a-z 0-9 . _ : -".into()));
        }
        if earlier.0.iter().any(|other| other.name.as_ref() == Some(name)) {
            wrong.push(("name", format!("another profile has the name {name:?}")));
        }
    }
    if !profile.device.is_empty() && profile.conditions.device.is_some() {
        wrong.push(("match.device", "device and match.device: only one may be given".into()));
    }
    if let Some(key) = profile.conditions.empty_text() {
        wrong.push((key, "an empty text matches nothing".into()));
    }
    let conditions = Conditions::of(profile);
    if conditions.all().is_empty() && profile.name.is_none() {
        wrong.push(("", "a profile must have device, match or name".into()));
    }
    if let Some(other) = earlier.1.iter().find(|other| other.conditions.cover(&conditions)) {
        let key = if profile.device.is_empty() { "match" } else { "device" };
        let which = match other.label == other.conditions.to_string() {
            true => other.label.clone(),
            false => format!("{:?}", other.label),
        };
        wrong.push((key, format!("no message reaches this profile: the earlier {which} matches them all")));
    }
}
