//! The units of the values in a message, as `x-dunnage-unit` gives them.

use crate::{
    parse::Node,
    pointer::{escape, unescape},
};

/// The token of a pointer that means every element of an array, or for every field without a schema of its own.
pub const EVERY: &str = "*";

/// Most schemas that are followed on the way to a value: a schema may refer to itself.
const MAX_DEPTH: usize = 32;
/// Most schemas that are read, and most units that are returned.
const MAX_VISITS: usize = 10_000;
const MAX_UNITS: usize = 1000;

/// Keywords whose schemas apply to the same value.
const SAME: [&str; 6] = ["allOf", "anyOf", "oneOf", "if", "then", "else"];

/// Returns the unit of each value that has one in the schema `text`, by the value's JSON pointer, in the schema's order. In the pointers,
/// `"*"` means any element or field; the first pointer that fits a value has its unit.
///
/// A text that is not JSON has no units.
///
pub fn units(text: &str) -> Vec<(String, String)> {
    let Ok(root) = Node::parse(text) else { return Vec::new() };
    let mut reader = Reader { root: &root, visits: 0, units: Vec::new() };
    reader.read(&root, "", 0);
    reader.units
}

struct Reader<'a> {
    root: &'a Node,
    visits: usize,
    units: Vec<(String, String)>,
}

impl<'a> Reader<'a> {
    /// Reads the schema `node` of the value at `pointer`.
    fn read(&mut self, node: &'a Node, pointer: &str, depth: usize) {
        self.visits += 1;
        if depth > MAX_DEPTH || self.visits > MAX_VISITS || self.units.len() >= MAX_UNITS {
            return;
        }
        if let Some(unit) = node.text("x-dunnage-unit")
            && !self.units.iter().any(|(known, _)| known == pointer)
        {
            self.units.push((pointer.to_owned(), unit.to_owned()));
        }
        if let Some(target) = node.text("$ref").and_then(|address| find(self.root, address)) {
            self.read(target, pointer, depth + 1);
        }
        for keyword in SAME {
            match node.get(keyword) {
                Some(Node::Array(all)) => all.iter().for_each(|one| self.read(one, pointer, depth + 1)),
                Some(one) => self.read(one, pointer, depth + 1),
                None => {}
            }
        }
        self.read_inside(node, pointer, depth + 1);
    }

    /// Reads the schemas of the fields and elements of the value at `pointer`. Those with a name come before those of all others.
    fn read_inside(&mut self, node: &'a Node, pointer: &str, depth: usize) {
        if let Some(Node::Object(fields)) = node.get("properties") {
            for (name, field) in fields {
                self.read(field, &format!("{pointer}/{}", escape(name)), depth);
            }
        }
        for keyword in ["prefixItems", "items"] {
            if let Some(Node::Array(items)) = node.get(keyword) {
                for (i, item) in items.iter().enumerate() {
                    self.read(item, &format!("{pointer}/{i}"), depth);
                }
            }
        }
        let every = format!("{pointer}/{EVERY}");
        if let Some(Node::Object(patterns)) = node.get("patternProperties") {
            patterns.iter().for_each(|(_, field)| self.read(field, &every, depth));
        }
        for keyword in ["items", "additionalItems", "additionalProperties"] {
            if let Some(inner @ Node::Object(_)) = node.get(keyword) {
                self.read(inner, &every, depth);
            }
        }
    }
}

/// Returns the schema in `root` that `address` names: `#`, or `#` and a pointer.
fn find<'a>(root: &'a Node, address: &str) -> Option<&'a Node> {
    let pointer = address.strip_prefix('#')?;
    pointer.split('/').skip(1).try_fold(root, |node, token| node.part(&unescape(token)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Vec<String> {
        units(text).into_iter().map(|(pointer, unit)| format!("{pointer} {unit}")).collect()
    }

    #[test]
    fn units_are_found_where_the_values_are() {
        let text = r##"{
            "x-dunnage-unit": "%",
            "properties": {
                "t": {"type": "number", "x-dunnage-unit": "°C"},
                "a/b": {"$ref": "#/$defs/speed", "x-dunnage-unit": "km/h"},
                "wind": {"properties": {"gust": {"$ref": "#/$defs/speed"}, "name": {"type": "string"}}},
                "phases": {"type": "array", "prefixItems": [{"x-dunnage-unit": "A"}], "items": {"allOf": [{"x-dunnage-unit": "V"}]}}
            },
            "additionalProperties": {"x-dunnage-unit": "m"},
            "$defs": {"speed": {"x-dunnage-unit": "m/s"}}
        }"##;
        let expected = [" %", "/t °C", "/a~1b km/h", "/wind/gust m/s", "/phases/0 A", "/phases/* V", "/* m"];
        assert_eq!(of(text), expected);
        assert_eq!(of("{"), [""; 0]);
    }

    #[test]
    fn a_schema_that_refers_to_itself_has_an_end() {
        let two =
            r##"{"properties": {"a": {"$ref": "#"}, "b": {"$ref": "#"}, "t": {"x-dunnage-unit": "K"}}}"##;
        assert!((2..=MAX_UNITS).contains(&units(two).len()));
        assert_eq!(of(r##"{"$ref": "#/properties/a", "properties": {"a": {"$ref": "#"}}}"##), [""; 0]);
    }

    #[test]
    fn the_bundled_schemas_have_units() {
        let text = crate::bundled_named("weather").unwrap();
        assert!(of(text).contains(&"/wind/gust m/s".to_owned()), "{:?}", of(text));
    }
}
