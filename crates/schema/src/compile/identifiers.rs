//! `$id`, `id` and `$anchor`: where references by name lead.

use super::{dialect::Dialect, positions::subschemas};
use crate::{error::join, parse::Node};
use std::collections::HashMap;

/// What the schemas of a text are called.
pub(super) struct Identifiers<'a> {
    /// Absolute names and the pointers of what they name.
    names: HashMap<String, (String, &'a Node)>,
    /// The pointers and absolute names of schemas that references in them start from, outer before inner.
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
            // Before 2019-09 a name that is only a fragment is an anchor.
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

    /// The schema that a reference without its fragment means, seen from the schema at `at`.
    pub(super) fn document(&self, at: &str, reference: &str) -> Option<(String, &'a Node)> {
        let (start, base, node) = self.base(at)?;
        if reference.is_empty() {
            return Some((start.clone(), node));
        }
        self.names.get(&absolute(base, reference)).cloned()
    }

    /// The schema with the anchor `name` in the document `reference`.
    pub(super) fn anchor(&self, at: &str, reference: &str, name: &str) -> Option<(String, &'a Node)> {
        let (_, base, _) = self.base(at)?;
        let document = if reference.is_empty() { base.clone() } else { absolute(base, reference) };
        self.names.get(&format!("{document}#{name}")).cloned()
    }

    /// What references of the schema at `at` start from: the innermost schema around it that has a name.
    fn base(&self, at: &str) -> Option<&(String, String, &'a Node)> {
        let holds =
            |start: &str| at.strip_prefix(start).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
        self.bases.iter().filter(|(start, _, _)| holds(start)).max_by_key(|(start, _, _)| start.len())
    }
}

/// `reference` as seen from `base`, for the references that schemas have: whole addresses, paths and names of files.
pub(crate) fn absolute(base: &str, reference: &str) -> String {
    if has_scheme(reference) {
        return reference.to_owned();
    }
    let path = base.find("://").map_or(0, |scheme| {
        base[scheme + 3..].find('/').map_or(base.len(), |authority| scheme + 3 + authority)
    });
    if reference.starts_with('/') {
        return format!("{}{}", &base[..path], without_dots(reference));
    }
    let folder = base[path..].rfind('/').map_or(path, |i| path + i + 1);
    let (authority, folder) = base[..folder].split_at(path.min(folder));
    format!("{authority}{}", without_dots(&format!("{folder}{reference}")))
}

/// The path without `.` and `..`, as RFC 3986, 5.2.4 takes them out; those that lead above a relative path stay.
fn without_dots(path: &str) -> String {
    let mut kept: Vec<&str> = Vec::new();
    let last = path.split('/').count() - 1;
    for (i, part) in path.split('/').enumerate() {
        match part {
            "." | ".." if part == "." || kept.last().is_some_and(|last| !matches!(*last, "" | "..")) => {
                if part == ".." {
                    kept.pop();
                }
                if i == last {
                    kept.push("");
                }
            }
            ".." if kept == [""] => {}
            _ => kept.push(part),
        }
    }
    kept.join("/")
}

/// Whether the reference is a whole address.
pub(crate) fn has_scheme(reference: &str) -> bool {
    reference.split_once(':').is_some_and(|(scheme, _)| {
        scheme.starts_with(|c: char| c.is_ascii_alphabetic())
            && scheme.bytes().all(|b| b.is_ascii_alphanumeric() || b"+-.".contains(&b))
    })
}

#[cfg(test)]
mod tests {
    use super::absolute;

    #[test]
    fn references_are_seen_from_their_base() {
        for (base, reference, expected) in [
            ("https://a.example/x/y.json", "z.json", "https://a.example/x/z.json"),
            ("https://a.example/x/y.json", "./z.json", "https://a.example/x/z.json"),
            ("https://a.example/x/", "z", "https://a.example/x/z"),
            ("https://a.example/x/y/", "../z/./v.json", "https://a.example/x/z/v.json"),
            ("https://a.example/x/y.json", "../../z", "https://a.example/z"),
            ("https://a.example/x/y.json", "..", "https://a.example/"),
            ("https://a.example/x/y.json", "/p/../z", "https://a.example/z"),
            ("x/y.json", "../../z.json", "../z.json"),
            ("https://a.example/x/y.json", "/z", "https://a.example/z"),
            ("https://a.example/x/y.json", "http://b.example/z", "http://b.example/z"),
            ("https://a.example/x/y.json", "urn:dunnage:z", "urn:dunnage:z"),
            ("y.json", "z.json", "z.json"),
            ("", "z.json", "z.json"),
        ] {
            assert_eq!(absolute(base, reference), expected, "{base} {reference}");
        }
    }
}
