//! Destinations of encoded bytes: a buffer of the caller, a vector, or only a counter.

#[cfg(feature = "alloc")]
use alloc::vec::Vec;

/// Accepts the bytes of one message. Bytes that do not fit are still counted.
///
/// The trait is implemented for [`Buffer`], [`Append`] and [`Count`], and is sealed.
pub trait Sink: sealed::Sink {}

impl<S: sealed::Sink> Sink for S {}

pub(crate) mod sealed {
    pub trait Sink {
        /// Appends `bytes`.
        fn put(&mut self, bytes: &[u8]);

        /// Appends the first `len` of `bytes`. If there is room, copying all of them is faster than copying `len`.
        fn put_part<const N: usize>(&mut self, bytes: &[u8; N], len: usize);

        /// Returns the number of bytes so far, including those that did not fit.
        fn len(&self) -> usize;

        /// Replaces the byte at `at` with `byte`.
        fn replace(&mut self, at: usize, byte: u8);

        /// Inserts `bytes` before the byte at `at`.
        fn insert(&mut self, at: usize, bytes: &[u8]);

        /// Returns the size of the buffer, if it was too small.
        fn overflow(&self) -> Option<usize>;
    }
}

/// A buffer of the caller. It never grows, and nothing is written after the first item that did not fit.
#[derive(Debug)]
pub struct Buffer<'a> {
    buffer: &'a mut [u8],
    len: usize,
}

impl<'a> Buffer<'a> {
    pub(crate) fn new(buffer: &'a mut [u8]) -> Self {
        Buffer { buffer, len: 0 }
    }
}

impl sealed::Sink for Buffer<'_> {
    #[inline]
    fn put(&mut self, bytes: &[u8]) {
        let end = self.len.saturating_add(bytes.len());
        if let Some(room) = self.buffer.get_mut(self.len..end) {
            room.copy_from_slice(bytes);
        }
        self.len = end;
    }

    #[inline]
    fn put_part<const N: usize>(&mut self, bytes: &[u8; N], len: usize) {
        self.put(&bytes[..len]);
    }

    fn len(&self) -> usize {
        self.len
    }

    fn replace(&mut self, at: usize, byte: u8) {
        if let Some(place) = self.buffer.get_mut(at) {
            *place = byte;
        }
    }

    fn insert(&mut self, at: usize, bytes: &[u8]) {
        let end = self.len.saturating_add(bytes.len());
        if end <= self.buffer.len() {
            self.buffer.copy_within(at..self.len, at + bytes.len());
            self.buffer[at..at + bytes.len()].copy_from_slice(bytes);
        }
        self.len = end;
    }

    fn overflow(&self) -> Option<usize> {
        (self.len > self.buffer.len()).then_some(self.buffer.len())
    }
}

/// Appends to a vector, which grows.
#[cfg(feature = "alloc")]
#[derive(Debug)]
pub struct Append<'a> {
    out: &'a mut Vec<u8>,
    start: usize,
}

#[cfg(feature = "alloc")]
impl<'a> Append<'a> {
    pub(crate) fn new(out: &'a mut Vec<u8>) -> Self {
        let start = out.len();
        Append { out, start }
    }
}

#[cfg(feature = "alloc")]
impl sealed::Sink for Append<'_> {
    #[inline]
    fn put(&mut self, bytes: &[u8]) {
        self.out.extend_from_slice(bytes);
    }

    #[inline]
    fn put_part<const N: usize>(&mut self, bytes: &[u8; N], len: usize) {
        let end = self.out.len() + len;
        self.out.extend_from_slice(bytes);
        self.out.truncate(end);
    }

    fn len(&self) -> usize {
        self.out.len() - self.start
    }

    fn replace(&mut self, at: usize, byte: u8) {
        self.out[self.start + at] = byte;
    }

    fn insert(&mut self, at: usize, bytes: &[u8]) {
        let at = self.start + at;
        self.out.splice(at..at, bytes.iter().copied());
    }

    fn overflow(&self) -> Option<usize> {
        None
    }
}

/// Counts the bytes and discards them.
#[derive(Debug, Default)]
pub struct Count(usize);

impl sealed::Sink for Count {
    fn put(&mut self, bytes: &[u8]) {
        self.0 = self.0.saturating_add(bytes.len());
    }

    fn put_part<const N: usize>(&mut self, _: &[u8; N], len: usize) {
        self.0 = self.0.saturating_add(len);
    }

    fn len(&self) -> usize {
        self.0
    }

    fn replace(&mut self, _: usize, _: u8) {}

    fn insert(&mut self, _: usize, bytes: &[u8]) {
        self.put(bytes);
    }

    fn overflow(&self) -> Option<usize> {
        None
    }
}
