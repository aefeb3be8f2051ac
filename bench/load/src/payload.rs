//! Messages of a simulated fleet in the posted formats. They are encoded before the measurements.

use crate::Failure;
use dunnage_formats::{Id, Mapping, Value};
use dunnage_links::fleet::Fleet;
use dunnage_schema::{Model, bundled_named};
use std::{fmt::Write as _, path::Path};

/// The seed of the fleet.
const SEED: u64 = 7;
/// Reports per container, and the seconds between them.
const REPORTS: usize = 4;
const SECONDS: f64 = 900.0;

/// The containers' messages in one format.
pub struct Payload {
    /// The name in the results.
    pub name: &'static str,
    pub content_type: &'static str,
    /// Whether the Node service has a decoder.
    pub node: bool,
    /// Device and body. The first reports of all containers precede the second ones.
    pub bodies: Vec<(String, Vec<u8>)>,
}

/// The name and ID of each format, and whether the Node service decodes it; the formats of the goals come first. Protobuf and struct-zlib use
/// the mapping that people would write by hand.
const FORMATS: [(&str, Id, bool); 7] = [
    ("protobuf (float32)", Id::Protobuf, true),
    ("cbor", Id::Cbor, true),
    ("msgpack", Id::Msgpack, true),
    ("pson", Id::Pson, false),
    ("packed", Id::Packed, false),
    ("struct-zlib (float32)", Id::StructZlib, true),
    ("json", Id::Json, true),
];

/// The messages of a number of containers in all formats.
pub fn all(containers: usize) -> Result<Vec<Payload>, Failure> {
    let schema = bundled_named("container").ok_or("there is no schema for containers")?;
    let model = Model::compile(schema)?;
    let messages = messages(containers);
    let payload = |&(name, id, node): &(_, Id, _)| {
        let codec = id.open(Some(&model), mapping(id))?;
        let encoded = messages.iter().map(|(device, message)| {
            let mut body = Vec::new();
            codec.encode(message, &mut body)?;
            Ok((device.clone(), body))
        });
        let bodies = encoded.collect::<Result<_, Failure>>()?;
        Ok(Payload { name, content_type: id.media_type(), node, bodies })
    };
    FORMATS.iter().map(payload).collect()
}

/// The devices of a number of containers, and their messages.
pub fn messages(containers: usize) -> Vec<(String, Value)> {
    let mut fleet = Fleet::new(SEED, containers);
    let mut messages = Vec::new();
    for _ in 0..REPORTS {
        fleet.step(SECONDS);
        messages.extend(fleet.containers().iter().map(|c| (c.device().to_owned(), c.message())));
    }
    messages
}

/// The gateway's profile of all devices, as TOML.
pub fn profile() -> String {
    let proto = concat!(env!("CARGO_MANIFEST_DIR"), "/../../crates/gateway/tests/container.proto");
    format!("[[profile]]\ndevice = \"*\"\nschema = \"container\"\nproto = {proto:?}\nmapping = \"float32\"\n")
}

fn mapping(id: Id) -> Mapping {
    match id {
        Id::Protobuf | Id::StructZlib => Mapping::Float32,
        _ => Mapping::Exact,
    }
}

impl Payload {
    /// The mean size of a body in bytes.
    pub fn mean_bytes(&self) -> f64 {
        self.bodies.iter().map(|(_, body)| body.len()).sum::<usize>() as f64 / self.bodies.len() as f64
    }

    /// Writes for each message a line with the device, a space and the length of the body, and then the body, as `post.lua` reads them.
    pub fn write_bodies(&self, path: &Path) -> Result<(), Failure> {
        let mut all = Vec::new();
        for (device, body) in &self.bodies {
            all.extend(format!("{device} {}\n", body.len()).into_bytes());
            all.extend(body);
        }
        Ok(std::fs::write(path, all)?)
    }

    /// Writes a line per message: the device, a space, the body in hexadecimal digits.
    pub fn write_lines(&self, path: &Path) -> Result<(), Failure> {
        let mut text = String::new();
        for (device, body) in &self.bodies {
            let _ = write!(text, "{device} ");
            body.iter().for_each(|byte| {
                let _ = write!(text, "{byte:02x}");
            });
            text.push('\n');
        }
        Ok(std::fs::write(path, text)?)
    }
}
