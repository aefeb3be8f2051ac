//! What values of one place in the messages have in common: their kinds, null, arrays.

use super::{MANY, Note, number, object, range, text, write};
use crate::{Model, parse::Node};
use dunnage_pson::Value;

/// What has been guessed so far.
#[derive(Default)]
pub(super) struct Guesses {
    pub(super) notes: Vec<Note>,
}

impl Guesses {
    /// Notes a guess about the field at `path`; the empty path is the message.
    pub(super) fn note(&mut self, path: &str, text: String) {
        let field = if path.is_empty() { "$" } else { path };
        self.notes.push(Note { field: field.to_owned(), text });
    }
}

/// `one message` or `40 messages`, for any noun whose plural takes an s.
pub(super) fn counted(n: usize, noun: &str) -> String {
    if n == 1 { format!("one {noun}") } else { format!("{n} {noun}s") }
}

/// The path of the field `key` of the object at `path`.
pub(super) fn below(path: &str, key: &str) -> String {
    if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") }
}

/// The values of one place, by their kind.
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

    /// The names of the kinds that occur, without null.
    fn names(&self) -> Vec<&'static str> {
        let kinds = [
            ("booleans", self.bools),
            ("numbers", self.numbers.len()),
            ("text", self.texts.len()),
            ("arrays", self.arrays.len()),
            ("objects", self.objects.len()),
        ];
        kinds.into_iter().filter(|(_, count)| *count > 0).map(|(name, _)| name).collect()
    }
}

/// The schema of the values at `path`, an object of keywords.
pub(super) fn infer(guesses: &mut Guesses, path: &str, values: &[&Node]) -> Node {
    let kinds = Kinds::of(values);
    let names = kinds.names();
    if names.is_empty() {
        let seen = if kinds.nulls > 0 { "only null seen" } else { "no value seen" };
        guesses.note(path, format!("{seen}: anything is allowed; say what it may be"));
        return write::object([]);
    }
    if names.len() > 1 {
        guesses.note(path, format!("{} seen: anything is allowed", names.join(" and ")));
        return write::object([]);
    }
    let kind = if kinds.bools > 0 {
        write::object([("type", write::text("boolean"))])
    } else if !kinds.numbers.is_empty() {
        number::infer(guesses, path, &kinds.numbers)
    } else if !kinds.texts.is_empty() {
        text::infer(guesses, path, &kinds.texts)
    } else if !kinds.arrays.is_empty() {
        array(guesses, path, &kinds.arrays)
    } else {
        object::infer(guesses, path, &kinds.objects)
    };
    if kinds.nulls == 0 {
        return kind;
    }
    guesses.note(path, format!("null in {} of {}: null is allowed", kinds.nulls, values.len()));
    nullable(kind)
}

/// `kind`, or null.
fn nullable(kind: Node) -> Node {
    let Node::Object(mut keywords) = kind else { return kind };
    for (keyword, node) in &mut keywords {
        match (keyword.as_str(), &mut *node) {
            ("type", Node::Text(name)) => *node = Node::Array(vec![write::text(name), write::text("null")]),
            ("enum", Node::Array(choices)) => choices.push(Node::Null),
            _ => {}
        }
    }
    Node::Object(keywords)
}

/// The schema of arrays: one schema for all elements, and how many there are.
fn array(guesses: &mut Guesses, path: &str, arrays: &[&[Node]]) -> Node {
    let lengths = || arrays.iter().map(|items| items.len());
    let (least, most) = (lengths().min().unwrap_or(0), lengths().max().unwrap_or(0));
    let mut keywords = vec![("type".to_owned(), write::text("array"))];
    let items: Vec<&Node> = arrays.iter().flat_map(|items| items.iter()).collect();
    let seen = counted(arrays.len(), "array");
    if least == most && most > 0 && arrays.len() >= MANY {
        guesses.note(path, format!("{} in all of {seen}: always so many", counted(most, "element")));
        keywords.push(("minItems".to_owned(), write::count(most)));
        keywords.push(("maxItems".to_owned(), write::count(most)));
    } else {
        let limit = range::round_up(2 * most.max(5) as i128) as usize;
        guesses
            .note(path, format!("{least} to {most} elements in {seen}; up to {limit} guessed with headroom"));
        keywords.push(("maxItems".to_owned(), write::count(limit)));
    }
    let inner = format!("{}[]", if path.is_empty() { "$" } else { path });
    keywords.insert(1, ("items".to_owned(), infer(guesses, &inner, &items)));
    Node::Object(keywords)
}

/// Whether `schema` compiles and allows all of `values`.
pub(super) fn allows(schema: &Node, values: impl IntoIterator<Item = Option<Value>>) -> bool {
    let Ok(model) = Model::compile(&write::schema(schema)) else { return false };
    values.into_iter().all(|value| value.is_some_and(|value| model.validate(&value).is_ok()))
}

/// The message that the JSON text of `node` is read as; `None` when it has a number that neither 64 bits nor a binary64 hold.
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

/// A number as a message has it, which keeps the sign of -0.
pub(super) fn read_number(text: &str) -> Option<Value> {
    if let Ok(n) = text.parse::<u64>() {
        return Some(Value::U64(n));
    }
    if let Some(n) = text.parse::<i64>().ok().filter(|n| *n != 0) {
        return Some(Value::I64(n));
    }
    let f = text.parse::<f64>().ok().filter(|f| f.is_finite())?;
    let is_whole = text.bytes().all(|b| b.is_ascii_digit() || b == b'-');
    (!is_whole || f == 0.0 || format!("{f:.0}") == text).then_some(Value::F64(f))
}
