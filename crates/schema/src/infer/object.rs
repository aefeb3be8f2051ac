//! Infers objects: required fields, optional fields, and maps whose keys are data.

use super::{
    guesses::{Guesses, below, counted},
    identifier, infer_value, write,
};
use crate::parse::Node;
use std::collections::{HashMap, HashSet};

/// The number of distinct keys from which on an object may be a map.
const MAP_KEYS: usize = 8;

/// The values of one key.
struct Field<'a> {
    key: &'a str,
    values: Vec<&'a Node>,
}

/// The most fields of mutated frames that a note names.
const NAMED: usize = 8;

/// Infers the schema of objects. Those of mutated frames add no fields, and do not count for which fields are required.
pub(super) fn infer(
    guesses: &mut Guesses,
    path: &str,
    objects: &[&[(String, Node)]],
    mutated: &[&[(String, Node)]],
) -> Node {
    let fields = fields(objects);
    if is_map(&fields, objects.len()) {
        let seen = counted(objects.len(), "object");
        let text =
            format!("{} different keys in {seen}: the keys are data, any key is allowed", fields.len());
        guesses.note(path, text);
        let values: Vec<&Node> = fields.iter().flat_map(|field| field.values.iter().copied()).collect();
        let mutated: Vec<&Node> =
            mutated.iter().flat_map(|entries| entries.iter().map(|(_, node)| node)).collect();
        let values = infer_value(guesses, &below(path, "*"), &values, &mutated);
        return write::object([("type", write::text("object")), ("additionalProperties", values)]);
    }
    note_presence(guesses, path, &fields, objects.len());
    let mutated = fields_of_mutated(guesses, path, &fields, mutated);
    let mut properties = Vec::with_capacity(fields.len());
    let mut required = Vec::new();
    for field in &fields {
        let mutated = mutated.get(field.key).map_or(&[][..], Vec::as_slice);
        let kind = infer_value(guesses, &below(path, field.key), &field.values, mutated);
        properties.push((field.key.to_owned(), kind));
        if field.values.len() == objects.len() {
            required.push(write::text(field.key));
        }
    }
    let mut keywords = vec![("type".to_owned(), write::text("object"))];
    keywords.push(("properties".to_owned(), Node::Object(properties)));
    if !required.is_empty() {
        keywords.push(("required".to_owned(), Node::Array(required)));
    }
    keywords.push(("additionalProperties".to_owned(), Node::Bool(false)));
    Node::Object(keywords)
}

/// Collects the fields of all objects. A new key is placed after the key that precedes it in its object.
fn fields<'a>(objects: &[&'a [(String, Node)]]) -> Vec<Field<'a>> {
    let mut fields: Vec<Field<'a>> = Vec::new();
    let mut index: HashMap<&str, usize> = HashMap::new();
    // A linked list of fields, to insert without moving: the index of the field after each one. The first entry is the head.
    let mut next: Vec<Option<usize>> = vec![None];
    for entries in objects {
        let mut before = 0;
        for (key, node) in *entries {
            let at = *index.entry(key).or_insert_with(|| {
                fields.push(Field { key, values: Vec::new() });
                let new = fields.len() - 1;
                let follower = next[before].replace(new);
                next.push(follower);
                new
            });
            fields[at].values.push(node);
            before = at + 1;
        }
    }
    let mut order = Vec::with_capacity(fields.len());
    let mut at = next[0];
    while let Some(field) = at {
        order.push(Field { key: fields[field].key, values: std::mem::take(&mut fields[field].values) });
        at = next[field + 1];
    }
    order
}

/// Returns the values that mutated frames have of the fields, and notes the fields that only they have.
fn fields_of_mutated<'a>(
    guesses: &mut Guesses,
    path: &str,
    fields: &[Field<'_>],
    mutated: &[&'a [(String, Node)]],
) -> HashMap<&'a str, Vec<&'a Node>> {
    let mut values: HashMap<&str, Vec<&Node>> = HashMap::new();
    for (key, node) in mutated.iter().copied().flatten() {
        values.entry(key).or_default().push(node);
    }
    let known: HashSet<&str> = fields.iter().map(|field| field.key).collect();
    let mut others: Vec<&str> = values.keys().copied().filter(|key| !known.contains(key)).collect();
    if !others.is_empty() {
        others.sort_unstable();
        let more = others.len().saturating_sub(NAMED);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        others.truncate(NAMED);
        let names = others.join(", ");
        guesses.note(
            path,
            format!("only mutated frames have {names}{more}: left out; give examples that have them"),
        );
    }
    values
}

fn note_presence(guesses: &mut Guesses, path: &str, fields: &[Field<'_>], objects: usize) {
    let always = fields.iter().filter(|field| field.values.len() == objects).count();
    let seen = counted(objects, "object");
    if always > 0 {
        let share = if always == fields.len() { String::new() } else { format!(" of {}", fields.len()) };
        let noun = if (always, share.is_empty()) == (1, true) { "field" } else { "fields" };
        guesses.note(path, format!("{always}{share} {noun} always there in {seen}: required"));
    }
    for field in fields.iter().filter(|field| field.values.len() < objects) {
        let missing = objects - field.values.len();
        guesses.note(&below(path, field.key), format!("missing in {missing} of {objects}: optional"));
    }
}

/// Whether the keys are data: there are many, their values have one shape, and either the keys come and go, or they are numbers or
/// identifiers.
fn is_map(fields: &[Field<'_>], objects: usize) -> bool {
    if fields.len() < MAP_KEYS || !same_shape(fields) {
        return false;
    }
    let entries: usize = fields.iter().map(|field| field.values.len()).sum();
    // On average, a key is in fewer than half of the objects.
    let come_and_go = 2 * entries < fields.len() * objects;
    let always_there = objects > 1 && entries == fields.len() * objects;
    let keys: Vec<&str> = fields.iter().map(|field| field.key).collect();
    come_and_go || !always_there && identifier::are_numbered(&keys)
}

/// Whether all values are of one kind and, if they are objects, have a key in common.
fn same_shape(fields: &[Field<'_>]) -> bool {
    let mut values = fields.iter().flat_map(|field| field.values.iter().copied());
    let Some(first) = values.next() else { return false };
    let kind = std::mem::discriminant(first);
    let mut common: Option<HashSet<&str>> = keys(first);
    for value in values {
        if std::mem::discriminant(value) != kind {
            return false;
        }
        if let (Some(common), Some(keys)) = (&mut common, keys(value)) {
            common.retain(|key| keys.contains(key));
        }
    }
    common.is_none_or(|common| !common.is_empty())
}

fn keys(value: &Node) -> Option<HashSet<&str>> {
    match value {
        Node::Object(entries) => Some(entries.iter().map(|(key, _)| key.as_str()).collect()),
        _ => None,
    }
}
