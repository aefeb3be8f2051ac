//! The leaves of a message: each value that is neither an object nor an array, or is an empty one, with its JSON pointer (RFC 6901), such as
//! `/position/lat`.

use serde::de::{Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;
use std::{
    fmt,
    io::{self, ErrorKind},
};

/// Largest number of leaves, and length of a pointer in bytes.
pub const LEAVES: usize = 1000;
pub const POINTER: usize = 256;

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

/// Returns the leaves of `value` with their pointers, in its order. Returns at most [`LEAVES`], and none with a pointer that is too long.
pub fn flatten(value: &RawValue) -> io::Result<Vec<(String, Leaf)>> {
    let mut found = Found::default();
    walk(value, &mut String::new(), &mut found)?;
    Ok(found.leaves)
}

/// Returns what [`flatten`] does; `None` if that does not have all leaves.
pub fn flatten_all(value: &RawValue) -> io::Result<Option<Vec<(String, Leaf)>>> {
    let mut found = Found::default();
    walk(value, &mut String::new(), &mut found)?;
    Ok((!found.left_out).then_some(found.leaves))
}

#[derive(Default)]
struct Found {
    leaves: Vec<(String, Leaf)>,
    /// Whether there are others.
    left_out: bool,
}

fn walk(value: &RawValue, pointer: &mut String, found: &mut Found) -> io::Result<()> {
    let text = value.get();
    let mut json = serde_json::Deserializer::from_str(text);
    let parts = match text.as_bytes().first() {
        Some(b'{') => json.deserialize_map(Parts { pointer, found })?,
        Some(b'[') => json.deserialize_seq(Parts { pointer, found })?,
        _ => {
            found.leaves.push((pointer.clone(), leaf(text)?));
            return Ok(());
        }
    };
    if parts == 0 {
        found.leaves.push((pointer.clone(), Leaf::Empty(text.to_owned())));
    }
    Ok(())
}

/// Visits the parts of an object or array one after the other. They are not collected, because a message of 1 MiB can have a million of
/// them.
struct Parts<'p> {
    pointer: &'p mut String,
    found: &'p mut Found,
}

impl Parts<'_> {
    /// Returns whether further leaves are left out.
    fn is_full(&self) -> bool {
        self.found.leaves.len() >= LEAVES
    }

    fn walk<E: Error>(&mut self, key: &str, part: &RawValue) -> Result<(), E> {
        // Skip this part: its pointer and those of everything in it are too long.
        if self.pointer.len() + key.len() >= POINTER {
            self.found.left_out = true;
            return Ok(());
        }
        let outer = self.pointer.len();
        self.pointer.push('/');
        self.pointer.push_str(&dunnage_schema::pointer::escape(key));
        walk(part, self.pointer, self.found).map_err(E::custom)?;
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
                true => {
                    map.next_value::<IgnoredAny>()?;
                    self.found.left_out = true;
                }
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
                self.found.left_out = true;
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
    fn all_leaves_are_returned_or_none() {
        let all = |json: &str| flatten_all(serde_json::from_str(json).unwrap()).unwrap();
        let array = |length: usize| format!("[{}]", vec!["0"; length].join(","));
        assert_eq!(all(&array(LEAVES)).map(|leaves| leaves.len()), Some(LEAVES));
        assert_eq!(all(&array(LEAVES + 1)), None);
        assert_eq!(all(&format!("[{},{{\"a\":1}}]", array(LEAVES))), None);
        assert_eq!(all(&format!("{{\"{}\":1}}", "k".repeat(POINTER))), None);
    }
}
