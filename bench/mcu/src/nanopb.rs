//! The peer nanopb: Protobuf for microcontrollers. Its generator writes the structs, from a `.proto` that this module derives from the message.

use crate::{
    Failure,
    layout::{self, Node, Struct, StructKind, counter},
    library::Actions,
    message::Message,
    source::{each_element, line},
    toolchain::run,
};
use std::{
    fmt::Write as _,
    fs,
    path::{Path, PathBuf},
    process::Command,
};

/// The reason that nanopb's Protobuf cannot hold the message; `None` if it can.
pub fn obstacle(message: &Message) -> Option<&'static str> {
    fn of(structure: &Struct, top: bool) -> Option<&'static str> {
        if structure.kind == StructKind::Mixed || (structure.kind == StructKind::Only && !top) {
            return Some("Protobuf has no arrays of several types, and no arrays of arrays");
        }
        structure.fields.iter().find_map(|field| match &field.node {
            Node::Null => Some("Protobuf has no null"),
            Node::Struct(inner) => of(inner, false),
            Node::List { element, .. } => match &**element {
                Node::Struct(inner) => of(inner, false),
                _ => None,
            },
            _ => None,
        })
    }
    of(&message.root, true)
}

/// Runs nanopb's generator, which writes structs and tables into `folder`. Returns the C file.
pub fn tables(messages: &[Message], folder: &Path) -> Result<PathBuf, Failure> {
    fs::write(folder.join("messages.proto"), proto(messages))?;
    run(Command::new("nanopb_generator.py").args(["--quiet", "messages.proto"]).current_dir(folder))?;
    Ok(folder.join("messages.pb.c"))
}

/// The `.proto` of the messages, with nanopb's sizes. Field names are those of the structs of `layout`.
fn proto(messages: &[Message]) -> String {
    let mut out = String::from("syntax = \"proto2\";\nimport \"nanopb.proto\";\n");
    for message in messages {
        message_type(&message.root, &mut out);
    }
    out
}

fn message_type(structure: &Struct, out: &mut String) {
    let _ = writeln!(out, "\nmessage {} {{", structure.name);
    for (i, field) in structure.fields.iter().enumerate() {
        let (label, node, most) = match &field.node {
            Node::List { element, most } => ("repeated", &**element, Some(*most)),
            node => ("required", node, None),
        };
        let mut options = Vec::new();
        if let Node::Text { size } = node {
            options.push(format!("(nanopb).max_size = {size}"));
        }
        if let Some(most) = most {
            options.push(format!("(nanopb).max_count = {most}"));
            if !matches!(node, Node::Text { .. } | Node::Struct(_)) {
                options.push("packed = true".into());
            }
        }
        let options = if options.is_empty() { String::new() } else { format!(" [{}]", options.join(", ")) };
        let _ = writeln!(out, "  {label} {} {} = {}{options};", proto_type(node), field.name, i + 1);
    }
    out.push_str("}\n");
    for field in &structure.fields {
        let node = if let Node::List { element, .. } = &field.node { element } else { &field.node };
        if let Node::Struct(inner) = node {
            message_type(inner, out);
        }
    }
}

fn proto_type(node: &Node) -> &str {
    match node {
        Node::Bool => "bool",
        Node::Integer("u32") => "uint32",
        Node::Integer("i32") => "sint32",
        Node::Integer("u64") => "uint64",
        Node::Integer(_) => "sint64",
        Node::Float => "float",
        Node::Double => "double",
        Node::Struct(inner) => &inner.name,
        _ => "string",
    }
}

/// Writes the functions that the measured code calls.
pub fn functions(messages: &[Message], actions: Actions, out: &mut String) {
    for message in messages {
        let name = &message.root.name;
        if actions.encode {
            let _ = writeln!(
                out,
                "static __attribute__((noinline, noclone)) size_t {name}_encode(const {name} *m, uint8_t *to, size_t size) {{
    pb_ostream_t stream = pb_ostream_from_buffer(to, size);
    return pb_encode(&stream, {name}_fields, m) ? stream.bytes_written : 0;
}}
"
            );
        }
        if actions.bind {
            let _ = writeln!(
                out,
                "static __attribute__((noinline, noclone)) bool {name}_bind(const uint8_t *bytes, size_t size, {name} *m) {{
    pb_istream_t stream = pb_istream_from_buffer(bytes, size);
    return pb_decode(&stream, {name}_fields, m);
}}
"
            );
        }
        if actions.bind || actions.all_data {
            let _ = writeln!(out, "static __attribute__((noinline)) void {name}_fold(const {name} *m) {{");
            fold(&message.root, "m->", 1, out);
            out.push_str("}\n\n");
        }
    }
}

/// Writes the calls that report the members of a filled struct.
fn fold(structure: &Struct, path: &str, depth: usize, out: &mut String) {
    for field in &structure.fields {
        fold_node(&field.node, &format!("{path}{}", field.name), depth, out);
    }
}

fn fold_node(node: &Node, place: &str, depth: usize, out: &mut String) {
    match node {
        Node::Struct(inner) => fold(inner, &format!("{place}."), depth, out),
        Node::List { element, .. } => {
            line(out, depth, &format!("fold_array({});", counter(place)));
            each_element(element, place, depth, out, fold, fold_node);
        }
        scalar => line(out, depth, &layout::fold_call(scalar, place)),
    }
}
