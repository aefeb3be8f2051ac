//! Several numbers in one text: `spec/packed.md`, "Plain bodies" and "Numbers".

use super::number::Number;
use crate::coded::{Leaves, expected};
use crate::decode::{Decoder, reused};
use crate::encode::{Encoder, text_of};
use crate::path::Place;
use crate::wire::{Sink, Source};
use crate::{Bits, Error, explain, json};
use dunnage_pson::{Kind, Value};

/// The number of bytes that are reserved for the text.
const ROOM: usize = 32;

/// Several numbers in one text, with names for generated code.
#[derive(Debug, Clone, PartialEq)]
pub struct NumbersNode {
    /// The text between two numbers.
    pub separator: String,
    /// The name and number of each part. The source of each number is [`crate::Source::Text`].
    pub parts: Vec<(String, Number)>,
}

impl NumbersNode {
    pub(super) fn carries(&self, value: &Value) -> bool {
        let Value::Text(text) = value else { return false };
        let mut pieces = text.split(self.separator.as_str());
        self.parts.iter().all(|(_, part)| pieces.next().is_some_and(|piece| part.of_text(piece).is_ok()))
            && pieces.next().is_none()
    }

    pub(super) fn write<S: Sink>(
        &self,
        node: u32,
        value: &Value,
        encoder: &mut Encoder<'_, S>,
    ) -> Result<(), Error> {
        let text = text_of(value, "numbers in text")?;
        let mut pieces = text.split(self.separator.as_str());
        for (nth, (_, part)) in self.parts.iter().enumerate() {
            encoder.sink.nth(node, nth);
            let piece = pieces.next().ok_or_else(|| Error::new(Kind::Range, 0, "too few numbers"))?;
            part.write_whole(node, part.of_text(piece)?, encoder.sink)?;
        }
        match pieces.next() {
            None => encoder.values.take_text(text, 0),
            Some(_) => Err(Error::new(Kind::Range, 0, "too many numbers")),
        }
    }

    #[inline]
    pub(super) fn read<S: Source>(
        &self,
        node: u32,
        decoder: &mut Decoder<'_, S>,
        out: &mut Value,
    ) -> Result<(), Error> {
        let offset = decoder.source.offset();
        let mut text = reused(out);
        text.reserve(ROOM);
        for (i, (_, part)) in self.parts.iter().enumerate() {
            if i > 0 {
                text.push_str(&self.separator);
            }
            decoder.source.nth(node, i);
            let n = part.read_whole(node, decoder.source)?;
            part.append_text(n, &mut text);
        }
        *out = decoder.text(text, offset)?;
        Ok(())
    }

    pub(super) fn bits(&self) -> Bits {
        Bits::sum(self.parts.iter().map(|(_, part)| part.bits()))
    }

    pub(super) fn canonical(&self, out: &mut String) {
        json::tagged("numbers", out, |out| {
            out.push('[');
            json::string(&self.separator, out);
            for (_, part) in &self.parts {
                out.push(',');
                part.canonical(out);
            }
            out.push(']');
        });
    }

    pub(super) fn leaves(&self, node: u32, leaves: &mut Leaves) {
        for (nth, (_, part)) in self.parts.iter().enumerate() {
            part.leaves(node, nth, leaves);
        }
    }

    pub(super) fn expected(&self, node: u32, times: expected::Times, walk: &mut expected::Walk<'_>) {
        for (nth, (_, part)) in self.parts.iter().enumerate() {
            part.expected(node, nth, times, walk);
        }
    }

    pub(super) fn explain(
        &self,
        path: &str,
        times: explain::Times,
        lead: &explain::Lead,
        walk: &mut explain::Walk,
    ) {
        let none = explain::Lead::default();
        for (i, (name, part)) in self.parts.iter().enumerate() {
            // The presence bits come before the first number.
            let (lead, times) = if i == 0 { (lead, times) } else { (&none, times.behind(lead)) };
            walk.push(&Place::Field(name).below(path), "number", part.bits(), part.explain(), times, lead);
        }
    }
}
