//! Reports which parts of a layout prevent plain bits, for generated code, which supports no others.

use crate::{Layout, MAX_PLAIN_BYTES, Node, Shape};
use std::fmt;

/// A part of the message whose size is unbounded or too large.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenPart {
    /// The path: `position.note`, `readings[]`, `tags.*` for additional properties. `$` is the whole message.
    pub field: String,
    /// The reason why it prevents plain bits.
    pub fault: String,
    /// The change to the schema that helps.
    pub remedy: &'static str,
}

impl fmt::Display for OpenPart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}: {}", self.field, self.fault, self.remedy)
    }
}

/// The maximum number of parts that [`Layout::open_parts`] lists for a message that is too large.
const LARGEST: usize = 5;

impl Layout {
    /// Returns the parts that prevent the layout from being plain, or nothing if it is plain.
    ///
    /// These are all parts without a bound. If every part has a bound, but the largest message is above
    /// [`MAX_PLAIN_BYTES`], they are the message and its largest parts.
    pub fn open_parts(&self) -> Vec<OpenPart> {
        let mut walk = Walk { open: Vec::new(), leaves: Vec::new() };
        walk.node(self.root(), "", 1);
        match self.root().bits().max {
            Some(_) if self.is_plain() => Vec::new(),
            Some(bits) if walk.open.is_empty() => too_large(bits, walk.leaves),
            _ => walk.open,
        }
    }
}

struct Walk {
    open: Vec<OpenPart>,
    /// The path of each part without parts of its own, and the maximum number of bits of all its occurrences in a message.
    leaves: Vec<(String, u64)>,
}

impl Walk {
    /// Visits `node`, which occurs at `path` up to `times` times.
    fn node(&mut self, node: &Node, path: &str, times: u64) {
        match &node.shape {
            Shape::Text(text) if text.max.is_none() => {
                self.open(path, "is text without a longest one", "add maxLength, or an anchored pattern");
            }
            Shape::Any => self.open(path, "may be anything", "give it a type"),
            Shape::Definition(_) => {
                self.open(path, "refers to itself", "write the levels out that there are");
            }
            Shape::Array(array) => {
                self.elements(path, array.max);
                self.node(&array.item, &format!("{path}[]"), most(times, array.max));
            }
            Shape::Tuple(tuple) => {
                self.elements(path, tuple.max);
                for (i, item) in tuple.items.iter().enumerate() {
                    self.node(item, &format!("{path}[{i}]"), times);
                }
                if let Some(rest) = &tuple.rest {
                    self.node(rest, &format!("{path}[]"), most(times, tuple.max));
                }
            }
            Shape::Object(object) => {
                for field in &object.fields {
                    self.node(&field.node, &join(path, &field.name), times);
                }
                if object.additional.is_some() {
                    self.open(path, "may have other properties", "add additionalProperties: false");
                }
            }
            Shape::Nullable(inner) => self.node(inner, path, times),
            Shape::Union(kinds) => kinds.iter().for_each(|kind| self.node(kind, path, times)),
            _ => {
                let bits = node.bits().max.unwrap_or(0).saturating_mul(times);
                self.leaves.push((named(path), bits));
            }
        }
    }

    fn elements(&mut self, path: &str, max: Option<u32>) {
        if max.is_none() {
            self.open(path, "is an array of any length", "add maxItems");
        }
    }

    fn open(&mut self, path: &str, fault: &str, remedy: &'static str) {
        self.open.push(OpenPart { field: named(path), fault: fault.to_owned(), remedy });
    }
}

fn too_large(bits: u64, mut leaves: Vec<(String, u64)>) -> Vec<OpenPart> {
    let bytes = bits.div_ceil(8).saturating_add(1);
    let whole = OpenPart {
        field: named(""),
        fault: format!("takes up to {bytes} bytes, more than {MAX_PLAIN_BYTES}"),
        remedy: "lower maxItems and maxLength, or give text an anchored pattern",
    };
    leaves.sort_by_key(|(_, bits)| std::cmp::Reverse(*bits));
    let largest = leaves.into_iter().take(LARGEST).map(|(field, bits)| OpenPart {
        field,
        fault: format!("takes up to {bits} bits of that"),
        remedy: "one of the largest parts",
    });
    std::iter::once(whole).chain(largest).collect()
}

fn most(times: u64, max: Option<u32>) -> u64 {
    times.saturating_mul(max.unwrap_or(1).into())
}

fn join(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") }
}

fn named(path: &str) -> String {
    if path.is_empty() { "$".to_owned() } else { path.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dunnage_schema::Model;

    fn faults(schema: &str) -> Vec<String> {
        let layout = Layout::new(&Model::compile(schema).unwrap()).expect("a layout");
        let parts = layout.open_parts();
        assert_eq!(parts.is_empty(), layout.is_plain(), "{schema}");
        parts.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_plain_layout_has_no_open_part() {
        for schema in dunnage_schema::bundled() {
            assert_eq!(faults(schema.1), Vec::<String>::new(), "{}", schema.0);
        }
    }

    #[test]
    fn every_open_part_is_named_with_its_remedy() {
        let schema = r#"{"type":"object","properties":{
            "name":{"type":"string"},
            "list":{"type":"array","items":{"type":"object","properties":{"x":{"type":"string"}}}},
            "free":{}, "ok":{"type":"boolean"}}}"#;
        assert_eq!(
            faults(schema),
            [
                "name is text without a longest one: add maxLength, or an anchored pattern",
                "list is an array of any length: add maxItems",
                "list[].x is text without a longest one: add maxLength, or an anchored pattern",
                "list[] may have other properties: add additionalProperties: false",
                "free may be anything: give it a type",
                "$ may have other properties: add additionalProperties: false",
            ]
        );
    }

    #[test]
    fn a_message_that_is_too_large_names_its_largest_parts() {
        let schema = r#"{"type":"array","maxItems":300,"items":{"type":"object","properties":{
            "on":{"type":"boolean"}, "n":{"type":"integer","minimum":0,"maximum":4294967295}},
            "required":["on","n"],"additionalProperties":false}}"#;
        assert_eq!(
            faults(schema),
            [
                "$ takes up to 1240 bytes, more than 1024: lower maxItems and maxLength, or give text an anchored pattern",
                "[].n takes up to 9600 bits of that: one of the largest parts",
                "[].on takes up to 300 bits of that: one of the largest parts",
            ]
        );
    }
}
