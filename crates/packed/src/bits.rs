//! Writes and reads plain bits. Each byte is filled from its highest bit down.

use crate::Error;
use crate::size::index_bits;
use crate::wire::{At, Sink, Source};
use dunnage_pson::Kind;

/// The largest value in the size field of a sized number. It means that all 64 bits follow.
const FULL: u32 = 63;
/// The number of bits in the size field of a sized number.
const SIZE_BITS: u32 = 6;

/// Appends plain bits to `out`.
pub(crate) struct Writer<'a> {
    out: &'a mut Vec<u8>,
    /// Its lowest `used` bits are not yet written. `used` is below 32.
    pending: u64,
    used: u32,
}

impl<'a> Writer<'a> {
    pub(crate) fn new(out: &'a mut Vec<u8>) -> Self {
        Writer { out, pending: 0, used: 0 }
    }

    /// Appends the lowest `bits` bits of `value`, at most 64. All higher bits of `value` must be 0.
    #[inline]
    fn put(&mut self, value: u64, bits: u32) {
        if bits > 32 {
            self.put_few(value >> 32, bits - 32);
            self.put_few(value & 0xffff_ffff, 32);
        } else {
            self.put_few(value, bits);
        }
    }

    /// Does the same as `put`, for at most 32 bits.
    #[inline]
    fn put_few(&mut self, value: u64, bits: u32) {
        self.pending = self.pending << bits | value;
        self.used += bits;
        if self.used >= 32 {
            self.used -= 32;
            self.out.extend_from_slice(&((self.pending >> self.used) as u32).to_be_bytes());
        }
    }

    /// Returns the number of bits from the start of `out`.
    pub(crate) fn bit(&self) -> usize {
        8 * self.out.len() + self.used as usize
    }

    /// Pads the last byte with zeros and writes it.
    pub(crate) fn finish(self) {
        let aligned = (self.pending << (32 - self.used)) as u32;
        self.out.extend_from_slice(&aligned.to_be_bytes()[..self.used.div_ceil(8) as usize]);
    }
}

impl Sink for Writer<'_> {
    const MODELLED: bool = false;

    #[inline]
    fn index(&mut self, _: At, value: u64, count: u64) -> Result<(), Error> {
        self.put(value, index_bits(count));
        Ok(())
    }

    fn sized(&mut self, _: At, value: u64) -> Result<(), Error> {
        let significant = u64::BITS - value.leading_zeros();
        if significant >= FULL {
            self.put(u64::from(FULL), SIZE_BITS);
            self.put(value, 64);
        } else {
            self.put(u64::from(significant), SIZE_BITS);
            if let Some(rest) = significant.checked_sub(1) {
                self.put(value & !(1 << rest), rest);
            }
        }
        Ok(())
    }

    #[inline]
    fn raw(&mut self, _: At, value: u64, bits: u32) -> Result<(), Error> {
        self.put(value, bits);
        Ok(())
    }

    fn text(&mut self, at: At, text: &str, min: u32, max: Option<u32>) -> Result<(), Error> {
        let ascii = text.is_ascii();
        let length = if ascii { text.len() } else { text.chars().count() } as u64;
        let above = length - u64::from(min);
        match max {
            Some(max) => self.index(at, above, u64::from(max - min) + 1)?,
            None => self.sized(at, above)?,
        }
        if text.is_empty() {
            return Ok(());
        }
        self.put(u64::from(!ascii), 1);
        for byte in text.bytes() {
            self.put_few(byte.into(), if ascii { 7 } else { 8 });
        }
        Ok(())
    }
}

/// Reads plain bits.
pub(crate) struct Reader<'a> {
    bytes: &'a [u8],
    /// The position of the next bit, counted from the start of the message.
    at: usize,
}

impl<'a> Reader<'a> {
    /// Creates a reader of `bytes` that begins at byte `start`.
    pub(crate) fn new(bytes: &'a [u8], start: usize) -> Self {
        Reader { bytes, at: start * 8 }
    }

    /// Returns the position of the next bit, counted from the start of the message.
    pub(crate) fn bit(&self) -> usize {
        self.at
    }

    /// Reads the next `bits` bits, at most 64.
    #[inline(always)]
    fn take(&mut self, bits: u32) -> Result<u64, Error> {
        if bits > 32 {
            let high = self.take_few(bits - 32)?;
            return Ok(high << 32 | self.take_few(32)?);
        }
        self.take_few(bits)
    }

    /// Does the same as `take`, for at most 32 bits.
    #[inline(always)]
    fn take_few(&mut self, bits: u32) -> Result<u64, Error> {
        let end = self.at + bits as usize;
        if end > self.bytes.len() * 8 {
            return Err(self.truncated());
        }
        let (byte, bit) = (self.at / 8, self.at % 8);
        let window = match self.bytes.get(byte..).and_then(|rest| rest.first_chunk::<8>()) {
            Some(eight) => u64::from_be_bytes(*eight),
            None => {
                let rest = &self.bytes[byte..];
                let mut eight = [0; 8];
                eight[..rest.len()].copy_from_slice(rest);
                u64::from_be_bytes(eight)
            }
        };
        self.at = end;
        // Two shifts, because a shift by 64 overflows when `bits` is 0.
        Ok((window << bit >> 1) >> (63 - bits))
    }

    #[cold]
    fn truncated(&self) -> Error {
        Error::new(Kind::Truncated, self.bytes.len(), "the message ends before its layout does")
    }

    /// Checks that the last byte is padded with zeros and that no bytes follow it.
    pub(crate) fn finish(mut self) -> Result<(), Error> {
        let (offset, fill) = (self.offset(), self.at.next_multiple_of(8) - self.at);
        if self.take(fill as u32)? != 0 {
            return Err(Error::new(Kind::Malformed, offset, "the bits that fill the last byte are not 0"));
        }
        let end = self.at / 8;
        if end < self.bytes.len() {
            let more = self.bytes.len() - end;
            return Err(Error::new(Kind::Malformed, end, format!("bytes behind the message: {more}")));
        }
        Ok(())
    }

    fn ascii(&mut self, length: u64) -> Result<String, Error> {
        // Reserves at most as many characters as the remaining bits can hold.
        let left = (self.bytes.len() * 8 - self.at) / 7;
        let mut text = String::with_capacity(usize::try_from(length).map_or(left, |n| n.min(left)));
        for _ in 0..length {
            text.push(char::from(self.take_few(7)? as u8));
        }
        Ok(text)
    }

    fn unicode(&mut self, length: u64) -> Result<String, Error> {
        let form = (self.at - 1) / 8;
        let mut text = String::new();
        for _ in 0..length {
            let offset = self.offset();
            let mut character = [self.take_few(8)? as u8, 0, 0, 0];
            let size = match character[0] {
                0xc2..=0xdf => 2,
                0xe0..=0xef => 3,
                0xf0..=0xf4 => 4,
                _ => 1,
            };
            for byte in &mut character[1..size] {
                *byte = self.take_few(8)? as u8;
            }
            match std::str::from_utf8(&character[..size]) {
                Ok(character) => text.push_str(character),
                Err(_) => return Err(Error::new(Kind::Malformed, offset, "text that is not UTF-8")),
            }
        }
        if text.is_ascii() {
            return Err(Error::new(Kind::Malformed, form, "ASCII text in more than 7 bits a character"));
        }
        Ok(text)
    }
}

impl Source for Reader<'_> {
    const MODELLED: bool = false;
    type Plain = Writer<'static>;

    #[inline(always)]
    fn index(&mut self, _: At, count: u64) -> Result<u64, Error> {
        let offset = self.offset();
        match self.take(index_bits(count))? {
            value if value < count => Ok(value),
            value => Err(out_of_range(offset, value, count)),
        }
    }

    fn sized(&mut self, _: At) -> Result<u64, Error> {
        let offset = self.offset();
        match self.take(SIZE_BITS)? as u32 {
            0 => Ok(0),
            FULL => match self.take(64)? {
                value if value >> (FULL - 1) > 0 => Ok(value),
                _ => Err(Error::new(Kind::Malformed, offset, "a number with more bits than it needs")),
            },
            significant => Ok(1 << (significant - 1) | self.take(significant - 1)?),
        }
    }

    #[inline]
    fn raw(&mut self, _: At, bits: u32) -> Result<u64, Error> {
        self.take(bits)
    }

    fn text(&mut self, at: At, min: u32, max: Option<u32>) -> Result<String, Error> {
        let above = match max {
            Some(max) => self.index(at, u64::from(max - min) + 1)?,
            None => self.sized(at)?,
        };
        let length = above.saturating_add(min.into());
        if length == 0 {
            return Ok(String::new());
        }
        match self.take(1)? {
            0 => self.ascii(length),
            _ => self.unicode(length),
        }
    }

    #[inline]
    fn offset(&self) -> usize {
        self.at / 8
    }
}

#[cold]
fn out_of_range(offset: usize, value: u64, count: u64) -> Error {
    Error::new(Kind::Range, offset, format!("{value} is not below {count}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::Part;
    use proptest::prelude::*;

    const AT: At = At { node: 0, part: Part::Value };

    #[test]
    fn a_number_has_one_size() {
        for (value, hex) in [
            (0, "00"),
            (1, "04"),
            (2, "08"),
            (3, "0a"),
            ((1 << 62) - 1, "fbffffffffffffffe0"),
            (1 << 62, "fd0000000000000000"),
            (u64::MAX, "fffffffffffffffffc"),
        ] {
            let mut out = Vec::new();
            let mut writer = Writer::new(&mut out);
            writer.sized(AT, value).unwrap();
            writer.finish();
            let written: String = out.iter().map(|byte| format!("{byte:02x}")).collect();
            assert_eq!(written, hex, "{value}");
            assert_eq!(Reader::new(&out, 0).sized(AT), Ok(value));
        }
        // The value 2^62 - 1, written with 64 bits.
        let long = [0xfc, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xfc];
        assert_eq!(Reader::new(&long, 0).sized(AT).unwrap_err().kind(), Kind::Malformed);
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(parts in proptest::collection::vec((any::<u64>(), 0u32..=64), 0..40)) {
            let mut out = vec![7];
            let mut writer = Writer::new(&mut out);
            let parts: Vec<_> = parts.into_iter().map(|(v, bits)| (v.checked_shr(64 - bits).unwrap_or(0), bits)).collect();
            for (value, bits) in &parts {
                writer.put(*value, *bits);
            }
            writer.finish();
            let bits: u32 = parts.iter().map(|(_, bits)| bits).sum();
            prop_assert_eq!(out.len(), 1 + bits.div_ceil(8) as usize);
            let mut reader = Reader::new(&out, 1);
            for (value, bits) in &parts {
                prop_assert_eq!(reader.take(*bits).unwrap(), *value);
            }
            prop_assert!(reader.finish().is_ok());
        }
    }
}
