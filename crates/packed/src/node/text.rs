//! Text without an exact pattern: `spec/packed.md`, "Plain bodies"; times in it: "Modelled bodies".

use super::bounds::Bounds;
use crate::coded::{ExpectedBits, Leaves, expected};
use crate::decode::Decoder;
use crate::encode::{Encoder, text_of};
use crate::explain::Words;
use crate::size::{SIZED, index_bits};
use crate::wire::{At, Part, Sink, Source};
use crate::{Bits, Error, date_time, json, open};
use dunnage_pson::{Kind, Value};

/// The maximum number of bits of a character: four bytes of UTF-8.
const CHARACTER: u64 = 32;

/// Text without an exact pattern.
#[derive(Debug, Clone, PartialEq)]
pub struct TextNode {
    /// The minimum number of code points.
    pub min: u32,
    /// The maximum number of code points, if there is a bound.
    pub max: Option<u32>,
    /// Whether the format is `date-time`.
    pub date_time: bool,
}

impl TextNode {
    fn bounds(&self) -> Bounds {
        Bounds(self.min, self.max)
    }

    /// Returns whether the length of `text` is within the bounds.
    fn holds(&self, text: &str) -> bool {
        let most = self.max.map_or(usize::MAX, |max| max as usize);
        // A character has one to four bytes, so the length in bytes usually decides without counting characters.
        let certain = text.len() <= most && text.len() / 4 >= self.min as usize;
        certain || self.bounds().hold(text.chars().count())
    }

    pub(super) fn carries(&self, value: &Value) -> bool {
        matches!(value, Value::Text(text) if self.holds(text))
    }

    pub(super) fn write<S: Sink>(
        &self,
        node: u32,
        value: &Value,
        encoder: &mut Encoder<'_, S>,
    ) -> Result<(), Error> {
        let text = text_of(value, "text")?;
        if !self.holds(text) {
            return Err(Error::new(Kind::Range, 0, "text that is too short or too long"));
        }
        encoder.values.take_text(text, 0)?;
        if S::MODELLED && self.date_time {
            let seconds = date_time::parse(text);
            encoder.index(node, Part::Presence, seconds.is_some().into(), 2)?;
            if let Some(seconds) = seconds {
                return date_time::write(node, seconds, encoder.sink);
            }
        }
        encoder.sink.text(At { node, part: Part::Value }, text, self.min, self.max)
    }

    #[inline]
    pub(super) fn read<S: Source>(
        &self,
        node: u32,
        decoder: &mut Decoder<'_, S>,
        out: &mut Value,
    ) -> Result<(), Error> {
        let offset = decoder.source.offset();
        let text = self.read_text(node, decoder.source)?;
        *out = decoder.text(text, offset)?;
        Ok(())
    }

    fn read_text<S: Source>(&self, node: u32, source: &mut S) -> Result<String, Error> {
        let timed = S::MODELLED && self.date_time;
        let offset = source.offset();
        if timed && source.index(At { node, part: Part::Presence }, 2)? == 1 {
            return date_time::read(node, source);
        }
        let text = source.text(At { node, part: Part::Value }, self.min, self.max)?;
        if timed && date_time::parse(&text).is_some() {
            return Err(Error::new(Kind::Malformed, offset, "a plain time as text"));
        }
        Ok(text)
    }

    pub(super) fn bits(&self) -> Bits {
        let ascii = u64::from(self.min > 0) + 7 * u64::from(self.min);
        let Some(max) = self.max else { return Bits::open(SIZED.min + ascii) };
        let most = u64::from(max > 0) + CHARACTER * u64::from(max);
        self.bounds().bits().and(Bits { min: ascii, max: Some(most) })
    }

    pub(super) fn canonical(&self, modelled: bool, out: &mut String) {
        json::tagged("text", out, |out| {
            self.bounds().canonical(out);
            out.push_str(if self.date_time && modelled { ",\"time\":true" } else { "" });
        });
    }

    pub(super) fn expected(&self, node: u32, times: expected::Times, walk: &mut expected::Walk<'_>) {
        let (most, max) = (self.max.unwrap_or(self.min), self.bits().max.unwrap_or(0));
        let length = index_bits(u64::from(most - self.min) + 1) + u32::from(most > 0);
        let mean = f64::from(length) + 7.0 * f64::from(self.min + most) / 2.0;
        walk.opaque(node, 0, ExpectedBits { mean, max: max as f64 }, times);
    }

    pub(super) fn explain(&self) -> Words {
        let why = "how many; then 7 bits for each of ASCII, or up to 32: a pattern such as ^[ -~]{0,16}$ makes it smaller";
        Words::says(&self.bounds().explained("characters"), why)
    }
}

pub(super) fn open_parts(path: &str, walk: &mut open::Walk) {
    walk.open(path, "is text without a longest one", "add maxLength, or an anchored pattern");
}

pub(super) fn leaves(node: u32, leaves: &mut Leaves) {
    leaves.opaque(node, Part::Value, 0);
}
