//! The range coder of coded bodies: turns symbols into bytes, and back. `spec/packed.md`, "The range coder".
//!
//! A writer only multiplies by a byte and shifts, so that a device without division can do it.

use crate::Error;
use dunnage_pson::Kind;

/// The range never falls below this between two symbols.
const SMALLEST: u32 = 1 << 24;
/// The most bits of one symbol.
const CHUNK: u32 = 16;

/// A symbol by its place in the range: the sum of the frequencies of the symbols before it, and its own frequency.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Symbol {
    pub start: u32,
    pub frequency: u32,
}

/// Writes or reads symbols, so that one implementation of the model serves both.
pub(crate) trait Coder {
    /// Whether symbols are read.
    const READS: bool;

    /// Codes a symbol of an alphabet whose frequencies add up to 2^`bits`, `bits` from 1 to 16. A writer writes `known` and returns it.
    /// A reader ignores it, and returns the symbol that `find` returns for the cumulative frequency that it has read.
    fn symbol(&mut self, bits: u32, known: Symbol, find: impl FnMut(u32) -> Symbol) -> Result<Symbol, Error>;

    /// Returns the byte where the next symbol begins, for the errors of a reader. A writer returns 0.
    fn offset(&self) -> usize;

    /// Codes the lowest `bits` bits of `value`, at most 64, all equally likely, and returns them.
    fn bits(&mut self, value: u64, bits: u32) -> Result<u64, Error> {
        let (mut left, mut coded) = (bits, 0);
        while left > 0 {
            let now = left.min(CHUNK);
            left -= now;
            let first = (value >> left) as u32 & ((1 << now) - 1);
            let symbol = self.symbol(now, Symbol { start: first, frequency: 1 }, |first| Symbol {
                start: first,
                frequency: 1,
            })?;
            coded = coded << now | u64::from(symbol.start);
        }
        Ok(coded)
    }
}

/// The numbers that are still possible: from `low` to below `low + range`, in units of 2^-32 of the last byte that left the interval.
#[derive(Debug)]
struct Interval {
    low: u32,
    range: u32,
}

impl Interval {
    const WHOLE: Interval = Interval { low: 0, range: u32::MAX };

    /// Returns the fewest bytes after which every number is in the interval: the distance of the first such number from `low`, and
    /// the number of bytes.
    fn end(&self) -> (u64, usize) {
        let (low, above) = (u64::from(self.low), u64::from(self.low) + u64::from(self.range));
        let end = |count: usize| {
            let unit = 1 << (32 - 8 * count);
            let first = low.div_ceil(unit) * unit;
            (first + unit <= above).then_some((first - low, count))
        };
        // The range is at least 2^24, so that two bytes are always enough.
        (0..2).find_map(end).or_else(|| end(2)).unwrap_or((0, 4))
    }
}

/// Appends symbols to the bytes of a message.
#[derive(Debug)]
pub(crate) struct Writer<'a> {
    interval: Interval,
    bytes: &'a mut Vec<u8>,
}

impl<'a> Writer<'a> {
    /// Creates a writer that appends to `bytes`.
    pub fn new(bytes: &'a mut Vec<u8>) -> Self {
        Writer { interval: Interval::WHOLE, bytes }
    }

    /// Raises the lower end. A carry goes to the bytes before it, which cannot overflow, because the interval stays below 1.
    fn raise(&mut self, by: u32) {
        let mut carry;
        (self.interval.low, carry) = self.interval.low.overflowing_add(by);
        for byte in self.bytes.iter_mut().rev() {
            if !carry {
                break;
            }
            (*byte, carry) = byte.overflowing_add(1);
        }
    }

    /// Writes the last bytes.
    pub fn finish(mut self) {
        let (distance, count) = self.interval.end();
        // The distance is below the range, which has 32 bits.
        self.raise(distance as u32);
        self.bytes.extend_from_slice(&self.interval.low.to_be_bytes()[..count]);
    }
}

impl Coder for Writer<'_> {
    const READS: bool = false;

    fn symbol(&mut self, bits: u32, known: Symbol, _: impl FnMut(u32) -> Symbol) -> Result<Symbol, Error> {
        let unit = self.interval.range >> bits;
        self.raise(unit * known.start);
        self.interval.range = unit * known.frequency;
        while self.interval.range < SMALLEST {
            self.bytes.push((self.interval.low >> 24) as u8);
            self.interval.low <<= 8;
            self.interval.range <<= 8;
        }
        Ok(known)
    }

    fn offset(&self) -> usize {
        0
    }
}

/// Reads symbols.
#[derive(Debug)]
pub(crate) struct Reader<'a> {
    interval: Interval,
    /// The next four bytes of the message as a number, minus the lower end of the interval. Bytes after the end of the message count
    /// as 0.
    above: u32,
    /// The bits of those four bytes that are after the end of the message.
    unknown: u32,
    bytes: &'a [u8],
    /// The first byte that is not one of those four.
    next: usize,
}

impl<'a> Reader<'a> {
    /// Creates a reader that begins at byte `offset` of the message.
    pub fn new(bytes: &'a [u8], offset: usize) -> Self {
        let mut reader = Reader { interval: Interval::WHOLE, above: 0, unknown: 0, bytes, next: offset };
        for _ in 0..4 {
            reader.load();
        }
        reader
    }

    fn load(&mut self) {
        let byte = self.bytes.get(self.next);
        self.above = self.above << 8 | u32::from(byte.copied().unwrap_or(0));
        self.unknown = self.unknown << 8 | if byte.is_some() { 0 } else { 0xff };
        self.next += 1;
    }

    /// Returns the bits of information that were read, counted from the first byte of the message. A symbol of the frequency 1 out of 4 has 2.
    pub fn read_bits(&self) -> f64 {
        8.0 * (self.next - 4) as f64 + f64::from(u32::BITS) - f64::from(self.interval.range).log2()
    }

    /// Checks that the message ends here, with the bytes that a writer would have written.
    pub fn finish(self) -> Result<(), Error> {
        let start = self.next - 4;
        let left = self.bytes.len().saturating_sub(start);
        let (distance, count) = self.interval.end();
        if left < count {
            return Err(self.truncated());
        }
        if left > count {
            return Err(Error::new(Kind::Malformed, start + count, "bytes after the end of the message"));
        }
        if u64::from(self.above) == distance {
            return Ok(());
        }
        Err(Error::new(Kind::Malformed, self.offset(), "the last bytes are not those of this message"))
    }

    fn truncated(&self) -> Error {
        Error::new(Kind::Truncated, self.bytes.len(), "the message ends before its layout does")
    }
}

impl Coder for Reader<'_> {
    const READS: bool = true;

    fn symbol(&mut self, bits: u32, _: Symbol, mut find: impl FnMut(u32) -> Symbol) -> Result<Symbol, Error> {
        let unit = self.interval.range >> bits;
        let part = self.above / unit;
        if part >> bits != 0 {
            return Err(Error::new(Kind::Malformed, self.offset(), "a number beyond the range of the coder"));
        }
        let read = find(part);
        // Bytes that are missing decide between this and others.
        if u64::from(self.above) + u64::from(self.unknown)
            >= u64::from(unit) * u64::from(read.start + read.frequency)
        {
            return Err(self.truncated());
        }
        self.above -= unit * read.start;
        self.interval.low = self.interval.low.wrapping_add(unit * read.start);
        self.interval.range = unit * read.frequency;
        while self.interval.range < SMALLEST {
            self.interval.low <<= 8;
            self.interval.range <<= 8;
            self.load();
        }
        Ok(read)
    }

    fn offset(&self) -> usize {
        (self.next - 4).min(self.bytes.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Steps of one to sixteen bits, each with some of its symbol.
    fn steps() -> impl Strategy<Value = Vec<(u32, Symbol)>> {
        let step = (1u32..=16).prop_flat_map(|bits| {
            let all = 1u32 << bits;
            (0..all).prop_flat_map(move |first| {
                (1..=all - first).prop_map(move |count| (bits, Symbol { start: first, frequency: count }))
            })
        });
        prop::collection::vec(step, 0..60)
    }

    fn write(steps: &[(u32, Symbol)]) -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut writer = Writer::new(&mut bytes);
        for (bits, symbol) in steps {
            writer.symbol(*bits, *symbol, |_| *symbol).unwrap();
        }
        writer.finish();
        bytes
    }

    fn read(steps: &[(u32, Symbol)], bytes: &[u8]) -> Result<Vec<Symbol>, Error> {
        let mut reader = Reader::new(bytes, 0);
        let mut read = Vec::new();
        for (bits, symbol) in steps {
            let inside = |part| (symbol.start..symbol.start + symbol.frequency).contains(&part);
            let find = |part| if inside(part) { *symbol } else { Symbol { start: part, frequency: 1 } };
            read.push(reader.symbol(*bits, *symbol, find)?);
        }
        reader.finish()?;
        Ok(read)
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(steps in steps()) {
            let bytes = write(&steps);
            let symbols: Vec<Symbol> = steps.iter().map(|(_, symbol)| *symbol).collect();
            prop_assert_eq!(read(&steps, &bytes).unwrap(), symbols);
            for length in 0..bytes.len() {
                let error = read(&steps, &bytes[..length]).unwrap_err();
                prop_assert_eq!(error.kind(), Kind::Truncated);
            }
            let mut longer = bytes.clone();
            longer.push(0);
            prop_assert_eq!(read(&steps, &longer).unwrap_err().kind(), Kind::Malformed);
        }

        #[test]
        fn other_bytes_are_other_parts_or_an_error(steps in steps(), bytes in prop::collection::vec(any::<u8>(), 0..20)) {
            if let Ok(symbol) = read(&steps, &bytes) {
                let same: Vec<(u32, Symbol)> = steps.iter().zip(symbol).map(|((bits, _), symbol)| (*bits, symbol)).collect();
                prop_assert_eq!(write(&same), bytes);
            }
        }
    }
}
