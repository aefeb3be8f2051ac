//! An explanation as data, for the page.

use crate::{Bits, Item, Sink, Stop};
use serde::Serialize;
use std::{io, ops::Range};
use utoipa::ToSchema;

/// Most parts of an explanation.
const PARTS: usize = 2000;

/// The meaning of the bytes of a message.
#[derive(Debug, Default, Serialize, ToSchema)]
pub struct Explanation {
    /// In their order.
    pub parts: Vec<Part>,
    /// Whether there are more parts than these.
    pub more: bool,
    /// Why the explanation ends early: the bytes are not a message of the format, or of the schema as it is now.
    #[schema(required)]
    pub error: Option<String>,
}

/// A part of a message.
#[derive(Debug, Serialize, ToSchema)]
pub struct Part {
    /// The first of its bits, counted from the start of the message; `null` if it shares its bits with others.
    #[schema(required)]
    pub bit: Option<usize>,
    /// How many bits it has; in a coded body, its share of the bits.
    #[schema(required)]
    pub bits: Option<f64>,
    /// How deep it is nested, in formats without pointers.
    pub depth: usize,
    /// The JSON pointer of its value, in packed.
    pub path: String,
    /// The value or the kind: `23.5`, `"text"`, `map`.
    pub meaning: String,
    /// The type or the size: `binary32`, `6 entries`; and what a better writer would shorten.
    pub about: String,
}

impl Explanation {
    /// Adds how explaining has ended. That it was stopped because there are enough parts is not an error.
    pub fn ended(mut self, outcome: Result<(), Stop>) -> Explanation {
        if let Err(Stop::Error(error)) = outcome {
            self.error = Some(error.to_string());
        }
        self
    }

    /// Adds a part. Fails if there are enough.
    fn add(&mut self, part: Part) -> io::Result<()> {
        if self.parts.len() == PARTS {
            self.more = true;
            return Err(io::Error::other("enough parts"));
        }
        self.parts.push(part);
        Ok(())
    }
}

impl Sink for Explanation {
    fn item(&mut self, item: &Item<'_>) -> io::Result<()> {
        let about = [Some(item.about.as_str()), item.note.as_deref()];
        let about: Vec<_> = about.into_iter().flatten().filter(|text| !text.is_empty()).collect();
        self.add(Part {
            bit: Some(8 * item.offset),
            bits: Some(8.0 * item.bytes.len() as f64),
            depth: item.depth,
            path: String::new(),
            meaning: item.meaning.clone(),
            about: about.join("; "),
        })
    }
}

impl Bits for Explanation {
    fn part(&mut self, bits: Range<usize>, path: &str, meaning: &str) -> io::Result<()> {
        let (bit, bits) = (Some(bits.start), Some(bits.len() as f64));
        self.add(Part {
            bit,
            bits,
            depth: 0,
            path: path.into(),
            meaning: meaning.into(),
            about: String::new(),
        })
    }

    fn share(&mut self, bits: Option<f64>, path: &str, meaning: &str) -> io::Result<()> {
        self.add(Part {
            bit: None,
            bits,
            depth: 0,
            path: path.into(),
            meaning: meaning.into(),
            about: String::new(),
        })
    }
}
