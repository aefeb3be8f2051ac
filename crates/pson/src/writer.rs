//! Writes a message item by item.

#[cfg(feature = "alloc")]
use crate::sink::Append;
use crate::{
    Buffer, Count, Error, Kind, Options, Sink,
    encode::Encoder,
    levels::{Level, Levels},
    wire,
};
#[cfg(feature = "alloc")]
use alloc::vec::Vec;

/// Writes a message, one item at a time, in canonical form.
///
/// Calls need no error handling: the writer keeps the first error, and [`finish`](Writer::finish) returns it. The writer
/// continues to count bytes after an error, so that [`len`](Writer::len) tells which size of buffer would have sufficed. A writer
/// does not detect duplicate keys.
///
/// ```
/// use dunnage_pson::Writer;
///
/// # fn main() -> Result<(), dunnage_pson::Error> {
/// let mut buffer = [0; 32];
/// let mut writer = Writer::with_slice(&mut buffer);
/// writer.map(2).key("name").text("gps");
/// writer.key("data").array(2).u64(24).f64(48.75);
/// let len = writer.finish()?;
/// assert_eq!(buffer[..len], *b"\xc2\x84name\x83gps\x84data\xe2\x18\x40\x00\x00\x43\x42");
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Writer<S> {
    encoder: Encoder<S>,
    levels: Levels,
    error: Option<Error>,
}

impl<'a> Writer<Buffer<'a>> {
    /// Creates a writer into `buffer`. If the buffer is too small, the error is `truncated` at the buffer's size.
    pub fn with_slice(buffer: &'a mut [u8]) -> Self {
        Writer::new(Buffer::new(buffer), Options::new())
    }
}

#[cfg(feature = "alloc")]
impl<'a> Writer<Append<'a>> {
    /// Creates a writer that appends to `out`.
    pub fn with_vec(out: &'a mut Vec<u8>) -> Self {
        Writer::new(Append::new(out), Options::new())
    }
}

impl Writer<Count> {
    /// Creates a writer that only counts the bytes.
    pub fn counting() -> Self {
        Writer::new(Count::default(), Options::new())
    }
}

impl<S: Sink> Writer<S> {
    fn new(sink: S, options: Options) -> Self {
        Writer { encoder: Encoder::new(sink, options), levels: Levels::new(options.nesting), error: None }
    }

    /// Sets the policy for floats and the limits. Must be called before the first item.
    pub fn options(mut self, options: Options) -> Self {
        self.encoder.options = options;
        self.levels = Levels::new(options.nesting);
        self
    }

    /// Returns the number of bytes so far, including those that did not fit.
    pub fn len(&self) -> usize {
        self.encoder.len()
    }

    /// Returns whether nothing has been written.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Writes an integer that is not negative.
    pub fn u64(&mut self, n: u64) -> &mut Self {
        self.value();
        self.encoder.unsigned(n);
        self
    }

    /// Writes an integer.
    pub fn i64(&mut self, n: i64) -> &mut Self {
        self.value();
        self.encoder.signed(n);
        self
    }

    /// Writes a number. Whole numbers are written as integers.
    pub fn f64(&mut self, n: f64) -> &mut Self {
        self.value();
        self.encoder.float(n);
        self
    }

    /// Writes `true` or `false`.
    pub fn bool(&mut self, b: bool) -> &mut Self {
        self.value();
        self.encoder.bool(b);
        self
    }

    /// Writes `null`.
    pub fn null(&mut self) -> &mut Self {
        self.value();
        self.encoder.null();
        self
    }

    /// Writes a string.
    pub fn text(&mut self, text: &str) -> &mut Self {
        self.value();
        self.encoder.text(text);
        self
    }

    /// Writes a byte string.
    pub fn bytes(&mut self, bytes: &[u8]) -> &mut Self {
        self.value();
        self.encoder.bytes(bytes);
        self
    }

    /// Writes the key of the next entry.
    pub fn key(&mut self, key: &str) -> &mut Self {
        if self.levels.current.at_key() && self.levels.current.left > 0 {
            self.count();
        } else {
            self.fail(Kind::Type, "a key is not allowed here");
        }
        self.encoder.text(key);
        self
    }

    /// Begins a map of `entries` entries. A key and a value must follow for each. The map ends with the last of them.
    pub fn map(&mut self, entries: usize) -> &mut Self {
        self.open(wire::MAP, entries);
        self
    }

    /// Begins an array of `elements` elements, which must follow. The array ends with the last of them.
    pub fn array(&mut self, elements: usize) -> &mut Self {
        self.open(wire::ARRAY, elements);
        self
    }

    /// Ends the message and returns its length in bytes.
    ///
    /// # Errors
    /// The first error: `truncated` if the buffer is too small; `type` if a map or array has too many or too few
    /// entries, or a key is missing; `limit` if the nesting or size is above the limit.
    pub fn finish(mut self) -> Result<usize, Error> {
        if self.levels.current.left > 0 {
            self.fail(Kind::Type, "the message is not complete");
        }
        match self.error {
            Some(error) => Err(error),
            None if self.encoder.fits() => Ok(self.len()),
            None => Err(self.encoder.fault(None)),
        }
    }

    fn open(&mut self, wire_type: u8, n: usize) {
        self.check_place();
        self.levels.current.left = self.levels.current.left.saturating_sub(1);
        let header = self.len();
        let is_map = wire_type == wire::MAP;
        let left = if is_map { n.min(usize::MAX / 2) * 2 } else { n };
        if !self.levels.push(Level { left, header, is_map }) {
            self.fail(Kind::Limit, "maps and arrays are nested too deeply");
        }
        self.encoder.container(wire_type, n as u64);
        self.close();
    }

    /// Counts a value that is not a map or array.
    fn value(&mut self) {
        self.check_place();
        self.count();
    }

    fn check_place(&mut self) {
        if self.levels.current.left == 0 {
            self.fail(Kind::Type, "the message is complete already");
        } else if self.levels.current.at_key() {
            self.fail(Kind::Type, "expected a key");
        }
    }

    fn count(&mut self) {
        self.levels.current.left = self.levels.current.left.saturating_sub(1);
        self.close();
    }

    /// Leaves the maps and arrays that are complete.
    fn close(&mut self) {
        while self.levels.current.left == 0 && self.levels.pop() {}
    }

    /// Returns whether all calls so far were valid. A full buffer does not count as an error.
    #[cfg(feature = "alloc")]
    pub(crate) fn is_whole(&self) -> bool {
        self.error.is_none()
    }

    /// Keeps the first error. If the bytes so far did not fit, that is the earlier error.
    #[cold]
    pub(crate) fn fail(&mut self, kind: Kind, reason: &'static str) {
        if self.error.is_none() {
            let error = Error::new(kind, self.len(), reason);
            self.error = Some(self.encoder.fault(Some(error)));
        }
    }
}
