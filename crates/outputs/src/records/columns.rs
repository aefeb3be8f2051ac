//! The columns of a message: one for each of its [leaves](crate::leaves), named by its pointer.
//!
//! The columns are for people and queries. The whole message is always in the column `value`, too.

use crate::leaves::{LEAVES, Leaf, POINTER};
use std::collections::HashSet;

/// The columns of each message, before those of its value.
pub const FIRST: [&str; 12] = [
    "name",
    "id",
    "device",
    "device_name",
    "tags",
    "received_at",
    "format",
    "schema",
    "link",
    "request",
    "origin",
    "value",
];

/// Largest number of value columns in a file. Further values are in `value` alone.
pub const COLUMNS: usize = LEAVES;
/// The memory that a column takes in addition to its texts, in bytes.
const LEAF: usize = 64;

/// The columns of some messages, in the order of their first appearance.
#[derive(Clone, Default)]
pub struct Columns {
    names: Vec<String>,
    known: HashSet<String>,
}

impl Columns {
    /// Creates the columns with these names.
    pub fn of<'n>(names: impl Iterator<Item = &'n str>) -> Columns {
        let mut columns = Columns::default();
        names.for_each(|name| columns.add(name));
        columns
    }

    /// Adds a column, unless it exists, its name is too long, or there are too many.
    pub fn add(&mut self, name: &str) {
        if self.names.len() < COLUMNS && name.len() <= POINTER && !self.known.contains(name) {
            self.known.insert(name.to_owned());
            self.names.push(name.to_owned());
        }
    }

    pub fn names(&self) -> &[String] {
        &self.names
    }
}

/// Returns about how many bytes of memory the columns of a message take.
pub fn cost(leaves: &[(String, Leaf)]) -> usize {
    let text = |leaf: &Leaf| match leaf {
        Leaf::Null | Leaf::Bool(_) => 0,
        Leaf::Number(text) | Leaf::Text(text) | Leaf::Empty(text) => LEAF / 2 + text.len(),
    };
    leaves.iter().map(|(pointer, leaf)| LEAF + pointer.len() + text(leaf)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_have_a_limit() {
        let mut columns = Columns::of(["/a", "/a", &format!("/{}", "x".repeat(POINTER))].into_iter());
        assert_eq!(columns.names(), ["/a"]);
        (0..2 * COLUMNS).for_each(|n| columns.add(&n.to_string()));
        assert_eq!(columns.names().len(), COLUMNS);
    }
}
