//! Resolves references by name: `$id`, `id` and `$anchor`.

use super::{address::absolute, dialect::Dialect, positions::subschemas};
use crate::{error::join, parse::Node};
use std::collections::HashMap;

/// The names of the schemas of a text.
pub(super) struct Identifiers<'a> {
    /// Absolute names, with the pointer and the schema that each one names.
    names: HashMap<String, (String, &'a Node)>,
    /// The schemas that are a base for references in them: pointer, absolute name and schema, outer before inner.
    bases: Vec<(String, String, &'a Node)>,
}

impl<'a> Identifiers<'a> {
    pub(super) fn of(root: &'a Node, dialect: Dialect) -> Self {
        let mut found = Identifiers { names: HashMap::new(), bases: Vec::new() };
        found.add(root, "", "", dialect);
        if found.bases.is_empty() {
            found.bases.push((String::new(), String::new(), root));
        }
        found
    }

    fn add(&mut self, node: &'a Node, at: &str, base: &str, dialect: Dialect) {
        let alone = dialect.reference_stands_alone() && node.get("$ref").is_some();
        let id = node.text(if dialect == Dialect::Draft4 { "id" } else { "$id" }).filter(|_| !alone);
        let mut base = base.to_owned();
        match id {
            // Before 2019-09, a name that is only a fragment is an anchor.
            Some(anchor) if anchor.starts_with('#') => self.name(&base, &anchor[1..], at, node),
            Some(id) => {
                base = absolute(&base, id.trim_end_matches('#'));
                self.names.entry(base.clone()).or_insert_with(|| (at.to_owned(), node));
                self.bases.push((at.to_owned(), base.clone(), node));
            }
            None if at.is_empty() => self.bases.push((String::new(), String::new(), node)),
            None => {}
        }
        for anchor in ["$anchor", "$dynamicAnchor"].into_iter().filter_map(|keyword| node.text(keyword)) {
            self.name(&base, anchor, at, node);
        }
        for (tokens, child) in subschemas(node) {
            let at = tokens.iter().fold(at.to_owned(), |at, token| join(&at, token));
            self.add(child, &at, &base, dialect);
        }
    }

    fn name(&mut self, base: &str, anchor: &str, at: &str, node: &'a Node) {
        self.names.entry(format!("{base}#{anchor}")).or_insert_with(|| (at.to_owned(), node));
    }

    /// Returns the schema that `reference`, without its fragment, means in the schema at `at`.
    pub(super) fn document(&self, at: &str, reference: &str) -> Option<(String, &'a Node)> {
        let (start, base, node) = self.base(at)?;
        if reference.is_empty() {
            return Some((start.clone(), node));
        }
        self.names.get(&absolute(base, reference)).cloned()
    }

    /// Returns the schema with the anchor `name` in the document `reference`.
    pub(super) fn anchor(&self, at: &str, reference: &str, name: &str) -> Option<(String, &'a Node)> {
        let (_, base, _) = self.base(at)?;
        let document = if reference.is_empty() { base.clone() } else { absolute(base, reference) };
        self.names.get(&format!("{document}#{name}")).cloned()
    }

    /// Returns the base of references in the schema at `at`: the innermost schema around it that has a name.
    fn base(&self, at: &str) -> Option<&(String, String, &'a Node)> {
        let holds =
            |start: &str| at.strip_prefix(start).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
        self.bases.iter().filter(|(start, _, _)| holds(start)).max_by_key(|(start, _, _)| start.len())
    }
}
