//! The maps and arrays that are open, without recursion and without an allocator.

/// The deepest nesting that [`crate::Options::max_nesting`] allows.
pub(crate) const MAX_NESTING: usize = 64;

/// An open map or array.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Level {
    /// Items that are still to come. A map's entry is two items, its key and its value.
    pub left: usize,
    /// The offset of its header; the message itself is a level too, of one item, at 0.
    pub header: usize,
    pub is_map: bool,
}

impl Level {
    pub const MESSAGE: Level = Level { left: 1, header: 0, is_map: false };

    /// Whether the next item is a key.
    pub fn at_key(self) -> bool {
        self.is_map && self.left.is_multiple_of(2)
    }
}

/// A stack of levels; the innermost one is at hand.
#[derive(Debug, Clone)]
pub(crate) struct Levels {
    pub current: Level,
    outer: [Level; MAX_NESTING],
    depth: u8,
    limit: u8,
}

impl Levels {
    /// The levels of a message, or of a part of one, in which `limit` maps and arrays may still be opened.
    pub fn new(limit: u8) -> Self {
        let limit = limit.min(MAX_NESTING as u8);
        Levels { current: Level::MESSAGE, outer: [Level::MESSAGE; MAX_NESTING], depth: 0, limit }
    }

    pub fn depth(&self) -> u8 {
        self.depth
    }

    /// How many maps and arrays may still be opened.
    pub fn room(&self) -> u8 {
        self.limit - self.depth
    }

    /// Opens `level`; false when that is one too many.
    pub fn push(&mut self, level: Level) -> bool {
        if self.depth >= self.limit {
            return false;
        }
        self.outer[usize::from(self.depth)] = self.current;
        self.depth += 1;
        self.current = level;
        true
    }

    /// Closes the innermost level; false when only the message is left.
    pub fn pop(&mut self) -> bool {
        if self.depth == 0 {
            return false;
        }
        self.depth -= 1;
        self.current = self.outer[usize::from(self.depth)];
        true
    }
}
