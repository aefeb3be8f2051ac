//! The container message in the formats that are posted.

use crate::Failure;
use dunnage_formats::{Id, Mapping};
use dunnage_schema::{Model, bundled_named};

const MESSAGE: &[u8] = include_bytes!("../../corpus/container.json");

/// A body, and what the gateway knows about the devices that post it.
pub struct Payload {
    /// The name in the results.
    pub name: &'static str,
    pub content_type: &'static str,
    pub body: Vec<u8>,
    /// `[[profile]]`
    pub profile: String,
}

/// What is posted, the first being what the goals are about.
pub fn all() -> Result<Vec<Payload>, Failure> {
    let mut payloads = vec![by_hand()?];
    for id in [Id::Protobuf, Id::Json, Id::Cbor, Id::Msgpack, Id::Pson] {
        payloads.push(Payload {
            name: id.name(),
            content_type: id.media_type(),
            body: encode(id, Mapping::Exact)?,
            profile: "[[profile]]\ndevice = \"*\"\nschema = \"container\"\n".into(),
        });
    }
    Ok(payloads)
}

/// Protobuf with the mapping and the .proto that people write by hand: 138 bytes.
fn by_hand() -> Result<Payload, Failure> {
    let proto = concat!(env!("CARGO_MANIFEST_DIR"), "/../../crates/gateway/tests/container.proto");
    let profile = format!(
        "[[profile]]\ndevice = \"*\"\nschema = \"container\"\nproto = {proto:?}\nmapping = \"float32\"\n"
    );
    let body = encode(Id::Protobuf, Mapping::Float32)?;
    if body.len() != 138 {
        return Err(format!("the Protobuf body has {} bytes", body.len()).into());
    }
    Ok(Payload { name: "protobuf (float32)", content_type: Id::Protobuf.media_type(), body, profile })
}

fn encode(id: Id, mapping: Mapping) -> Result<Vec<u8>, Failure> {
    let schema = bundled_named("container").ok_or("there is no schema for containers")?;
    let model = Model::compile(schema)?;
    let message = Id::Json.open(None, Mapping::Exact)?.decode(MESSAGE)?;
    let mut body = Vec::new();
    id.open(Some(&model), mapping)?.encode(&message, &mut body)?;
    Ok(body)
}
