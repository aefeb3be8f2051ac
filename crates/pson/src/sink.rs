//! Where bytes go: a buffer of the caller's, a vector, or nowhere, to be counted.

#[cfg(feature = "alloc")]
use alloc::vec::Vec;

/// Takes the bytes of one message. What does not fit is counted all the same.
///
/// This is implemented for [`Buffer`], [`Append`] and [`Count`], and cannot be implemented elsewhere.
pub trait Sink: sealed::Sink {}

impl<S: sealed::Sink> Sink for S {}

pub(crate) mod sealed {
    pub trait Sink {
        /// Takes `bytes`.
        fn put(&mut self, bytes: &[u8]);

        /// Takes the first `len` of `bytes`. Where there is room, copying all of them is quicker than copying `len`.
        fn put_part<const N: usize>(&mut self, bytes: &[u8; N], len: usize);

        /// The bytes taken so far, with those that did not fit.
        fn len(&self) -> usize;

        /// Puts `byte` in the place of the one at `at`.
        fn replace(&mut self, at: usize, byte: u8);

        /// Puts `bytes` before the byte at `at`.
        fn insert(&mut self, at: usize, bytes: &[u8]);

        /// The size of the buffer, when more bytes came than fit.
        fn overflow(&self) -> Option<usize>;
    }
}

/// A buffer of the caller's. It never grows, and nothing is written after the first item that did not fit.
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

/// The end of a vector, which grows.
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

/// Nowhere: the bytes are counted.
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
