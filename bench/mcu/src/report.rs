//! The report of a firmware, and the expected values.

use crate::{
    Failure,
    layout::{Node, Struct, StructKind},
    message::{Message, bound, bound_elements},
};
use dunnage_pson::Value;

/// A measured region.
#[derive(Debug)]
pub struct Region {
    /// The ID from the firmware.
    pub id: usize,
    /// Cycles or instructions.
    pub count: u64,
    /// Stack in bytes, including the return address of the call.
    pub stack: u64,
    /// The folds within the region.
    pub inside: Vec<Event>,
    /// The folds between this region and the next.
    pub after: Vec<Event>,
}

/// A folded item.
#[derive(Debug, Clone, PartialEq)]
pub enum Event {
    /// A map with this number of entries.
    Map(u64),
    /// An array with this number of elements.
    Array(u64),
    /// A key of a map.
    Key(String),
    /// Any other value.
    Value(Value),
}

impl Event {
    /// Whether a struct contains the item. Keys are the names of its members, and maps are structs.
    pub fn is_in_struct(&self) -> bool {
        matches!(self, Event::Array(_) | Event::Value(_))
    }
}

/// Parses the report of `simavr/run.c` or `qemu.rs`. Fails if it is malformed or incomplete.
pub fn regions(text: &str) -> Result<Vec<Region>, Failure> {
    let mut regions: Vec<Region> = Vec::new();
    let mut inside = None;
    for line in text.lines() {
        let words: Vec<_> = line.split(' ').collect();
        match words[..] {
            ["start", _] => inside = Some(Vec::new()),
            ["fold", kind, hex] => {
                let event = event(kind, &bytes(hex)?)?;
                match (&mut inside, regions.last_mut()) {
                    (Some(events), _) => events.push(event),
                    (None, Some(region)) => region.after.push(event),
                    (None, None) => return Err("a fold before the first region".into()),
                }
            }
            ["region", id, "cycles" | "instructions", count, "stack", stack] => regions.push(Region {
                id: id.parse()?,
                count: count.parse()?,
                stack: stack.parse()?,
                inside: inside.take().ok_or("a region ended that had not started")?,
                after: Vec::new(),
            }),
            ["end", ..] => return Ok(regions),
            _ => return Err(format!("unknown line: {line}").into()),
        }
    }
    Err("the firmware's report is incomplete".into())
}

fn bytes(hex: &str) -> Result<Vec<u8>, Failure> {
    (0..hex.len()).step_by(2).map(|i| Ok(u8::from_str_radix(&hex[i..i + 2], 16)?)).collect()
}

/// The item of a fold of `kind` with these bytes; numbers are little-endian.
fn event(kind: &str, bytes: &[u8]) -> Result<Event, Failure> {
    let unsigned = bytes.iter().rev().fold(0, |n, byte| n << 8 | u64::from(*byte));
    let signed = if bytes.len() == 4 { i64::from(unsigned as u32 as i32) } else { unsigned as i64 };
    Ok(match (kind, bytes.len()) {
        ("m", 2 | 4) => Event::Map(unsigned),
        ("a", 2 | 4) => Event::Array(unsigned),
        ("k", _) => Event::Key(String::from_utf8(bytes.to_vec())?),
        ("t", _) => Event::Value(Value::Text(String::from_utf8(bytes.to_vec())?)),
        ("x", _) => Event::Value(Value::Bytes(bytes.to_vec())),
        ("u", 4 | 8) => Event::Value(Value::U64(unsigned)),
        ("i", 4 | 8) => Event::Value(Value::from(signed)),
        ("f", 4) => Event::Value(Value::from(f64::from(f32::from_bits(unsigned as u32)))),
        ("f", 8) => Event::Value(Value::from(f64::from_bits(unsigned))),
        ("b", 1) => Event::Value(Value::Bool(unsigned != 0)),
        ("z", 0) => Event::Value(Value::Null),
        _ => return Err(format!("not a fold: {kind} of {} bytes", bytes.len()).into()),
    })
}

/// The expected folds of a walk over the message.
pub fn walked(message: &Message) -> Vec<Event> {
    let mut events = Vec::new();
    walk(&message.value, &mut events);
    events
}

fn walk(value: &Value, events: &mut Vec<Event>) {
    match value {
        Value::Map(entries) => {
            events.push(Event::Map(entries.len() as u64));
            for (key, value) in entries {
                events.push(Event::Key(key.clone()));
                walk(value, events);
            }
        }
        Value::Array(elements) => {
            events.push(Event::Array(elements.len() as u64));
            elements.iter().for_each(|element| walk(element, events));
        }
        scalar => events.push(Event::Value(scalar.clone())),
    }
}

/// The expected folds of the members of the bound struct.
pub fn bound_members(message: &Message) -> Vec<Event> {
    let mut events = Vec::new();
    members(&message.root, &message.value, &mut events);
    events
}

fn members(structure: &Struct, value: &Value, events: &mut Vec<Event>) {
    match (structure.kind, value) {
        (StructKind::Map, Value::Map(_)) => {
            let fields: Vec<_> = bound(structure).collect();
            events.push(Event::Value(Value::U64((1 << fields.len()) - 1)));
            for field in fields {
                if let Some(value) = value.get(&field.key) {
                    member(&field.node, value, events);
                }
            }
        }
        _ if bound_elements(structure).is_some() => member(&structure.fields[0].node, value, events),
        _ => {}
    }
}

fn member(node: &Node, value: &Value, events: &mut Vec<Event>) {
    match (node, value) {
        (Node::Struct(inner), _) => members(inner, value, events),
        (Node::List { element, .. }, Value::Array(elements)) => {
            events.push(Event::Array(elements.len() as u64));
            elements.iter().for_each(|value| member(element, value, events));
        }
        _ => events.push(Event::Value(value.clone())),
    }
}

/// Fails with an error that shows the first difference.
pub fn compare(what: &str, found: &[Event], expected: &[Event]) -> Result<(), Failure> {
    if found == expected {
        return Ok(());
    }
    let at = found.iter().zip(expected).take_while(|(a, b)| a == b).count();
    let (found, expected) = (found.get(at), expected.get(at));
    Err(format!("{what}: item {at} is {found:?}, expected {expected:?}").into())
}

#[cfg(test)]
mod tests {
    use super::*;

    const REPORT: &str = "start 0\nfold m 0100\nfold k 74\nfold f 0000bc41\nregion 0 cycles 500 stack 20\nfold b 01\nend cycles 9 free 1\n";

    #[test]
    fn folds_belong_to_the_region_that_they_are_in_or_follow() {
        let regions = regions(REPORT).unwrap();
        let [region] = &regions[..] else { panic!("one region") };
        assert_eq!((region.count, region.stack), (500, 20));
        let value = Event::Value(Value::F64(23.5));
        assert_eq!(region.inside, [Event::Map(1), Event::Key("t".into()), value]);
        assert_eq!(region.after, [Event::Value(Value::Bool(true))]);
    }

    #[test]
    fn a_report_that_ends_early_is_an_error() {
        assert!(regions(REPORT.strip_suffix("end cycles 9 free 1\n").unwrap()).is_err());
        assert!(regions("fold u 0102\n").is_err());
    }

    #[test]
    fn the_error_shows_the_first_difference() {
        let expected = [Event::Map(1), Event::Map(2)];
        assert!(compare("x", &expected, &expected).is_ok());
        assert!(compare("x", &expected[..1], &expected).is_err());
        assert!(compare("x", &expected, &expected[..1]).is_err());
        let error = compare("wrong items", &[Event::Map(1), Event::Map(1)], &expected).unwrap_err();
        assert_eq!(error.to_string(), "wrong items: item 1 is Some(Map(1)), expected Some(Map(2))");
    }
}
