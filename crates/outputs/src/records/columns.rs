//! Flattens a message into columns: one for each value that is neither an object nor an array, named by its JSON pointer (RFC 6901), such
//! as `/position/lat`.
//!
//! The columns are for people and queries. The whole message is always in the column `value`, too.

use serde::de::{Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;
use std::{
    collections::HashSet,
    fmt,
    io::{self, ErrorKind},
};

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

/// Largest number of value columns in a file, and length of a pointer in bytes. Further values are in `value` alone.
pub const COLUMNS: usize = 1000;
const POINTER: usize = 256;
/// The memory that a column takes in addition to its texts, in bytes.
const LEAF: usize = 64;

/// A value without parts.
#[derive(Debug, PartialEq)]
pub enum Leaf {
    Null,
    Bool(bool),
    /// The text in the JSON.
    Number(String),
    Text(String),
    /// An empty object or array: `{}` or `[]`.
    Empty(String),
}

/// Returns the columns of `value`, in its order. Returns at most [`COLUMNS`], and none with a pointer that is too long.
pub fn flatten(value: &RawValue) -> io::Result<Vec<(String, Leaf)>> {
    let mut leaves = Vec::new();
    walk(value, &mut String::new(), &mut leaves)?;
    Ok(leaves)
}

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

fn walk(value: &RawValue, pointer: &mut String, leaves: &mut Vec<(String, Leaf)>) -> io::Result<()> {
    let text = value.get();
    let mut json = serde_json::Deserializer::from_str(text);
    let parts = match text.as_bytes().first() {
        Some(b'{') => json.deserialize_map(Parts { pointer, leaves })?,
        Some(b'[') => json.deserialize_seq(Parts { pointer, leaves })?,
        _ => {
            leaves.push((pointer.clone(), leaf(text)?));
            return Ok(());
        }
    };
    if parts == 0 {
        leaves.push((pointer.clone(), Leaf::Empty(text.to_owned())));
    }
    Ok(())
}

/// Returns about how many bytes of memory the columns of a message take.
pub fn cost(leaves: &[(String, Leaf)]) -> usize {
    let text = |leaf: &Leaf| match leaf {
        Leaf::Null | Leaf::Bool(_) => 0,
        Leaf::Number(text) | Leaf::Text(text) | Leaf::Empty(text) => LEAF / 2 + text.len(),
    };
    leaves.iter().map(|(pointer, leaf)| LEAF + pointer.len() + text(leaf)).sum()
}

/// Visits the parts of an object or array one after the other. They are not collected, because a message of 1 MiB can have a million of
/// them.
struct Parts<'p> {
    pointer: &'p mut String,
    leaves: &'p mut Vec<(String, Leaf)>,
}

impl Parts<'_> {
    /// Returns whether further values are in the column `value` alone.
    fn is_full(&self) -> bool {
        self.leaves.len() >= COLUMNS
    }

    fn walk<E: Error>(&mut self, key: &str, part: &RawValue) -> Result<(), E> {
        // Skip this part: its pointer and those of everything in it are too long.
        if self.pointer.len() + key.len() >= POINTER {
            return Ok(());
        }
        let outer = self.pointer.len();
        self.pointer.push('/');
        self.pointer.push_str(&dunnage_schema::pointer::escape(key));
        walk(part, self.pointer, self.leaves).map_err(E::custom)?;
        self.pointer.truncate(outer);
        Ok(())
    }
}

impl<'de> Visitor<'de> for Parts<'_> {
    /// The number of parts.
    type Value = usize;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object or an array")
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut map: A) -> Result<usize, A::Error> {
        let mut parts = 0;
        while let Some(key) = map.next_key::<String>()? {
            match self.is_full() {
                true => drop(map.next_value::<IgnoredAny>()?),
                false => self.walk(&key, map.next_value()?)?,
            }
            parts += 1;
        }
        Ok(parts)
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut items: A) -> Result<usize, A::Error> {
        let mut parts = 0;
        loop {
            if self.is_full() {
                if items.next_element::<IgnoredAny>()?.is_none() {
                    return Ok(parts);
                }
            } else {
                let Some(item) = items.next_element()? else { return Ok(parts) };
                self.walk(&parts.to_string(), item)?;
            }
            parts += 1;
        }
    }
}

fn leaf(text: &str) -> io::Result<Leaf> {
    Ok(match text.as_bytes().first() {
        Some(b'n') => Leaf::Null,
        Some(b't') => Leaf::Bool(true),
        Some(b'f') => Leaf::Bool(false),
        Some(b'"') => Leaf::Text(serde_json::from_str(text)?),
        Some(_) => Leaf::Number(text.to_owned()),
        None => return Err(ErrorKind::InvalidData.into()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flat(json: &str) -> Vec<(String, Leaf)> {
        flatten(serde_json::from_str(json).unwrap()).unwrap()
    }

    #[test]
    fn every_value_has_the_pointer_to_it_and_numbers_stay_as_they_are() {
        let number = |text: &str| Leaf::Number(text.into());
        assert_eq!(
            flat(r#"{"b":{"x/y":1.50,"":null},"a":[true,"é\n",{}],"~":18446744073709551615,"e":[]}"#),
            [
                ("/b/x~1y".into(), number("1.50")),
                ("/b/".into(), Leaf::Null),
                ("/a/0".into(), Leaf::Bool(true)),
                ("/a/1".into(), Leaf::Text("é\n".into())),
                ("/a/2".into(), Leaf::Empty("{}".into())),
                ("/~0".into(), number("18446744073709551615")),
                ("/e".into(), Leaf::Empty("[]".into())),
            ]
        );
        assert_eq!(flat("17"), [(String::new(), number("17"))]);
    }

    #[test]
    fn a_long_key_is_in_no_pointer_however_many_values_are_under_it() {
        let values = vec!["0"; 1000].join(",");
        let json = format!(r#"{{"{}":[{values}],"{}":2}}"#, "k".repeat(POINTER), "s".repeat(POINTER - 1));
        assert_eq!(flat(&json), [(format!("/{}", "s".repeat(POINTER - 1)), Leaf::Number("2".into()))]);
    }

    #[test]
    fn columns_have_a_limit() {
        let mut columns = Columns::of(["/a", "/a", &format!("/{}", "x".repeat(POINTER))].into_iter());
        assert_eq!(columns.names(), ["/a"]);
        (0..2 * COLUMNS).for_each(|n| columns.add(&n.to_string()));
        assert_eq!(columns.names().len(), COLUMNS);
    }
}
