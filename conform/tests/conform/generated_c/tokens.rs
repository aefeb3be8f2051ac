//! Converts a message to the words that the C driver reads and writes, in the order of the bits.
//!
//! A flag is 0 or 1, a number its count, a choice its index, a float the bits of its binary64, a text `x` and its UTF-8 in hex.
//! `x-nul` represents a text that C cannot hold.

use dunnage_codegen::c::{Content, Plan, Slot, SlotKind};
use dunnage_packed::{Layout, Node, Number, Shape, Source};
use dunnage_pson::Value;
use dunnage_schema::Decimal;

/// The words of `message`; `None` if the message does not match the layout.
pub fn message(layout: &Layout, plan: &Plan, message: &Value) -> Option<Vec<String>> {
    let mut words = Vec::new();
    content(&plan.root.content, layout.root(), message, &mut words)?;
    Some(words)
}

/// Whether the schema has keywords that C does not check.
pub fn is_unchecked(layout: &Layout) -> bool {
    let text = format!("{:?}", layout.model().root());
    // C accepts any characters in a text unless its pattern is exact.
    text.contains("Checked(")
        || text.contains("asserts_format: true")
        || text.contains("segments: None")
        || loose(layout.root())
}

/// Whether the node contains a text without an exact pattern.
fn loose(node: &Node) -> bool {
    match &node.shape {
        Shape::Text(_) => true,
        Shape::Array(array) => loose(&array.item),
        Shape::Tuple(tuple) => {
            tuple.items.iter().any(loose) || tuple.rest.as_ref().is_some_and(|rest| loose(rest))
        }
        Shape::Object(object) => object.fields.iter().any(|field| loose(&field.node)),
        Shape::Nullable(inner) => loose(inner),
        Shape::Union(kinds) => kinds.iter().any(loose),
        _ => false,
    }
}

fn content(of: &Content, node: &Node, value: &Value, words: &mut Vec<String>) -> Option<()> {
    match (of, &node.shape, value) {
        (Content::Object(fields), Shape::Object(object), Value::Map(entries)) => {
            let known = |key: &String| object.fields.iter().any(|field| field.name == *key);
            entries.iter().all(|(key, _)| known(key)).then_some(())?;
            for ((has, slot), field) in fields.iter().zip(&object.fields) {
                let value = value.get(&field.name);
                if has.is_some() {
                    words.push(u8::from(value.is_some()).to_string());
                }
                match value {
                    Some(value) => kind(slot, &field.node, value, words)?,
                    None if has.is_none() => return None,
                    None => {}
                }
            }
            Some(())
        }
        (Content::Value(slot), _, _) => kind(slot, node, value, words),
        (Content::Numbers(_), Shape::Numbers(numbers), Value::Text(text)) => {
            let mut pieces = text.split(numbers.separator.as_str());
            for (_, part) in &numbers.parts {
                words.push(count(part, &Value::Text(pieces.next()?.to_owned()))?.to_string());
            }
            pieces.next().is_none().then_some(())
        }
        (Content::Tuple(of), Shape::Tuple(tuple), Value::Array(elements)) => {
            if of.count.is_some() {
                words.push(elements.len().to_string());
            }
            (elements.len() >= of.min as usize && elements.len() <= of.max as usize).then_some(())?;
            for (i, element) in elements.iter().enumerate() {
                match (of.items.get(i), &of.rest) {
                    (Some(slot), _) => kind(slot, &tuple.items[i], element, words)?,
                    (None, Some((_, slot))) => kind(slot, tuple.rest.as_ref()?, element, words)?,
                    _ => return None,
                }
            }
            Some(())
        }
        (Content::Union(alternatives), Shape::Union(kinds), value) => {
            for (i, (alternative, node)) in alternatives.iter().zip(kinds).enumerate() {
                let mut inner = Vec::new();
                if kind(&alternative.slot, node, value, &mut inner).is_some() {
                    words.push(i.to_string());
                    words.append(&mut inner);
                    return Some(());
                }
            }
            None
        }
        _ => None,
    }
}

fn kind(slot: &Slot, node: &Node, value: &Value, words: &mut Vec<String>) -> Option<()> {
    match (&slot.kind, &node.shape, value) {
        // An element with several members has its own struct.
        (SlotKind::Struct(inner), _, _) => return content(&inner.content, node, value, words),
        (SlotKind::Nothing, Shape::Constant(constant), value) => return (constant == value).then_some(()),
        (SlotKind::Nothing, _, _) => return Some(()),
        (SlotKind::Bool, _, Value::Bool(flag)) => words.push(u8::from(*flag).to_string()),
        (SlotKind::Number(_), Shape::Number(number), value) => words.push(count(number, value)?.to_string()),
        (SlotKind::Float(..), _, Value::F64(f)) => words.push(format!("{:016x}", f.to_bits())),
        (SlotKind::Float(..), _, Value::U64(_) | Value::I64(_)) => {
            words.push(format!("{:016x}", (value.as_integer()? as f64).to_bits()));
        }
        (SlotKind::Choice(_), Shape::Choice(values), value) => {
            words.push(values.iter().position(|other| other == value)?.to_string());
        }
        (SlotKind::Pattern(_), Shape::Pattern(segments), Value::Text(text)) => {
            let known = |c| segments.iter().any(|segment| segment.chars.contains(&c));
            text.chars().all(known).then_some(())?;
            words.push(self::text(text));
        }
        (SlotKind::Text(_), Shape::Text(_), Value::Text(text)) => words.push(self::text(text)),
        (SlotKind::Array(array), Shape::Array(of), Value::Array(elements)) => {
            if array.count.is_some() {
                words.push(elements.len().to_string());
            }
            return elements.iter().try_for_each(|element| kind(&array.item, &of.item, element, words));
        }
        (SlotKind::Nullable(..), Shape::Nullable(_), Value::Null) => words.push("1".into()),
        (SlotKind::Nullable(_, inner), Shape::Nullable(of), value) => {
            words.push("0".into());
            return kind(inner, of, value, words);
        }
        _ => return None,
    }
    Some(())
}

fn text(text: &str) -> String {
    match text.contains('\0') {
        true => "x-nul".into(),
        false => text.bytes().fold("x".to_owned(), |hex, byte| format!("{hex}{byte:02x}")),
    }
}

/// The number as a multiple of its step or of the sensor's unit.
fn count(number: &Number, value: &Value) -> Option<i128> {
    let of_decimal = |decimal: &Decimal, scaled| match decimal.quantum {
        Some(_) => decimal.count_of(scaled),
        None => Some(scaled),
    };
    let n = match (&number.source, value) {
        (Source::Integer, value) => value.as_integer()?,
        (Source::Decimal(decimal), value) => of_decimal(decimal, decimal.scaled(value)?)?,
        (Source::Text(text), Value::Text(value)) => of_decimal(&text.number, text.parse(value)?)?,
        (Source::Time(time), Value::Text(value)) => time.parse(value)?,
        _ => return None,
    };
    (n >= number.min && n <= number.max).then_some(n / i128::from(number.step))
}
