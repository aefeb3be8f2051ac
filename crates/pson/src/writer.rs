//! Writing a message item by item.

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

/// Writes a message, an item at a time, in canonical form.
///
/// Nothing has to be checked on the way: the first error stays, and [`finish`](Writer::finish) gives it. The writer
/// goes on counting after it, so that [`len`](Writer::len) says how large a buffer would have done. A writer does not
/// see that a key is written twice.
///
/// ```
/// use dunnage_pson::Writer;
///
/// # fn main() -> Result<(), dunnage_pson::Error> {
/// let mut buffer = [0; 32];
/// let mut writer = Writer::to_slice(&mut buffer);
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
    /// Writes into `buffer`. When it is too small the error is `truncated`, at its size.
    pub fn to_slice(buffer: &'a mut [u8]) -> Self {
        Writer::new(Buffer::new(buffer), Options::new())
    }
}

#[cfg(feature = "alloc")]
impl<'a> Writer<Append<'a>> {
    /// Writes to the end of `out`.
    pub fn to_vec(out: &'a mut Vec<u8>) -> Self {
        Writer::new(Append::new(out), Options::new())
    }
}

impl Writer<Count> {
    /// Writes nowhere, and counts the bytes.
    pub fn counting() -> Self {
        Writer::new(Count::default(), Options::new())
    }
}

impl<S: Sink> Writer<S> {
    fn new(sink: S, options: Options) -> Self {
        Writer { encoder: Encoder::new(sink, options), levels: Levels::new(options.nesting), error: None }
    }

    /// Takes the float policy and the limits from `options`. To be called before the first item.
    pub fn options(mut self, options: Options) -> Self {
        self.encoder.options = options;
        self.levels = Levels::new(options.nesting);
        self
    }

    /// The bytes so far, with those that did not fit.
    pub fn len(&self) -> usize {
        self.encoder.len()
    }

    /// Whether nothing was written yet.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// An integer that is not negative.
    pub fn u64(&mut self, n: u64) -> &mut Self {
        self.value();
        self.encoder.unsigned(n);
        self
    }

    /// An integer.
    pub fn i64(&mut self, n: i64) -> &mut Self {
        self.value();
        self.encoder.signed(n);
        self
    }

    /// A number. Whole ones are written as integers.
    pub fn f64(&mut self, n: f64) -> &mut Self {
        self.value();
        self.encoder.float(n);
        self
    }

    /// `true` or `false`.
    pub fn bool(&mut self, b: bool) -> &mut Self {
        self.value();
        self.encoder.bool(b);
        self
    }

    /// `null`.
    pub fn null(&mut self) -> &mut Self {
        self.value();
        self.encoder.null();
        self
    }

    /// A string.
    pub fn text(&mut self, text: &str) -> &mut Self {
        self.value();
        self.encoder.text(text);
        self
    }

    /// Bytes.
    pub fn bytes(&mut self, bytes: &[u8]) -> &mut Self {
        self.value();
        self.encoder.bytes(bytes);
        self
    }

    /// The key of the next entry.
    pub fn key(&mut self, key: &str) -> &mut Self {
        if self.levels.current.at_key() && self.levels.current.left > 0 {
            self.count();
        } else {
            self.fail(Kind::Type, "no key belongs here");
        }
        self.encoder.text(key);
        self
    }

    /// A map of so many entries: for each of them a key and a value have to follow. It ends by itself.
    pub fn map(&mut self, entries: usize) -> &mut Self {
        self.open(wire::MAP, entries);
        self
    }

    /// An array of so many elements, which have to follow. It ends by itself.
    pub fn array(&mut self, elements: usize) -> &mut Self {
        self.open(wire::ARRAY, elements);
        self
    }

    /// Ends the message and gives its length in bytes.
    ///
    /// # Errors
    /// The first that occurred: `truncated` when the buffer is too small; `type` when a map or array has too many or too few
    /// entries, or a key is missing; `limit` when nesting or size is over the limit.
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

    /// Counts a value that is no map or array.
    fn value(&mut self) {
        self.check_place();
        self.count();
    }

    fn check_place(&mut self) {
        if self.levels.current.left == 0 {
            self.fail(Kind::Type, "the message is complete already");
        } else if self.levels.current.at_key() {
            self.fail(Kind::Type, "a key has to stand here");
        }
    }

    fn count(&mut self) {
        self.levels.current.left = self.levels.current.left.saturating_sub(1);
        self.close();
    }

    /// Steps out of the maps and arrays that are complete.
    fn close(&mut self) {
        while self.levels.current.left == 0 && self.levels.pop() {}
    }

    /// Whether no mistake was made so far. A full buffer is none.
    #[cfg(feature = "alloc")]
    pub(crate) fn is_whole(&self) -> bool {
        self.error.is_none()
    }

    /// Keeps the first error. Bytes that did not fit came before whatever is wrong now.
    #[cold]
    pub(crate) fn fail(&mut self, kind: Kind, reason: &'static str) {
        if self.error.is_none() {
            let error = Error::new(kind, self.len(), reason);
            self.error = Some(self.encoder.fault(Some(error)));
        }
    }
}
