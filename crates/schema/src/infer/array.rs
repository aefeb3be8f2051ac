//! Infers arrays: with one schema for all elements, or one for each position.

use super::{
    MANY,
    guesses::{Guesses, counted},
    infer_value, range, write,
};
use crate::parse::Node;

/// The most positions of an array that have schemas of their own.
const PLACES: usize = 8;

/// Infers the schema of arrays. Those of mutated frames count for the lengths and the elements, unless the arrays have positions.
pub(super) fn infer(guesses: &mut Guesses, path: &str, arrays: &[&[Node]], mutated: &[&[Node]]) -> Node {
    let extent = |arrays: &[&[Node]]| {
        let lengths = || arrays.iter().map(|items| items.len());
        (lengths().min().unwrap_or(0), lengths().max().unwrap_or(0))
    };
    let (least, most) = extent(arrays);
    if least == most && most <= PLACES && has_places(arrays) {
        return places(guesses, path, arrays, mutated, most);
    }
    let samples = arrays;
    let arrays = &[samples, mutated].concat()[..];
    let (least, most) = extent(arrays);
    let seen = counted(arrays.len(), "array");
    let elements = counted(most, "element");
    let mut bounds = Vec::new();
    // A vector or a histogram, unlike a list of objects, of which one may be missing.
    let are_numbers = arrays.iter().all(|items| items.iter().all(|item| matches!(item, Node::Number(_))));
    if least == most && most > 1 && arrays.len() >= MANY && are_numbers {
        guesses.note(path, format!("{elements} in all of {seen}: taken as a fixed length"));
        bounds.push(("minItems".to_owned(), write::count(most)));
        bounds.push(("maxItems".to_owned(), write::count(most)));
    } else {
        let limit = range::round_up(2 * most.max(5) as i128) as usize;
        let from = if least < most { format!("{least} to ") } else { String::new() };
        guesses.note(path, format!("{from}{elements} in {seen}; up to {limit} guessed with headroom"));
        bounds.push(("maxItems".to_owned(), write::count(limit)));
    }
    let path = format!("{}[]", root(path));
    let items = infer_value(guesses, &path, &items_of(samples), &items_of(mutated));
    let mut keywords = vec![("type".to_owned(), write::text("array")), ("items".to_owned(), items)];
    keywords.extend(bounds);
    Node::Object(keywords)
}

fn items_of<'a>(arrays: &[&'a [Node]]) -> Vec<&'a Node> {
    arrays.iter().copied().flatten().collect()
}

/// Whether arrays of one length have the same kind at each position, and different kinds at different positions. A single array is not
/// enough evidence.
fn has_places(arrays: &[&[Node]]) -> bool {
    let kinds = |items: &[Node]| items.iter().map(std::mem::discriminant).collect::<Vec<_>>();
    let [first, others @ ..] = arrays else { return false };
    let first = kinds(first);
    let differ = first.iter().any(|kind| first.first() != Some(kind));
    differ && !others.is_empty() && others.iter().all(|items| kinds(items) == first)
}

/// Infers the schema of arrays with `count` positions, each with values of its own.
fn places(guesses: &mut Guesses, path: &str, arrays: &[&[Node]], mutated: &[&[Node]], count: usize) -> Node {
    let seen = counted(arrays.len(), "array");
    guesses.note(path, format!("{count} elements in all of {seen}, a type for each: always these"));
    let items = (0..count).map(|at| {
        let values: Vec<&Node> = arrays.iter().filter_map(|items| items.get(at)).collect();
        let of_length = mutated.iter().filter(|items| items.len() == count);
        let mutated: Vec<&Node> = of_length.filter_map(|items| items.get(at)).collect();
        infer_value(guesses, &format!("{}[{at}]", root(path)), &values, &mutated)
    });
    let items = Node::Array(items.collect());
    write::object([
        ("type", write::text("array")),
        ("prefixItems", items),
        ("items", Node::Bool(false)),
        ("minItems", write::count(count)),
    ])
}

fn root(path: &str) -> &str {
    if path.is_empty() { "$" } else { path }
}
