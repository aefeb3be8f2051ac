//! The arithmetic coder: turns decisions and their probabilities into bytes, and back.

use crate::Error;
use dunnage_pson::Kind;

/// Writes or reads decisions, so that one implementation of the model serves both.
pub(super) trait Coder {
    /// Codes one decision. `p` is the probability that it is true, in units of 1/65,536, from 1 to 65,535. A writer writes `bit`
    /// and returns it. A reader ignores it and returns the decision that it reads.
    fn code(&mut self, bit: bool, p: u32) -> Result<bool, Error>;

    /// Returns the byte where the next decision begins, for the errors of a reader. A writer returns 0.
    fn offset(&self) -> usize;
}

/// The interval of numbers between 0 and 1 that are still possible. The bytes so far are their leading digits; `low` and
/// `high`, both inclusive, are the next 32 bits.
#[derive(Debug)]
struct Interval {
    low: u32,
    high: u32,
}

impl Interval {
    const WHOLE: Interval = Interval { low: 0, high: u32::MAX };

    /// Returns the last number of the part for a true decision.
    fn split(&self, p: u32) -> u32 {
        let range = self.high - self.low;
        self.low + (range >> 16) * p + (((range & 0xFFFF) * p) >> 16)
    }

    fn narrow(&mut self, split: u32, bit: bool) {
        if bit {
            self.high = split;
        } else {
            self.low = split + 1;
        }
    }

    /// Returns the next byte once it is the same for all numbers of the interval, and drops it from the interval.
    fn shift(&mut self) -> Option<u8> {
        if (self.low ^ self.high) >> 24 != 0 {
            return None;
        }
        let byte = (self.low >> 24) as u8;
        self.low <<= 8;
        self.high = self.high << 8 | 0xFF;
        Some(byte)
    }

    /// Returns the fewest bytes after which every number is in the interval, and the first such bytes if there are several.
    fn last_bytes(&self) -> Vec<u8> {
        for count in 0..4u32 {
            let unit = 1u64 << (32 - 8 * count);
            let first = u64::from(self.low).div_ceil(unit) * unit;
            if first + unit - 1 <= u64::from(self.high) {
                return first.to_be_bytes()[4..][..count as usize].to_vec();
            }
        }
        self.low.to_be_bytes().to_vec()
    }
}

/// Appends decisions to the bytes of a message.
#[derive(Debug)]
pub(super) struct Writer<'a> {
    interval: Interval,
    bytes: &'a mut Vec<u8>,
    start: usize,
}

impl<'a> Writer<'a> {
    pub fn new(bytes: &'a mut Vec<u8>) -> Self {
        Writer { interval: Interval::WHOLE, start: bytes.len(), bytes }
    }

    /// Writes the last bytes. Returns the length of the body in bytes.
    pub fn finish(self) -> usize {
        self.bytes.extend(self.interval.last_bytes());
        self.bytes.len() - self.start
    }
}

impl Coder for Writer<'_> {
    fn code(&mut self, bit: bool, p: u32) -> Result<bool, Error> {
        let split = self.interval.split(p);
        self.interval.narrow(split, bit);
        while let Some(byte) = self.interval.shift() {
            self.bytes.push(byte);
        }
        Ok(bit)
    }

    fn offset(&self) -> usize {
        0
    }
}

/// Reads decisions.
#[derive(Debug)]
pub(super) struct Reader<'a> {
    interval: Interval,
    bytes: &'a [u8],
    /// The first byte that the interval still covers.
    offset: usize,
    /// The four bytes from `offset`, with zeros after the end of the message.
    window: u32,
    /// The bits of `window` that are after the end of the message.
    unknown: u32,
}

impl<'a> Reader<'a> {
    /// Creates a reader that begins at byte `offset` of the message.
    pub fn new(bytes: &'a [u8], offset: usize) -> Self {
        let mut reader = Reader { interval: Interval::WHOLE, bytes, offset, window: 0, unknown: 0 };
        for next in offset..offset + 4 {
            reader.load(next);
        }
        reader
    }

    pub fn finish(self) -> Result<(), Error> {
        let last = self.interval.last_bytes();
        let rest = self.bytes.get(self.offset..).unwrap_or_default();
        if rest == last {
            return Ok(());
        }
        if last.starts_with(rest) {
            return Err(self.truncated());
        }
        let same = rest.iter().zip(&last).take_while(|(a, b)| a == b).count();
        Err(Error::new(Kind::Malformed, self.offset + same, "the last bytes are not those of this message"))
    }

    fn load(&mut self, at: usize) {
        let byte = self.bytes.get(at);
        self.window = self.window << 8 | u32::from(byte.copied().unwrap_or(0));
        self.unknown = self.unknown << 8 | if byte.is_some() { 0 } else { 0xFF };
    }

    fn truncated(&self) -> Error {
        Error::new(Kind::Truncated, self.bytes.len(), "the message ends before its layout does")
    }
}

impl Coder for Reader<'_> {
    fn code(&mut self, _: bool, p: u32) -> Result<bool, Error> {
        let split = self.interval.split(p);
        let bit = self.window <= split;
        // The decision depends on bits after the end of the message, so bytes are missing.
        if bit && self.window | self.unknown > split {
            return Err(self.truncated());
        }
        self.interval.narrow(split, bit);
        while self.interval.shift().is_some() {
            self.load(self.offset + 4);
            self.offset += 1;
        }
        Ok(bit)
    }

    fn offset(&self) -> usize {
        self.offset.min(self.bytes.len())
    }
}
