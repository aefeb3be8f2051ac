//! Writes the schema as JSON text: values that fit a line on one line, others with a line for each entry.

use crate::parse::Node;
use std::fmt::Write;

/// The longest line for a whole object or array, in characters.
const WIDTH: usize = 110;
/// The number of spaces for each level of indentation.
const INDENT: usize = 2;

/// Returns a text as a node.
pub(super) fn text(text: &str) -> Node {
    Node::Text(text.to_owned())
}

/// Returns a count as a node.
pub(super) fn count(n: usize) -> Node {
    Node::Number(n.to_string())
}

/// Returns an object node with these keywords, in order.
pub(super) fn object<const N: usize>(entries: [(&str, Node); N]) -> Node {
    Node::Object(entries.map(|(key, node)| (key.to_owned(), node)).into())
}

/// Returns the text of a schema, without a trailing newline.
pub(crate) fn schema(node: &Node) -> String {
    let mut out = String::new();
    write(node, 0, 0, &mut out);
    out
}

/// Writes `node`, which starts in `column`, on a line that is indented by `indent`.
fn write(node: &Node, indent: usize, column: usize, out: &mut String) {
    let line = on_one_line(node);
    // Less than the width, because a comma may follow.
    if indent > 0 && column + line.chars().count() < WIDTH {
        return out.push_str(&line);
    }
    match node {
        Node::Array(items) if items.iter().all(is_single) && !items.is_empty() => fill(items, indent, out),
        Node::Array(items) if !items.is_empty() => {
            let entries = items.iter().map(|item| (String::new(), item));
            write_entries('[', entries, ']', indent, out);
        }
        Node::Object(entries) if !entries.is_empty() => {
            let entries = entries.iter().map(|(key, node)| (format!("{}: ", quoted(key)), node));
            write_entries('{', entries, '}', indent, out);
        }
        _ => out.push_str(&line),
    }
}

fn write_entries<'a>(
    open: char,
    entries: impl Iterator<Item = (String, &'a Node)>,
    close: char,
    indent: usize,
    out: &mut String,
) {
    let inner = indent + INDENT;
    let mut before = open;
    for (key, node) in entries {
        out.push(before);
        // Writing to a String does not fail.
        let _ = write!(out, "\n{:inner$}{key}", "");
        write(node, inner, inner + key.chars().count(), out);
        before = ',';
    }
    let _ = write!(out, "\n{:indent$}{close}", "");
}

fn is_single(node: &Node) -> bool {
    !matches!(node, Node::Array(_) | Node::Object(_))
}

/// Writes scalars, as many on a line as fit.
fn fill(items: &[Node], indent: usize, out: &mut String) {
    let inner = indent + INDENT;
    out.push('[');
    let mut column = WIDTH;
    for (at, item) in items.iter().enumerate() {
        let comma = if at + 1 < items.len() { "," } else { "" };
        let word = on_one_line(item) + comma;
        let width = word.chars().count();
        if column + 1 + width > WIDTH {
            let _ = write!(out, "\n{:inner$}{word}", "");
            column = inner + width;
        } else {
            out.push(' ');
            out.push_str(&word);
            column += 1 + width;
        }
    }
    let _ = write!(out, "\n{:indent$}]", "");
}

pub(super) fn on_one_line(node: &Node) -> String {
    match node {
        Node::Null => "null".to_owned(),
        Node::Bool(b) => b.to_string(),
        Node::Number(text) => text.clone(),
        Node::Text(text) => quoted(text),
        Node::Array(items) => format!("[{}]", items.iter().map(on_one_line).collect::<Vec<_>>().join(", ")),
        Node::Object(entries) if entries.is_empty() => "{}".to_owned(),
        Node::Object(entries) => {
            let entry = |(key, node): &(String, Node)| format!("{}: {}", quoted(key), on_one_line(node));
            format!("{{ {} }}", entries.iter().map(entry).collect::<Vec<_>>().join(", "))
        }
    }
}

/// Returns `text` as a JSON string.
pub(super) fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// Returns a schema of text with one more keyword.
pub(crate) fn text_with(keyword: &str, node: Node) -> Node {
    object([("type", text("string")), (keyword, node)])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_things_stand_on_one_line_and_long_ones_do_not() {
        let short = object([("type", text("string")), ("maxLength", count(20))]);
        let long = Node::Array(vec![text(&"a".repeat(70)), text(&"b".repeat(40)), text("c")]);
        let written = schema(&object([("short", short), ("long", long), ("none", object([]))]));
        let expected = format!(
            "{{\n  \"short\": {{ \"type\": \"string\", \"maxLength\": 20 }},\n  \"long\": [\n    \"{}\",\n    \"{}\", \"c\"\n  ],\n  \"none\": {{}}\n}}",
            "a".repeat(70),
            "b".repeat(40)
        );
        assert_eq!(written, expected);
    }

    #[test]
    fn what_is_written_is_read_back() {
        let node = object([
            ("a\"\n\u{7f}é", Node::Array(vec![Node::Null, Node::Bool(true), count(7)])),
            ("", object([])),
        ]);
        assert_eq!(Node::parse(&schema(&node)).unwrap(), node);
    }
}
