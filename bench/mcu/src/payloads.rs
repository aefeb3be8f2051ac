//! The measured messages.

use crate::Failure;
use dunnage_pson::Value;
use std::{fs, path::Path};

const PAPER: &str = include_str!("../../corpus/pson-paper.json");

/// The group of the paper's messages.
pub const PAPER_GROUP: &str = "paper";

/// A message with its name.
#[derive(Debug, Clone)]
pub struct Payload {
    /// Such as `Test10`; also the prefix of its names in C.
    pub name: String,
    /// The message.
    pub value: Value,
}

/// Messages that share a firmware, so that the library's functions serve all of them, as in a device that sends several.
#[derive(Debug, Clone)]
pub struct Group {
    /// Such as `paper`; for a group of one, the payload's name.
    pub name: String,
    /// At least one payload.
    pub payloads: Vec<Payload>,
}

/// The ten tests of the paper, the container, and the ten kinds of payload on which JSON and MessagePack are compared.
pub fn groups() -> Result<Vec<Group>, Failure> {
    let paper: Value = serde_json::from_str(PAPER)?;
    let Some(Value::Map(tests)) = paper.get("payloads") else {
        return Err("pson-paper.json has no payloads".into());
    };
    let tests =
        tests.iter().map(|(name, value)| Payload { name: name.clone(), value: value.clone() }).collect();

    let mut groups = vec![Group { name: PAPER_GROUP.into(), payloads: tests }];
    groups.extend(folder("../corpus")?);
    Ok(groups)
}

/// The user's payloads in `bench/mcu/payloads`.
pub fn user_payloads() -> Result<Vec<Group>, Failure> {
    folder("payloads")
}

/// The files of the corpus that hold several messages, or a table of names.
const NO_MESSAGES: [&str; 3] = ["pson-paper.json", "book-video.json", "iec61850.json"];

/// A group for each message in a folder beside `src`.
fn folder(name: &str) -> Result<Vec<Group>, Failure> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(name);
    let mut files: Vec<_> =
        fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect::<Result<_, Failure>>()?;
    files.retain(|path| {
        let is_message = !NO_MESSAGES.iter().any(|name| path.ends_with(name));
        path.extension().is_some_and(|ext| ext == "json") && is_message
    });
    files.sort();
    files.iter().map(|path| file(path)).collect()
}

/// A group for the message in a JSON file. The error names the file.
pub fn file(path: &Path) -> Result<Group, Failure> {
    let payload = load(path).map_err(|error| format!("{}: {error}", path.display()))?;
    Ok(Group { name: payload.name.clone(), payloads: vec![payload] })
}

fn load(path: &Path) -> Result<Payload, Failure> {
    let stem = path.file_stem().and_then(|stem| stem.to_str()).ok_or("file name is not UTF-8")?;
    Ok(Payload { name: stem.into(), value: serde_json::from_str(&fs::read_to_string(path)?)? })
}

/// The groups with a payload in `names` or with a name in `names`; all groups if `names` is empty.
pub fn only(mut groups: Vec<Group>, names: &[String]) -> Vec<Group> {
    groups.retain(|group| {
        let has =
            |name: &String| group.name == *name || group.payloads.iter().any(|payload| payload.name == *name);
        names.is_empty() || names.iter().any(has)
    });
    groups
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sizes in bytes, as JSON and as MessagePack, of the payloads that these kinds represent.
    const SIZES: [(&str, usize, usize); 10] = [
        ("short-int", 48, 35),
        ("short-json", 27, 18),
        ("medium-mixed", 592, 490),
        ("long-and-mixed", 1970, 1718),
        ("array-strings", 74, 58),
        ("array-int", 45, 25),
        ("short-null", 13, 7),
        ("json-org", 360, 304),
        ("wot", 266, 229),
        ("tasmota-status", 1302, 1044),
    ];

    #[test]
    fn the_ten_kinds_have_the_sizes_of_the_payloads_they_represent() {
        let groups = groups().unwrap();
        for (name, json, msgpack) in SIZES {
            let group = groups.iter().find(|group| group.name == name).unwrap();
            let value = &group.payloads[0].value;
            assert_eq!(serde_json::to_vec(value).unwrap().len(), json, "{name}");
            let size = rmp_serde::to_vec(value).unwrap().len();
            assert!(size.abs_diff(msgpack) * 100 <= msgpack * 4, "{name}: {size} bytes, expected {msgpack}");
        }
    }
}
