//! Text: a decision for each bit of its bytes, as far as UTF-8 leaves it open.

use super::coder::Coder;
use super::model::{Model, TEXT_CONTEXTS, is_key, keyed, place};
use super::predictor::{hash, hashes};
use crate::Error;
use crate::wire::At;
use dunnage_pson::Kind;
use std::collections::HashMap;

/// Stands behind each text in the history: a byte that no character begins with.
const END: u8 = 0x80;

/// Bytes that have to be the same before a match is looked for.
const MATCH: usize = 4;

/// The text before.
#[derive(Debug, Clone, Default)]
pub(super) struct History {
    bytes: Vec<u8>,
    /// Behind the last occurrence of the bytes with this hash.
    found: HashMap<u32, usize>,
    /// Where the last text of a place begins.
    texts: HashMap<u32, usize>,
}

/// The text that is being coded.
struct Walk {
    at: u32,
    under: u32,
    key: bool,
    start: usize,
    /// Hash of the bytes so far.
    prefix: u32,
    /// Of the letters and digits before, and of those before them.
    word: u32,
    last_word: u32,
    /// Of the kinds of the last characters.
    kinds: u32,
    /// Where the bytes that may come again are, and how many were the same.
    matched: Option<usize>,
    length: u32,
    /// The same for the last text of this place.
    column: Option<usize>,
    misses: u32,
    last_text: u32,
    /// Bytes of the character that are still to come.
    rest: u32,
}

impl Model {
    /// Text with between `min` and `max` code points. A reader gives none.
    pub fn text<C: Coder>(
        &mut self,
        coder: &mut C,
        at: At,
        text: Option<&str>,
        min: u32,
        max: Option<u32>,
    ) -> Result<String, Error> {
        let offset = coder.offset();
        let start = self.history.bytes.len();
        let mut walk = self.text_walk(at);
        let mut given = text.map(str::bytes);
        let mut characters = 0;
        while walk.rest > 0 || Some(characters) != max {
            let byte = given.as_mut().map(|bytes| bytes.next().unwrap_or(END));
            let byte = self.byte(coder, &mut walk, byte.unwrap_or(0), characters >= min)?;
            if byte == END && walk.rest == 0 {
                break;
            }
            characters += u32::from(walk.rest == 0);
            walk.rest = match byte {
                0..0x80 => 0,
                0x80..0xC0 => walk.rest - 1,
                0xC0..0xE0 => 1,
                0xE0..0xF0 => 2,
                _ => 3,
            };
            self.learn(&mut walk, byte);
        }
        let bytes = self.history.bytes[start..].to_vec();
        let read =
            String::from_utf8(bytes).map_err(|_| Error::new(Kind::Malformed, offset, "text is not UTF-8"))?;
        self.learn(&mut walk, END);
        for place in [walk.at, walk.under] {
            self.history.texts.insert(place, start);
        }
        self.last_text = walk.prefix;
        if walk.key {
            self.last_key = walk.prefix;
        }
        Ok(read)
    }

    /// The next byte. What UTF-8 rules out takes no decision: the first two bits of a byte inside a character, and
    /// where text may not end yet, that it goes on.
    fn byte<C: Coder>(
        &mut self,
        coder: &mut C,
        walk: &mut Walk,
        value: u8,
        may_end: bool,
    ) -> Result<u8, Error> {
        let base = self.bases(walk);
        let inside = walk.rest > 0;
        let (mut read, mut shift) = if inside { (0x80, 6) } else { (0, 8) };
        while shift > 0 {
            shift -= 1;
            if shift == 6 && read == 0x80 && !may_end {
                read |= 0x40;
                continue;
            }
            let so_far = u32::from(read) >> (shift + 1) | 1 << (7 - shift);
            let (contexts, set) = self.contexts(walk, &base, so_far, shift);
            let bit = self.decide_text(coder, &contexts, set, value >> shift & 1 != 0)?;
            read |= u8::from(bit) << shift;
            if shift == 6 && !inside && read == END {
                break;
            }
        }
        Ok(read)
    }

    fn text_walk(&self, at: At) -> Walk {
        let (at_hash, under) = (place(at), keyed(at, self.last_key));
        let column = self.history.texts.get(&under).or(self.history.texts.get(&at_hash)).copied();
        Walk {
            at: at_hash,
            under,
            key: is_key(at),
            start: self.history.bytes.len(),
            prefix: 0,
            word: 0,
            last_word: 0,
            kinds: 0,
            matched: column,
            length: 0,
            column,
            misses: 0,
            last_text: self.last_text,
            rest: 0,
        }
    }

    /// The hashes of the contexts of a byte, without its bits.
    fn bases(&self, walk: &Walk) -> [u32; TEXT_CONTEXTS] {
        let bytes = &self.history.bytes;
        let back = |n: usize| u32::from(bytes.len().checked_sub(n).map_or(END, |at| bytes[at]));
        let last4 = back(1) | back(2) << 8 | back(3) << 16 | back(4) << 24;
        let position = (bytes.len() - walk.start) as u32;
        let column = |n: usize| walk.column.map_or(0x100, |at| u32::from(bytes[at + n]));
        [
            hashes(&[20, walk.rest]),
            hashes(&[21, last4 & 0xFF]),
            hashes(&[22, last4 & 0xFFFF]),
            hashes(&[23, last4 & 0xFF_FFFF]),
            hashes(&[24, last4]),
            hashes(&[25, last4, back(5), back(6)]),
            hashes(&[26, walk.word, walk.key.into()]),
            hashes(&[27, walk.word, walk.last_word]),
            hashes(&[28, walk.under, walk.prefix]),
            hashes(&[29, walk.at, walk.prefix]),
            hashes(&[30, walk.at, last4 & 0xFF]),
            hashes(&[31, walk.at, walk.kinds & 0xFFFF]),
            hashes(&[32, walk.prefix, walk.last_text]),
            hashes(&[33, walk.under, column(0), walk.misses.min(3), last4 & 0xFF]),
            hashes(&[34, walk.kinds & 0xFFF, position.min(20)]),
            hashes(&[35, walk.length.min(24)]),
        ]
    }

    fn contexts(
        &self,
        walk: &Walk,
        base: &[u32; TEXT_CONTEXTS],
        so_far: u32,
        shift: u32,
    ) -> ([u32; TEXT_CONTEXTS], usize) {
        let mut contexts = base.map(|base| hash(base, so_far));
        let likely = walk.matched.map(|at| u32::from(self.history.bytes[at]));
        // The byte that is likely counts as long as the bits so far are its.
        let mark = |byte: u32| (byte | 0x100) >> (shift + 1);
        let expected = likely.filter(|&byte| mark(byte) == so_far);
        let expected = expected.map(|byte| byte >> shift & 1);
        let length = match (expected, walk.length) {
            (None, _) => 0,
            (_, length) => 1 + length.min(15),
        };
        contexts[TEXT_CONTEXTS - 1] =
            hashes(&[35, length, expected.unwrap_or(2), if length == 0 { 0 } else { shift }]);
        let confidence = match length {
            0 => 0,
            1..3 => 1,
            3..9 => 2,
            _ => 3,
        };
        let position = match self.history.bytes.len() - walk.start {
            0 => 0,
            1..3 => 1,
            _ => 2,
        };
        (contexts, confidence * 3 + position)
    }

    fn learn(&mut self, walk: &mut Walk, byte: u8) {
        let history = &mut self.history;
        history.bytes.push(byte);
        let end = history.bytes.len();
        walk.prefix = hash(walk.prefix, u32::from(byte) + 1);
        let kind = match byte {
            b'0'..=b'9' => 1,
            b'a'..=b'f' => 2,
            b'g'..=b'z' => 3,
            b'A'..=b'F' => 4,
            b'G'..=b'Z' => 5,
            0x80.. => 6,
            b' ' => 7,
            _ => 8 + u32::from(byte & 7),
        };
        walk.kinds = walk.kinds << 4 | kind;
        if byte.is_ascii_alphanumeric() || byte >= 0x80 {
            walk.word = hash(walk.word, byte.to_ascii_lowercase().into());
        } else if walk.word != 0 {
            walk.last_word = walk.word;
            walk.word = 0;
        }
        if let Some(at) = &mut walk.column {
            walk.misses = if history.bytes[*at] == byte { walk.misses } else { walk.misses + 1 };
            *at += 1;
            if history.bytes[*at - 1] == END {
                walk.column = None;
            }
        }
        walk.matched = walk.matched.filter(|&at| history.bytes[at] == byte).map(|at| at + 1);
        walk.length = if walk.matched.is_some() { walk.length + 1 } else { 0 };
        if end >= MATCH {
            let key = hashes(&history.bytes[end - MATCH..].iter().map(|&b| u32::from(b)).collect::<Vec<_>>());
            let before = history.found.insert(key, end);
            if walk.matched.is_none() {
                walk.matched = before;
                if let Some(at) = before {
                    let same = (0..32)
                        .take_while(|&n| n < at && history.bytes[at - 1 - n] == history.bytes[end - 1 - n]);
                    walk.length = same.count() as u32;
                    if walk.length < MATCH as u32 {
                        walk.matched = None;
                        walk.length = 0;
                    }
                }
            }
        }
    }
}
