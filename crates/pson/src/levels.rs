//! Tracks the open maps and arrays without recursion and without an allocator.

/// The maximum value of [`crate::Options::max_nesting`].
pub(crate) const MAX_NESTING: usize = 64;

/// An open map or array.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Level {
    /// The number of items that are left. An entry of a map is two items, its key and its value.
    pub left: usize,
    /// The offset of the header. The message itself is also a level, of one item, at offset 0.
    pub header: usize,
    pub is_map: bool,
}

impl Level {
    pub const MESSAGE: Level = Level { left: 1, header: 0, is_map: false };

    /// Returns whether the next item is a key.
    pub fn at_key(self) -> bool {
        self.is_map && self.left.is_multiple_of(2)
    }
}

/// A stack of levels. `current` is the innermost one.
#[derive(Debug, Clone)]
pub(crate) struct Levels {
    pub current: Level,
    outer: [Level; MAX_NESTING],
    depth: u8,
    limit: u8,
}

impl Levels {
    /// Creates the levels of a message, or of a part of one, in which `limit` more maps and arrays may be opened.
    pub fn new(limit: u8) -> Self {
        let limit = limit.min(MAX_NESTING as u8);
        Levels { current: Level::MESSAGE, outer: [Level::MESSAGE; MAX_NESTING], depth: 0, limit }
    }

    pub fn depth(&self) -> u8 {
        self.depth
    }

    /// Returns how many more maps and arrays may be opened.
    pub fn room(&self) -> u8 {
        self.limit - self.depth
    }

    /// Opens `level`. Returns false if the limit is reached.
    pub fn push(&mut self, level: Level) -> bool {
        if self.depth >= self.limit {
            return false;
        }
        self.outer[usize::from(self.depth)] = self.current;
        self.depth += 1;
        self.current = level;
        true
    }

    /// Closes the innermost level. Returns false if it is the message.
    pub fn pop(&mut self) -> bool {
        if self.depth == 0 {
            return false;
        }
        self.depth -= 1;
        self.current = self.outer[usize::from(self.depth)];
        true
    }
}
