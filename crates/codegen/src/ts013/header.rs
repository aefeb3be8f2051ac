//! Generates the comment at the top of a codec.

use dunnage_packed::{Layout, Node, ObjectNode, Shape};
use std::fmt::Write;

/// The width of the comment's text, in columns.
const WIDTH: usize = 120;

/// Describes the purpose of the codec, and the fields of its messages with their bits.
pub(super) fn comment(layout: &Layout, schema: &str) -> String {
    let mut lines = vec![format!(
        "{}: payload codec for LoRaWAN network servers, as LoRa Alliance TS013 has it.",
        layout.name()
    )];
    lines.push(format!(
        "Written by `dunnage generate ts013 --schema {schema}`: change the schema, not this file."
    ));
    lines.push(String::new());
    let most = layout.max_bytes().unwrap_or(0);
    let slot = if layout.has_slot_byte() { "slot" } else { "port" };
    lines.push(format!("{slot} {}, {} to {most} bytes", layout.slot(), layout.min_bytes()));
    let fingerprint: String = layout.fingerprint().iter().map(|byte| format!("{byte:02x}")).collect();
    lines.push(format!("layout {fingerprint}"));
    lines.push(String::new());
    let mut rows = Vec::new();
    fields(layout.root(), "", &mut rows);
    let width = rows.iter().map(|row| row.0.chars().count()).max().unwrap_or(0);
    for (path, bits, description) in rows {
        let mut line = format!("{path:width$}  {bits:>11}  {description}");
        if line.chars().count() > WIDTH {
            line = line.chars().take(WIDTH - 3).chain("...".chars()).collect();
        }
        lines.push(line);
    }
    let mut text = String::from("/*\n");
    for line in lines {
        // The first `*/` would end the comment.
        let line = line.replace("*/", "* /");
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{}", format!(" * {line}").trim_end());
    }
    text.push_str(" */\n");
    text
}

/// Collects the parts that contain no other parts: path, bits, description.
fn fields(node: &Node, path: &str, rows: &mut Vec<(String, String, String)>) {
    match &node.shape {
        Shape::Object(object) => properties(object, path, rows),
        Shape::Array(array) => fields(&array.item, &format!("{path}[]"), rows),
        Shape::Nullable(inner) => fields(inner, path, rows),
        _ => rows.push((path.to_owned(), bits(node), String::new())),
    }
}

fn properties(object: &ObjectNode, path: &str, rows: &mut Vec<(String, String, String)>) {
    let prefix = if path.is_empty() { String::new() } else { format!("{path}.") };
    for field in &object.fields {
        let first = rows.len();
        fields(&field.node, &format!("{prefix}{}", field.name), rows);
        if let (Some(row), Some(description)) = (rows.get_mut(first), &field.description) {
            row.2 = description.split_whitespace().collect::<Vec<_>>().join(" ");
        }
    }
}

fn bits(node: &Node) -> String {
    let bits = node.bits();
    match bits.max {
        Some(max) if max != bits.min => format!("{}-{max} bits", bits.min),
        _ if bits.min == 1 => "1 bit".to_owned(),
        _ => format!("{} bits", bits.min),
    }
}
