//! Infers the values at one path of the messages: their kinds, and null.

use super::{
    array,
    guesses::{Guesses, counted},
    number, object, produced, text, write,
};
use crate::{number::read_number, parse::Node};
use dunnage_pson::Value;

/// The values at one path, by kind.
#[derive(Default)]
struct Kinds<'a> {
    nulls: usize,
    bools: usize,
    numbers: Vec<&'a str>,
    texts: Vec<&'a str>,
    arrays: Vec<&'a [Node]>,
    objects: Vec<&'a [(String, Node)]>,
}

impl<'a> Kinds<'a> {
    fn of(values: &[&'a Node]) -> Kinds<'a> {
        let mut kinds = Kinds::default();
        for value in values {
            match value {
                Node::Null => kinds.nulls += 1,
                Node::Bool(_) => kinds.bools += 1,
                Node::Number(text) => kinds.numbers.push(text),
                Node::Text(text) => kinds.texts.push(text),
                Node::Array(items) => kinds.arrays.push(items),
                Node::Object(entries) => kinds.objects.push(entries),
            }
        }
        kinds
    }

    /// Returns the names of the kinds without null, and how many values have each.
    fn counts(&self) -> [(&'static str, usize); 5] {
        [
            ("booleans", self.bools),
            ("numbers", self.numbers.len()),
            ("text", self.texts.len()),
            ("arrays", self.arrays.len()),
            ("objects", self.objects.len()),
        ]
    }

    /// Returns the names of the kinds that occur, without null.
    fn names(&self) -> Vec<&'static str> {
        self.counts().into_iter().filter(|(_, count)| *count > 0).map(|(name, _)| name).collect()
    }

    /// Notes the kinds that only mutated frames have.
    fn note_others(&self, guesses: &mut Guesses, path: &str, mutated: &Kinds<'_>) {
        let pairs = self.counts().into_iter().zip(mutated.counts());
        let others = pairs.filter(|((_, seen), (_, mutated))| *seen == 0 && *mutated > 0);
        let others = others.map(|(_, (name, count))| (name, count));
        let null = Some(("null", mutated.nulls)).filter(|(_, count)| self.nulls == 0 && *count > 0);
        for (name, count) in others.chain(null) {
            let seen = counted(count, "mutated frame");
            guesses.note(path, format!("{name} in {seen}, in no example: left out"));
        }
    }
}

/// Infers the schema of the values at `path`, an object of keywords. `mutated` are those of mutated frames, which add no kinds.
pub(super) fn infer(guesses: &mut Guesses, path: &str, values: &[&Node], mutated: &[&Node]) -> Node {
    let kinds = Kinds::of(values);
    let mutated = Kinds::of(mutated);
    kinds.note_others(guesses, path, &mutated);
    let names = kinds.names();
    if names.is_empty() {
        let seen = match kinds.nulls {
            0 => "no value seen".to_owned(),
            n => format!("only null seen in {}", counted(n, "value")),
        };
        guesses.note(path, format!("{seen}: anything is allowed; say what it may be"));
        return write::object([]);
    }
    if names.len() > 1 {
        guesses.note(path, format!("{} seen: each of these is allowed", names.join(" and ")));
    }
    let mut kind = either(branches(guesses, path, &kinds, &mutated));
    if kinds.nulls > 0 {
        guesses.note(path, format!("null in {} of {}: null is allowed", kinds.nulls, values.len()));
        kind = nullable(kind);
    }
    kind
}

/// Infers a schema for each kind that occurs.
fn branches(guesses: &mut Guesses, path: &str, kinds: &Kinds<'_>, mutated: &Kinds<'_>) -> Vec<Node> {
    let mut branches = Vec::new();
    if kinds.bools > 0 {
        branches.push(write::object([("type", write::text("boolean"))]));
    }
    if !kinds.numbers.is_empty() {
        branches.push(match guesses.are_decoded {
            true => produced::numbers(guesses, path, &kinds.numbers, &mutated.numbers),
            false => number::infer(guesses, path, &kinds.numbers),
        });
    }
    if !kinds.texts.is_empty() {
        branches.push(match guesses.are_decoded {
            true => produced::texts(guesses, path, &kinds.texts, &mutated.texts),
            false => text::infer(guesses, path, &kinds.texts),
        });
    }
    if !kinds.arrays.is_empty() {
        branches.push(array::infer(guesses, path, &kinds.arrays, &mutated.arrays));
    }
    if !kinds.objects.is_empty() {
        branches.push(object::infer(guesses, path, &kinds.objects, &mutated.objects));
    }
    branches
}

/// Combines the branches. If one allows anything, the others are redundant.
fn either(mut branches: Vec<Node>) -> Node {
    if let Some(any) = branches.iter().position(|branch| *branch == write::object([])) {
        return branches.swap_remove(any);
    }
    match (branches.pop(), branches.is_empty()) {
        (Some(only), true) => only,
        (last, _) => {
            branches.extend(last);
            write::object([("anyOf", Node::Array(branches))])
        }
    }
}

/// Adds null to the schema `kind`.
fn nullable(kind: Node) -> Node {
    let Node::Object(mut keywords) = kind else { return kind };
    for (keyword, node) in &mut keywords {
        if keyword == "const" {
            *keyword = "enum".to_owned();
            *node = Node::Array(vec![node.clone()]);
        }
        match (keyword.as_str(), &mut *node) {
            ("type", Node::Text(name)) => *node = Node::Array(vec![write::text(name), write::text("null")]),
            ("enum", Node::Array(choices)) => choices.push(Node::Null),
            ("anyOf", Node::Array(branches)) => branches.push(write::object([("type", write::text("null"))])),
            _ => {}
        }
    }
    Node::Object(keywords)
}

/// Returns the message that reading the JSON text of `node` gives; `None` if no value keeps the digits of a number.
pub(super) fn message(node: &Node) -> Option<Value> {
    Some(match node {
        Node::Null => Value::Null,
        Node::Bool(b) => Value::Bool(*b),
        Node::Number(text) => read_number(text)?,
        Node::Text(text) => Value::Text(text.clone()),
        Node::Array(items) => Value::Array(items.iter().map(message).collect::<Option<_>>()?),
        Node::Object(entries) => {
            let entry = |(key, node): &(String, Node)| Some((key.clone(), message(node)?));
            Value::Map(entries.iter().map(entry).collect::<Option<_>>()?)
        }
    })
}
