//! Codes text: a decision for each bit of its bytes that UTF-8 does not determine.

use super::coder::Coder;
use super::hash::{hash, hashes};
use super::history::END;
use super::model::{Model, SECOND_SETS, TEXT_CONTEXTS};
use crate::Error;
use crate::wire::{At, Part};
use dunnage_pson::Kind;

/// The state of the text that is being coded.
struct Walk {
    /// Hashes of its place, and of its place with the last key.
    place: u32,
    under: u32,
    key: bool,
    /// The index in the history where it begins.
    start: usize,
    /// Hashes of the bytes so far, of the letters of the current word, and of the previous word.
    prefix: u32,
    word: u32,
    last_word: u32,
    /// The classes of the last eight bytes, four bits each.
    kinds: u32,
    /// The index in the history of the predicted byte, and the length of the match before it.
    likely: Option<usize>,
    length: u32,
    /// The index in the history of the corresponding byte of the last text of this place, and how many bytes before it differed.
    column: Option<usize>,
    misses: u32,
    /// The number of bytes that the current character still lacks.
    rest: u32,
}

impl Model {
    /// Codes text of `min` to `max` code points. A reader passes no text.
    pub fn text<C: Coder>(
        &mut self,
        coder: &mut C,
        at: At,
        text: Option<&str>,
        min: u32,
        max: Option<u32>,
    ) -> Result<String, Error> {
        let offset = coder.offset();
        let start = self.history.len();
        let mut walk = self.text_walk(at);
        let mut given = text.unwrap_or_default().bytes();
        let mut characters = 0;
        while walk.rest > 0 || Some(characters) != max {
            let byte = self.byte(coder, &walk, given.next().unwrap_or(END), characters >= min)?;
            if byte == END && walk.rest == 0 {
                break;
            }
            characters += u32::from(walk.rest == 0);
            self.learn(&mut walk, byte);
        }
        let bytes = self.history.from(start).to_vec();
        let text = String::from_utf8(bytes);
        let text = text.map_err(|_| Error::new(Kind::Malformed, offset, "text that is not UTF-8"))?;
        self.learn(&mut walk, END);
        self.history.remember(walk.place, start);
        self.history.remember(walk.under, start);
        self.last_text = walk.prefix;
        if walk.key {
            self.last_key = walk.prefix;
        }
        Ok(text)
    }

    /// Codes the next byte. Bits that UTF-8 determines take no decision: the first two bits of a byte inside a character, and
    /// the bit that the text goes on while it may not end yet.
    fn byte<C: Coder>(&mut self, coder: &mut C, walk: &Walk, byte: u8, may_end: bool) -> Result<u8, Error> {
        let bases = self.bases(walk);
        let mut half = bases;
        let inside = walk.rest > 0;
        let (mut read, mut shift) = if inside { (END, 6) } else { (0, 8) };
        while shift > 0 {
            shift -= 1;
            if shift == 6 && read == END && !may_end {
                read |= 0x40;
                continue;
            }
            if shift == 3 {
                half = bases.map(|base| hash(base, u32::from(read >> 4) + 1));
            }
            let (contexts, sets) = self.text_contexts(walk, &half, read, shift);
            let bit = byte >> shift & 1 != 0;
            let bit = self.decisions.code(&mut self.text_mixer, coder, &contexts, sets, bit)?;
            read |= u8::from(bit) << shift;
            if shift == 6 && !inside && read == END {
                break;
            }
        }
        Ok(read)
    }

    fn text_walk(&self, at: At) -> Walk {
        let (place, under) = (at.place(), at.under(self.last_key));
        let column = self.history.text_of(under).or(self.history.text_of(place));
        Walk {
            place,
            under,
            key: at.part == Part::Key,
            start: self.history.len(),
            prefix: 0,
            word: 0,
            last_word: 0,
            kinds: 0,
            likely: column,
            length: 0,
            column,
            misses: 0,
            rest: 0,
        }
    }

    /// Returns the hashes of the contexts of a byte, without its bits.
    fn bases(&self, walk: &Walk) -> [u32; TEXT_CONTEXTS] {
        let [a, b, c, d, e, f] = self.history.last();
        let position = (self.history.len() - walk.start).min(20) as u32;
        let column = walk.column.map_or(0x100, |at| self.history.byte(at).into());
        [
            hashes(&[20, walk.rest]),
            hashes(&[21, a]),
            hashes(&[22, a | b << 8]),
            hashes(&[23, a | b << 8 | c << 16]),
            hashes(&[24, a | b << 8 | c << 16 | d << 24]),
            hashes(&[25, a | b << 8 | c << 16 | d << 24, e, f]),
            hashes(&[26, walk.word]),
            hashes(&[27, walk.word, walk.last_word]),
            hashes(&[28, walk.under, walk.prefix]),
            hashes(&[29, walk.place, walk.prefix]),
            hashes(&[30, walk.place, a]),
            hashes(&[31, walk.place, walk.kinds & 0xFFFF]),
            hashes(&[32, walk.key.into(), walk.word]),
            hashes(&[33, walk.under, column, walk.misses.min(3), a]),
            hashes(&[34, walk.kinds & 0xFFF, position]),
            0,
        ]
    }

    /// Returns the contexts of the bit `shift` of a byte, given its higher bits in `read`, and the weight sets.
    fn text_contexts(
        &self,
        walk: &Walk,
        half: &[u32; TEXT_CONTEXTS],
        read: u8,
        shift: u32,
    ) -> ([u32; TEXT_CONTEXTS], [usize; 2]) {
        // The bits of the current half byte, after a leading 1, select one of sixteen neighbouring slots of the table.
        let node = if shift > 3 {
            1 << (7 - shift) | u32::from(read) >> (shift + 1)
        } else {
            1 << (3 - shift) | u32::from(read & 15) >> (shift + 1)
        };
        let mut contexts = half.map(|context| context ^ node);
        // The predicted byte counts only while the bits so far agree with it.
        let likely = walk.likely.map(|at| u32::from(self.history.byte(at)));
        let likely = likely.filter(|byte| byte >> (shift + 1) == u32::from(read) >> (shift + 1));
        let length = likely.map_or(0, |_| 1 + walk.length.min(15));
        contexts[TEXT_CONTEXTS - 1] =
            likely.map_or_else(|| hashes(&[35, 0]), |byte| hashes(&[35, length, byte >> shift & 1, shift]));
        let confidence = match length {
            0 => 0,
            1..3 => 1,
            3..9 => 2,
            _ => 3,
        };
        let position = match self.history.len() - walk.start {
            0 => 0,
            1..3 => 1,
            _ => 2,
        };
        let sets =
            [confidence * 16 + (walk.kinds & 15) as usize, SECOND_SETS + position * 8 + shift as usize];
        (contexts, sets)
    }

    fn learn(&mut self, walk: &mut Walk, byte: u8) {
        if let Some(at) = walk.column {
            let there = self.history.byte(at);
            walk.misses += u32::from(there != byte);
            walk.column = (there != END).then_some(at + 1);
        }
        let goes_on = walk.likely.filter(|&at| self.history.byte(at) == byte);
        let matched = self.history.push(byte);
        (walk.likely, walk.length) = match (goes_on, matched) {
            (Some(at), _) => (Some(at + 1), walk.length + 1),
            (None, Some((at, length))) => (Some(at), length),
            (None, None) => (None, 0),
        };
        walk.learn(byte);
    }
}

impl Walk {
    fn learn(&mut self, byte: u8) {
        self.rest = match byte {
            0..0x80 => 0,
            0x80..0xC0 => self.rest.saturating_sub(1),
            0xC0..0xE0 => 1,
            0xE0..0xF0 => 2,
            0xF0.. => 3,
        };
        self.prefix = hash(self.prefix, u32::from(byte) + 1);
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
        // A word ends before a byte that is not a letter, and before a capital after a small letter or a digit.
        let letter = byte.is_ascii_alphabetic() || byte >= 0x80;
        if self.word != 0 && (!letter || byte.is_ascii_uppercase() && (1..4).contains(&(self.kinds & 15))) {
            self.last_word = self.word;
            self.word = 0;
        }
        if letter {
            self.word = hash(self.word, byte.to_ascii_lowercase().into());
        }
        self.kinds = self.kinds << 4 | kind;
    }
}
