//! Limits and modes of encoders and decoders.

use crate::levels::MAX_NESTING;

/// Limits, strictness and the policy for floats. The default is what [spec/pson.md](https://github.com/dunnage/dunnage/blob/main/spec/pson.md) requires of every library.
///
/// ```
/// # #[cfg(feature = "serde")] {
/// use dunnage_pson::{Kind, Options};
///
/// let options = Options::new().strict(true).max_size(160);
/// assert_eq!(options.from_slice::<u8>(&[0x1f, 0x05]).unwrap_err().kind(), Kind::Malformed); // 5 needs no varint
/// # }
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Options {
    pub(crate) strict: bool,
    pub(crate) nesting: u8,
    pub(crate) size: usize,
    pub(crate) floats: Floats,
}

/// How an encoder writes numbers that are not integers ([spec/pson.md](https://github.com/dunnage/dunnage/blob/main/spec/pson.md), "Numbers").
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Floats {
    /// As binary32 if that is exact, otherwise as binary64. Reading returns the number that was written.
    #[default]
    Lossless,
    /// Rounded to the nearest binary32, unless that makes a finite number infinite. This saves 4 bytes per number.
    Single,
}

impl Options {
    /// Returns the default options: lenient, 32 levels, 1 MiB, lossless.
    pub const fn new() -> Self {
        Options { strict: false, nesting: 32, size: 1 << 20, floats: Floats::Lossless }
    }

    /// Sets whether a decoder rejects messages that are not canonical. The default is false.
    pub const fn strict(mut self, strict: bool) -> Self {
        self.strict = strict;
        self
    }

    /// Sets the maximum nesting of maps and arrays, for encoding and decoding. The default is 32, the maximum 64.
    pub const fn max_nesting(mut self, levels: usize) -> Self {
        self.nesting = if levels < MAX_NESTING { levels as u8 } else { MAX_NESTING as u8 };
        self
    }

    /// Sets the maximum size of a message in bytes, for encoding and decoding. The default is 1 MiB.
    pub const fn max_size(mut self, bytes: usize) -> Self {
        self.size = bytes;
        self
    }

    /// Sets how an encoder writes floats. The default is lossless.
    pub const fn floats(mut self, floats: Floats) -> Self {
        self.floats = floats;
        self
    }
}

impl Default for Options {
    fn default() -> Self {
        Options::new()
    }
}
