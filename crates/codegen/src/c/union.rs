//! Decides whether two nodes exclude each other.

use dunnage_packed::{Layout, Node, Number, ObjectNode, Shape, Source};
use dunnage_pson::Value;

/// Returns whether no value is carried by both nodes, which belong to `layout`. Returns false if that cannot be decided.
///
/// Keywords that only restrict a type are ignored, because the union encodes a value with the first node that carries it.
pub(super) fn disjoint(layout: &Layout, a: &Node, b: &Node) -> bool {
    let apart = |a: &Node, b: &Node| disjoint(layout, a, b);
    match (&a.shape, &b.shape) {
        (Shape::Nullable(inner), _) => !layout.carries(b, &Value::Null) && apart(inner, b),
        (_, Shape::Nullable(inner)) => !layout.carries(a, &Value::Null) && apart(a, inner),
        (Shape::Union(nodes), _) => nodes.iter().all(|node| apart(node, b)),
        (_, Shape::Union(nodes)) => nodes.iter().all(|node| apart(a, node)),
        (Shape::Constant(value), _) => !layout.carries(b, value),
        (_, Shape::Constant(value)) => !layout.carries(a, value),
        (Shape::Choice(values), _) => !values.iter().any(|value| layout.carries(b, value)),
        (_, Shape::Choice(values)) => !values.iter().any(|value| layout.carries(a, value)),
        (Shape::Object(one), Shape::Object(other)) => lacks(layout, one, other) || lacks(layout, other, one),
        (Shape::Number(one), Shape::Number(other)) if both_integers(one, other) => {
            one.max < other.min || other.max < one.min
        }
        (a, b) => matches!((class(a), class(b)), (Some(a), Some(b)) if a != b),
    }
}

fn both_integers(one: &Number, other: &Number) -> bool {
    matches!((&one.source, &other.source), (Source::Integer, Source::Integer))
}

/// Whether `a` requires a field that `b` cannot have, or cannot have with such a value.
fn lacks(layout: &Layout, a: &ObjectNode, b: &ObjectNode) -> bool {
    a.fields.iter().filter(|field| !field.optional).any(|field| {
        match b.fields.iter().find(|other| other.name == field.name) {
            Some(other) => disjoint(layout, &field.node, &other.node),
            None => b.additional.is_none(),
        }
    })
}

/// Returns the JSON type of all values that the shape carries.
fn class(shape: &Shape) -> Option<&'static str> {
    Some(match shape {
        Shape::Bool => "boolean",
        Shape::Number(number) if matches!(number.source, Source::Integer | Source::Decimal(_)) => "number",
        Shape::Float => "number",
        Shape::Number(_) | Shape::Numbers(_) | Shape::Pattern(_) | Shape::Text(_) | Shape::Known(_) => {
            "string"
        }
        Shape::Array(_) | Shape::Tuple(_) => "array",
        Shape::Object(_) => "object",
        _ => return None,
    })
}
