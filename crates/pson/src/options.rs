//! Limits and modes.

use crate::levels::MAX_NESTING;

/// Limits, strictness and the float policy. The default is what `spec/pson.md` asks of every library.
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

/// How an encoder writes numbers that are no integers (`spec/pson.md`, "Numbers").
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Floats {
    /// As binary32 where that is exact, otherwise as binary64: the number that is read is the number that was written.
    #[default]
    Lossless,
    /// Rounded to the nearest binary32, unless that makes a finite number infinite. Saves 4 bytes a number.
    Single,
}

impl Options {
    /// Lenient, 32 levels, 1 MiB, lossless.
    pub const fn new() -> Self {
        Options { strict: false, nesting: 32, size: 1 << 20, floats: Floats::Lossless }
    }

    /// Whether a decoder refuses what is not canonical. Off by default.
    pub const fn strict(mut self, strict: bool) -> Self {
        self.strict = strict;
        self
    }

    /// How many maps and arrays may stand inside one another, on both sides; 32 by default, at most 64.
    pub const fn max_nesting(mut self, levels: usize) -> Self {
        self.nesting = if levels < MAX_NESTING { levels as u8 } else { MAX_NESTING as u8 };
        self
    }

    /// How many bytes a message may have, on both sides; 1 MiB by default.
    pub const fn max_size(mut self, bytes: usize) -> Self {
        self.size = bytes;
        self
    }

    /// How an encoder writes floats; lossless by default.
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
