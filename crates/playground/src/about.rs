//! Constants that the page needs before anything is computed.

use crate::{
    bytes::FORMATS,
    code::File,
    limits::{MESSAGES, MESSAGES_BYTES, SCHEMA_BYTES},
};
use dunnage_codegen::c::SUPPORT;
use dunnage_links::{Direction, Link, catalogue};
use dunnage_schema::bundled_named;
use dunnage_simulate::ENOUGH;
use serde::Serialize;
use serde_json::value::RawValue;
use std::collections::BTreeMap;
use utoipa::ToSchema;

/// The process that computes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum Process {
    /// A gateway, which may be on another machine.
    Gateway,
    /// `dunnage play`.
    Command,
}

/// The playground of this process.
#[derive(Debug, Serialize, ToSchema)]
pub struct About {
    process: Process,
    version: &'static str,
    /// Most messages, and most bytes of all of them together and of the schema.
    most_messages: usize,
    most_messages_bytes: usize,
    most_schema_bytes: usize,
    /// The minimum number of messages for a trained size.
    enough_to_train: usize,
    /// The formats whose bytes are explained.
    explained: Vec<&'static str>,
    /// The link catalogue.
    links: Vec<LinkObject>,
    /// The page begins with the first of them.
    examples: Vec<Example>,
    /// The C files that all generated messages of a program share.
    shared: Vec<File>,
}

/// A link.
#[derive(Debug, Serialize, ToSchema)]
struct LinkObject {
    id: &'static str,
    name: &'static str,
    /// Whether devices send over it (`up`), or receive (`down`).
    direction: &'static str,
    /// The most bytes of a message, if there is a limit and it is published.
    #[schema(required)]
    max_payload_bytes: Option<usize>,
    /// Since when it is out of service.
    #[schema(required)]
    ended: Option<&'static str>,
    /// Whether it is chosen at first.
    first: bool,
}

/// Messages and a schema to begin with.
#[derive(Debug, Serialize, ToSchema)]
struct Example {
    name: &'static str,
    /// The messages, one per line.
    messages: String,
    schema: &'static str,
}

impl About {
    /// Describes the playground of `process`.
    pub fn new(process: Process) -> About {
        About {
            process,
            version: env!("CARGO_PKG_VERSION"),
            most_messages: MESSAGES,
            most_messages_bytes: MESSAGES_BYTES,
            most_schema_bytes: SCHEMA_BYTES,
            enough_to_train: ENOUGH,
            explained: FORMATS.map(|format| format.name()).to_vec(),
            links: catalogue().iter().map(LinkObject::of).collect(),
            examples: [("container", "Container"), ("weather", "Weather station")]
                .into_iter()
                .filter_map(|(name, title)| Example::of(name, title))
                .collect(),
            shared: SUPPORT.iter().map(|(name, text)| File::of(*name, *text)).collect(),
        }
    }
}

impl LinkObject {
    fn of(link: &'static Link) -> LinkObject {
        let direction = match link.direction {
            Direction::Up => "up",
            Direction::Down => "down",
        };
        LinkObject {
            id: &link.id,
            name: &link.name,
            direction,
            max_payload_bytes: link.max_payload_bytes,
            ended: link.ended.as_deref(),
            first: link.compare && link.max_payload_bytes.is_some() && link.direction == Direction::Up,
        }
    }
}

impl Example {
    /// The bundled schema `name`, with its examples as messages.
    fn of(name: &str, title: &'static str) -> Option<Example> {
        let schema = bundled_named(name)?;
        let members: BTreeMap<String, &RawValue> = serde_json::from_str(schema).ok()?;
        let examples: Vec<&RawValue> = serde_json::from_str(members.get("examples")?.get()).ok()?;
        // A line each: JSON has line ends only between its tokens.
        let lines = examples.iter().map(|example| {
            let words = example.get().lines().map(str::trim);
            words.collect::<Vec<_>>().join(" ")
        });
        Some(Example { name: title, messages: lines.collect::<Vec<_>>().join("\n"), schema })
    }
}
