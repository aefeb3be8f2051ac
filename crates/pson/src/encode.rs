//! Writes single items in canonical form.

#[cfg(feature = "alloc")]
use crate::Append;
use crate::{
    Error, Floats, Kind, Options,
    number::{self, Number, canonical},
    sink::sealed::Sink,
    wire,
};
#[cfg(feature = "alloc")]
use alloc::vec::Vec;

/// The maximum length of a header: one byte, and a varint of at most 10 bytes.
const LONGEST_HEADER: usize = 11;

/// Writes items one after another in canonical form, and checks nothing: the caller makes sure that they form a message, that no map has a key
/// twice, and that the limits hold. [`Writer`](crate::Writer) counts the items instead.
///
/// ```
/// # #[cfg(feature = "alloc")] {
/// use dunnage_pson::{Encoder, Options};
///
/// let mut bytes = Vec::new();
/// let mut encoder = Encoder::with_vec(&mut bytes, Options::new());
/// encoder.map(1);
/// encoder.text("celsius");
/// encoder.float(23.5);
/// assert_eq!(bytes, b"\xc1\x87celsius\x40\x00\x00\xbc\x41");
/// # }
/// ```
#[derive(Debug)]
pub struct Encoder<S> {
    pub(crate) sink: S,
    pub(crate) options: Options,
}

#[cfg(feature = "alloc")]
impl<'a> Encoder<Append<'a>> {
    /// Creates an encoder that appends to `out`. Of the options, only the policy for floats counts.
    pub fn with_vec(out: &'a mut Vec<u8>, options: Options) -> Self {
        Encoder::new(Append::new(out), options)
    }
}

impl<S: Sink> Encoder<S> {
    pub(crate) fn new(sink: S, options: Options) -> Self {
        Encoder { sink, options }
    }

    /// Returns the number of bytes so far, including those that did not fit.
    #[inline]
    pub fn len(&self) -> usize {
        self.sink.len()
    }

    /// Writes a header of `wire_type` with the number `n`.
    #[inline]
    fn header(&mut self, wire_type: u8, n: u64) {
        if n <= wire::INLINE {
            self.sink.put(&[wire_type | n as u8]);
        } else {
            self.long_header(wire_type, n);
        }
    }

    fn long_header(&mut self, wire_type: u8, n: u64) {
        if n < 0x80 {
            self.sink.put(&[wire_type | wire::VARINT, n as u8]);
        } else if n < 0x4000 {
            self.sink.put(&[wire_type | wire::VARINT, n as u8 | 0x80, (n >> 7) as u8]);
        } else {
            let (bytes, len) = long_header(wire_type, n);
            self.sink.put_part(&bytes, len);
        }
    }

    /// Writes an integer that is not negative.
    #[inline]
    pub fn unsigned(&mut self, n: u64) {
        self.header(wire::UNSIGNED, n);
    }

    /// Writes an integer.
    #[inline]
    pub fn signed(&mut self, n: i64) {
        if n < 0 {
            self.header(wire::NEGATIVE, n.unsigned_abs());
        } else {
            self.header(wire::UNSIGNED, n.unsigned_abs());
        }
    }

    /// Writes a number. Whole numbers are written as integers.
    #[inline]
    pub fn float(&mut self, f: f64) {
        if number::needs_binary64(f) && self.options.floats == Floats::Lossless {
            self.binary64(f);
        } else {
            self.shortened(f);
        }
    }

    /// Writes a float that may be shorter than binary64.
    #[inline]
    fn shortened(&mut self, f: f64) {
        match canonical(f, self.options.floats) {
            Number::Unsigned(n) => self.header(wire::UNSIGNED, n),
            Number::Negative(n) => self.header(wire::NEGATIVE, n),
            Number::Float(f) if f.is_nan() => self.sink.put(&wire::NAN),
            Number::Float(f) if f64::from(f as f32) == f => {
                let [a, b, c, d] = (f as f32).to_le_bytes();
                self.sink.put(&[wire::BINARY32, a, b, c, d]);
            }
            Number::Float(f) => self.binary64(f),
        }
    }

    /// Writes a float as binary64, also a whole one or one that binary32 holds. Such a number then is not in canonical form, but a lenient
    /// reader has it as the float that it was.
    ///
    /// ```
    /// # #[cfg(feature = "alloc")] {
    /// use dunnage_pson::{Encoder, Item, Options, Reader};
    ///
    /// let mut bytes = Vec::new();
    /// Encoder::with_vec(&mut bytes, Options::new()).binary64(35.0);
    /// assert_eq!(Reader::new(&bytes)?.item()?, Item::Float(35.0));
    /// # }
    /// # Ok::<(), dunnage_pson::Error>(())
    /// ```
    #[inline]
    pub fn binary64(&mut self, f: f64) {
        let [a, b, c, d, e, f, g, h] = f.to_le_bytes();
        self.sink.put(&[wire::BINARY64, a, b, c, d, e, f, g, h]);
    }

    /// Writes `true` or `false`.
    #[inline]
    pub fn bool(&mut self, b: bool) {
        self.sink.put(&[if b { wire::TRUE } else { wire::FALSE }]);
    }

    /// Writes `null`.
    #[inline]
    pub fn null(&mut self) {
        self.sink.put(&[wire::NULL]);
    }

    /// Writes a string, which may be a key.
    #[inline]
    pub fn text(&mut self, text: &str) {
        self.header(wire::TEXT, text.len() as u64);
        self.sink.put(text.as_bytes());
    }

    /// Writes the name of a field. Where this is inlined, the name is constant, and so is the whole item.
    #[cfg(feature = "serde")]
    #[inline(always)]
    pub(crate) fn name(&mut self, name: &'static str) {
        let len = name.len();
        if len as u64 > wire::INLINE {
            return self.text(name);
        }
        let mut item = [0; 1 + wire::INLINE as usize];
        item[0] = wire::TEXT | len as u8;
        item[1..=len].copy_from_slice(name.as_bytes());
        self.sink.put(&item[..=len]);
    }

    /// Writes the header of a string of `len` bytes.
    #[cfg(feature = "serde")]
    pub(crate) fn text_header(&mut self, len: usize) {
        self.header(wire::TEXT, len as u64);
    }

    /// Writes a byte string.
    #[inline]
    pub fn bytes(&mut self, bytes: &[u8]) {
        self.header(wire::BYTES, bytes.len() as u64);
        self.sink.put(bytes);
    }

    /// Writes the header of a map of `entries` entries, of which each is a string and a value.
    #[inline]
    pub fn map(&mut self, entries: usize) {
        self.container(wire::MAP, entries as u64);
    }

    /// Writes the header of an array of `elements` elements.
    #[inline]
    pub fn array(&mut self, elements: usize) {
        self.container(wire::ARRAY, elements as u64);
    }

    /// Returns whether nothing has been written.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Writes the header of a map or array ([`wire::MAP`], [`wire::ARRAY`]) of `n` entries or elements.
    #[inline]
    pub(crate) fn container(&mut self, wire_type: u8, n: u64) {
        self.header(wire_type, n);
    }

    /// Reserves one byte for the header of a map or array of unknown length, and returns its offset.
    #[cfg(feature = "serde")]
    pub(crate) fn uncounted(&mut self) -> usize {
        let at = self.len();
        self.sink.put(&[0]);
        at
    }

    /// Writes the header at `at` once all `n` entries are written.
    #[cfg(feature = "serde")]
    pub(crate) fn counted(&mut self, at: usize, wire_type: u8, n: u64) {
        if n <= wire::INLINE {
            self.sink.replace(at, wire_type | n as u8);
        } else {
            let (bytes, len) = long_header(wire_type, n);
            self.sink.insert(at + 1, &bytes[1..len]);
            self.sink.replace(at, bytes[0]);
        }
    }

    /// Returns whether the bytes so far fit the buffer and the size limit.
    #[inline]
    pub(crate) fn fits(&self) -> bool {
        self.sink.overflow().is_none() && self.len() <= self.options.size
    }

    /// Returns the first error: either that the bytes so far do not fit, or `other`, which occurred after they were written.
    #[cold]
    pub(crate) fn fault(&self, other: Option<Error>) -> Error {
        match (self.sink.overflow(), other) {
            (Some(size), _) => Error::new(Kind::Truncated, size, "the buffer is full"),
            (None, Some(error)) if self.len() <= self.options.size => error,
            _ => Error::new(Kind::Limit, self.options.size, "the message is too large"),
        }
    }
}

/// Returns a header whose N is a varint, and its length.
fn long_header(wire_type: u8, mut n: u64) -> ([u8; LONGEST_HEADER], usize) {
    let mut bytes = [0; LONGEST_HEADER];
    bytes[0] = wire_type | wire::VARINT;
    let mut len = 1;
    while n >= 0x80 {
        bytes[len] = n as u8 | 0x80;
        n >>= 7;
        len += 1;
    }
    bytes[len] = n as u8;
    (bytes, len + 1)
}
