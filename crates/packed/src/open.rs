//! Reports which parts of a layout prevent plain bits, for generated code, which supports no others.

use crate::path::shown;
use crate::{Bits, Layout};
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
    /// [`Layout::plain_limit`], they are the message and its largest parts.
    ///
    /// ```
    /// # use dunnage_packed::Layout;
    /// # use dunnage_schema::Model;
    /// let layout = Layout::new(&Model::compile(r#"{"type": "object", "properties": {"note": {"type": "string"}}, "additionalProperties": false}"#)?)?;
    /// let parts = layout.open_parts();
    /// assert_eq!(parts[0].field, "note");
    /// assert_eq!(parts[0].remedy, "add maxLength, or an anchored pattern");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn open_parts(&self) -> Vec<OpenPart> {
        let mut walk = Walk { open: Vec::new(), leaves: Vec::new() };
        self.root().open_parts("", 1, &mut walk);
        match self.root().bits().max {
            Some(_) if self.is_plain() => Vec::new(),
            Some(bits) if walk.open.is_empty() => too_large(bits, self.plain_limit(), walk.leaves),
            _ => walk.open,
        }
    }
}

/// Collects the open parts of a layout, and the sizes of the others.
pub(crate) struct Walk {
    open: Vec<OpenPart>,
    /// The path of each part without parts of its own, and the maximum number of bits of all its occurrences in a message.
    leaves: Vec<(String, u64)>,
}

impl Walk {
    /// Adds a part without a bound.
    pub fn open(&mut self, path: &str, fault: &str, remedy: &'static str) {
        self.open.push(OpenPart { field: shown(path).to_owned(), fault: fault.to_owned(), remedy });
    }

    /// Adds a part without parts of its own, which occurs up to `times` times.
    pub fn leaf(&mut self, path: &str, bits: Bits, times: u64) {
        self.leaves.push((shown(path).to_owned(), bits.max.unwrap_or(0).saturating_mul(times)));
    }
}

fn too_large(bits: u64, limit: u64, mut leaves: Vec<(String, u64)>) -> Vec<OpenPart> {
    let bytes = bits.div_ceil(8).saturating_add(1);
    let whole = OpenPart {
        field: shown("").to_owned(),
        fault: format!("takes up to {bytes} bytes, more than {limit}"),
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
