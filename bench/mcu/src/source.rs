//! Writes lines and loops of C source.

use crate::layout::{Node, Struct, counter};
use std::fmt::Write as _;

/// Writes a line of C, indented by `depth` levels.
pub fn line(out: &mut String, depth: usize, text: &str) {
    let _ = writeln!(out, "{:1$}{text}", "", depth * 4);
}

/// Writes a loop over the elements of the list at `place`.
pub fn each_element(
    element: &Node,
    place: &str,
    depth: usize,
    out: &mut String,
    of_struct: fn(&Struct, &str, usize, &mut String),
    of_node: fn(&Node, &str, usize, &mut String),
) {
    let count = counter(place);
    line(out, depth, &format!("for (uint16_t i{depth} = 0; i{depth} < {count}; i{depth}++) {{"));
    if let Node::Struct(inner) = element {
        line(out, depth + 1, &format!("const {} *e{depth} = &{place}[i{depth}];", inner.name));
        of_struct(inner, &format!("e{depth}->"), depth + 1, out);
    } else {
        of_node(element, &format!("{place}[i{depth}]"), depth + 1, out);
    }
    line(out, depth, "}");
}
