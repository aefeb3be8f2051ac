//! The messages that are measured.

use crate::Failure;
use dunnage_pson::Value;
use std::{fs, path::Path};

const PAPER: &str = include_str!("../../corpus/pson-paper.json");

/// A message with its name.
#[derive(Debug, Clone)]
pub struct Payload {
    /// Such as `Test10`; also the prefix of its names in C.
    pub name: String,
    /// What it says.
    pub value: Value,
}

/// Messages that share a firmware, so that the library's functions serve all of them, as in a device that sends several.
#[derive(Debug, Clone)]
pub struct Group {
    /// Such as `paper`; of a group of one, the payload's name.
    pub name: String,
    /// At least one.
    pub payloads: Vec<Payload>,
}

/// The ten tests of the paper, the container, the ten kinds of payload of the benchmark of JSON and MessagePack, and every JSON file
/// in `bench/mcu/payloads`.
pub fn groups() -> Result<Vec<Group>, Failure> {
    let bench = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let paper: Value = serde_json::from_str(PAPER)?;
    let Some(Value::Map(tests)) = paper.get("payloads") else {
        return Err("pson-paper.json has no payloads".into());
    };
    let tests =
        tests.iter().map(|(name, value)| Payload { name: name.clone(), value: value.clone() }).collect();

    let mut groups = vec![Group { name: "paper".into(), payloads: tests }];
    for folder in [bench.join("corpus"), bench.join("mcu/payloads")] {
        let mut files: Vec<_> =
            fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect::<Result<_, Failure>>()?;
        files.retain(|path| {
            path.extension().is_some_and(|ext| ext == "json") && !path.ends_with("pson-paper.json")
        });
        files.sort();
        for path in files {
            let payload = load(&path).map_err(|error| format!("{}: {error}", path.display()))?;
            groups.push(Group { name: payload.name.clone(), payloads: vec![payload] });
        }
    }
    Ok(groups)
}

fn load(path: &Path) -> Result<Payload, Failure> {
    let stem = path.file_stem().and_then(|stem| stem.to_str()).ok_or("its name is no text")?;
    Ok(Payload { name: stem.into(), value: serde_json::from_str(&fs::read_to_string(path)?)? })
}
