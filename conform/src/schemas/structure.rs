//! Schemas of values with parts: arrays, tuples, objects, and choices between schemas.

use super::{
    Maker,
    members::{Members, quoted},
};

impl Maker<'_> {
    pub(super) fn array(&mut self, depth: usize) -> String {
        let item = self.any_kind(depth);
        let min = self.random.below(3);
        let mut members = Members::of("array").with("items", item);
        if min > 0 {
            members = members.with("minItems", min);
        }
        if self.is_open() && self.random.once_in(2) {
            return members.object();
        }
        members.with("maxItems", min + self.random.below(4)).object()
    }

    pub(super) fn tuple(&mut self, depth: usize) -> String {
        let items: Vec<String> = (0..1 + self.random.below(3)).map(|_| self.any_kind(depth)).collect();
        let min = self.random.below(items.len() + 1);
        let rest = if self.random.once_in(2) { "false".to_owned() } else { self.any_kind(depth) };
        let max = items.len() + self.random.below(3);
        let members = Members::of("array").with("prefixItems", format!("[{}]", items.join(",")));
        members.with("items", rest).with("minItems", min).with("maxItems", max).object()
    }

    pub(super) fn nullable(&mut self, depth: usize) -> String {
        match self.random.below(3) {
            0 => format!("{{\"anyOf\":[{},{{\"type\":\"null\"}}]}}", self.any_kind(depth)),
            1 => format!("{{\"oneOf\":[{{\"type\":\"null\"}},{}]}}", self.integer().object()),
            _ => {
                let mut members = self.integer();
                members.0[0].1 = r#"["integer","null"]"#.to_owned();
                members.object()
            }
        }
    }

    pub(super) fn union(&mut self, depth: usize) -> String {
        if self.random.once_in(3) {
            let members = Members(vec![("type", r#"["integer","boolean","string"]"#.to_owned())]);
            return members.with("minimum", 0).with("maximum", self.width()).with("maxLength", 5).object();
        }
        let kinds: Vec<String> = (0..2 + self.random.below(3)).map(|_| self.any_kind(depth)).collect();
        format!("{{\"anyOf\":[{}]}}", kinds.join(","))
    }

    pub(super) fn object_members(&mut self, depth: usize, is_root: bool) -> Members {
        let count = if is_root { 1 + self.random.below(9) } else { self.random.below(4) };
        let (mut properties, mut required) = (Vec::new(), Vec::new());
        for i in 0..count {
            // Includes keys that are not valid identifiers in generated code.
            let key = match self.random.below(12) {
                0 => format!("a-{i}/~ \u{e9}\""),
                1 => ["int", "class", "_", "2nd", "value"][i % 5].to_owned() + &"_".repeat(i / 5),
                _ => format!("field{i}"),
            };
            properties.push(format!("{}:{}", quoted(&key), self.any_kind(depth)));
            if self.random.below(4) > 0 {
                required.push(quoted(&key));
            }
        }
        let mut members = Members::of("object").with("properties", format!("{{{}}}", properties.join(",")));
        if !required.is_empty() {
            members = members.with("required", format!("[{}]", required.join(",")));
        }
        match self.random.below(3) {
            0 if self.is_open() => members,
            1 if self.is_open() => {
                let additional = self.any_kind(depth.saturating_sub(1));
                members.with("additionalProperties", additional)
            }
            _ => members.with("additionalProperties", false),
        }
    }
}
