//! The fewest bytes of a message in a code that knows its schema and no statistics.
//!
//! Each part of a message takes log2 of the number of values that the schema allows there: two for presence, null or a boolean, the possible
//! counts of elements of an array, the numbers of a number. Fractions of bits add up over the whole message, as if all parts shared one
//! number. On average over messages whose parts take all of their values equally often, no code is shorter.

use crate::container::Failed;
use dunnage_packed::{Form, Node, Number, ObjectNode, Shape, Value};
use dunnage_schema::Segment;

/// Returns the bytes of `message`, a message of the layout with this root. Fails if a part has no bound.
pub fn bytes(root: &Node, message: &Value) -> Result<f64, Failed> {
    // A message without any choice is still sent.
    Ok((bits(root, message)? / 8.0).ceil().max(1.0))
}

fn bits(node: &Node, value: &Value) -> Result<f64, Failed> {
    Ok(match (&node.shape, value) {
        (Shape::Constant(_) | Shape::Known(_), _) => 0.0,
        (Shape::Bool, _) => 1.0,
        (Shape::Choice(values), _) => choice(values.len()),
        (Shape::Number(one), _) => number(one)?,
        (Shape::Numbers(numbers), _) => {
            numbers.parts.iter().map(|(_, part)| number(part)).sum::<Result<f64, Failed>>()?
        }
        (Shape::Pattern(segments), Value::Text(text)) => pattern(segments, text),
        (Shape::Array(array), Value::Array(items)) => {
            count(array.min, array.max)? + sum(items.iter().map(|item| (&*array.item, item)))?
        }
        (Shape::Tuple(tuple), Value::Array(items)) => {
            let nodes = tuple.items.iter().chain(std::iter::repeat_with(|| tuple.rest.as_deref()).flatten());
            count(tuple.min, tuple.max)? + sum(nodes.zip(items))?
        }
        (Shape::Object(object), Value::Map(entries)) => fields(object, entries)?,
        (Shape::Nullable(_), Value::Null) => 1.0,
        (Shape::Nullable(inner), value) => 1.0 + bits(inner, value)?,
        // The shortest of the nodes that may hold the value is not longer than the one that does.
        (Shape::Union(nodes), value) => {
            let bits = nodes.iter().filter_map(|node| bits(node, value).ok()).min_by(f64::total_cmp);
            choice(nodes.len()) + bits.ok_or("a value of none of the types")?
        }
        (other, _) => return Err(format!("no bound is known for {other:?}").into()),
    })
}

fn fields(object: &ObjectNode, entries: &[(String, Value)]) -> Result<f64, Failed> {
    let mut left = entries.len();
    let mut bits = 0.0;
    for field in &object.fields {
        bits += if field.optional { 1.0 } else { 0.0 };
        match entries.iter().find(|(key, _)| *key == field.name) {
            Some((_, value)) => {
                bits += self::bits(&field.node, value)?;
                left -= 1;
            }
            None if field.optional => {}
            None => return Err(format!("the field {:?} is missing", field.name).into()),
        }
    }
    if left > 0 { Err("a key that the schema does not have".into()) } else { Ok(bits) }
}

fn sum<'a>(mut parts: impl Iterator<Item = (&'a Node, &'a Value)>) -> Result<f64, Failed> {
    parts.try_fold(0.0, |sum, (node, value)| Ok(sum + bits(node, value)?))
}

fn choice(values: usize) -> f64 {
    (values as f64).log2()
}

/// The number of elements of an array.
fn count(min: u32, max: Option<u32>) -> Result<f64, Failed> {
    let max = max.ok_or("an array without maxItems")?;
    Ok(f64::from(max - min + 1).log2())
}

fn number(number: &Number) -> Result<f64, Failed> {
    match number.form() {
        Form::Index(count) if number.usual.is_none() => Ok((count as f64).log2()),
        _ => Err("a number without bounds, or with x-dunnage-usual".into()),
    }
}

/// Returns the bits of a text of this pattern: the number of characters of each segment, and the characters.
fn pattern(segments: &[Segment], text: &str) -> f64 {
    let mut rest = text.chars().peekable();
    let mut bits = 0.0;
    for segment in segments {
        let mut run = 0;
        while run < segment.max && rest.next_if(|c| segment.chars.contains(c)).is_some() {
            run += 1;
        }
        bits +=
            f64::from(segment.max - segment.min + 1).log2() + f64::from(run) * choice(segment.chars.len());
    }
    bits
}

#[cfg(test)]
mod tests {
    use super::*;
    use dunnage_packed::Layout;
    use dunnage_schema::Model;

    fn bits_of(schema: &str, message: &str) -> f64 {
        let layout = Layout::new(&Model::compile(schema).unwrap()).unwrap();
        bits(layout.root(), &serde_json::from_str(message).unwrap()).unwrap()
    }

    #[test]
    fn parts_share_bits() {
        let schema = r#"{
            "type": "object",
            "properties": {
                "a": {"type": "integer", "minimum": 1, "maximum": 3},
                "b": {"type": "array", "items": {"type": "integer", "minimum": 0, "maximum": 4}, "maxItems": 2},
                "c": {"type": ["integer", "null"], "minimum": 0, "maximum": 6},
                "d": {"type": "string", "pattern": "^[0-9]{2}[a-c]{0,1}$"},
                "e": {"type": ["boolean", "array"], "items": {"type": "boolean"}, "minItems": 1, "maxItems": 1}
            },
            "required": ["a"],
            "additionalProperties": false
        }"#;
        for (message, parts) in [
            (r#"{"a": 2}"#, 1.0),
            (r#"{"a": 2, "b": [0, 4]}"#, 3.0 * 5.0 * 5.0),
            (r#"{"a": 2, "c": null}"#, 2.0),
            (r#"{"a": 2, "c": 6}"#, 2.0 * 7.0),
            (r#"{"a": 2, "d": "12"}"#, 2.0 * 100.0),
            (r#"{"a": 2, "d": "12b"}"#, 2.0 * 300.0),
            (r#"{"a": 2, "e": [true]}"#, 2.0 * 2.0),
        ] {
            // The number, and whether each of the four others is there.
            let all = 3.0 * 16.0 * parts;
            assert!((bits_of(schema, message) - f64::log2(all)).abs() < 1e-9, "{message}");
        }
    }
}
