//! Compares objects: fields that were added, removed or moved.

use super::Walk;
use crate::{Field, Object, Type};
use dunnage_pson::Value;
use std::collections::HashMap;

impl<'a> Walk<'a> {
    pub(super) fn object(&mut self, path: &str, old: &'a Object, new: &'a Object) {
        let below = |name: &str| if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") };
        let before: HashMap<&str, &Field> =
            old.fields.iter().map(|field| (field.name.as_str(), field)).collect();
        let after: HashMap<&str, &Field> =
            new.fields.iter().map(|field| (field.name.as_str(), field)).collect();
        for field in old.fields.iter().filter(|field| !after.contains_key(field.name.as_str())) {
            let keeps = self.keeps_other(new.additional.as_deref(), Some(&field.kind));
            self.note(&below(&field.name), keeps, "removed");
        }
        let moved = moved(&old.fields, &new.fields);
        for (at, field) in new.fields.iter().enumerate() {
            let path = below(&field.name);
            let Some(earlier) = before.get(field.name.as_str()) else {
                let text = if field.required { "added, required" } else { "added, optional" };
                // If the old schema allowed other fields, old messages may have one of this name.
                let keeps = !field.required && self.keeps_other(Some(&field.kind), old.additional.as_deref());
                self.note(&path, keeps, text);
                continue;
            };
            if moved.contains(&at) {
                let place = at.checked_sub(1).and_then(|at| new.fields.get(at));
                let text = place
                    .map_or("moved to the front".to_owned(), |place| format!("moved behind {}", place.name));
                self.note(&path, true, text);
            }
            match (earlier.required, field.required) {
                (true, false) => self.note(&path, true, "was required, now optional"),
                (false, true) => self.note(&path, false, "was optional, now required"),
                _ => {}
            }
            self.kinds(&path, &earlier.kind, &field.kind);
        }
        match (&old.additional, &new.additional) {
            (Some(old), Some(new)) => self.kinds(&below("*"), old, new),
            (None, Some(_)) => self.note(path, true, "other fields are allowed now"),
            (Some(_), None) => self.note(path, false, "other fields are no longer allowed"),
            (None, None) => {}
        }
    }

    /// Whether `new` allows everything that `old` allowed. `None` allows nothing.
    fn keeps_other(&mut self, new: Option<&'a Type>, old: Option<&'a Type>) -> bool {
        match (new, old) {
            (_, None) => true,
            (None, Some(_)) => false,
            (Some(new), Some(old)) => self.contains(new, old),
        }
    }
}

/// Returns the smallest set of fields, as indices in `new`, that have to move to bring the fields of `old` into the order of `new`.
fn moved(old: &[Field], new: &[Field]) -> Vec<usize> {
    let places: HashMap<&str, usize> =
        old.iter().enumerate().map(|(at, field)| (field.name.as_str(), at)).collect();
    // The old index and the new index of each field that is in both.
    let stay: Vec<(usize, usize)> = new
        .iter()
        .enumerate()
        .filter_map(|(at, field)| Some((*places.get(field.name.as_str())?, at)))
        .collect();
    // The longest increasing subsequence of old indices, by patience sorting: `ends` has, for each length, the end with the smallest old
    // index.
    let mut ends: Vec<usize> = Vec::new();
    let mut before: Vec<Option<usize>> = Vec::with_capacity(stay.len());
    for (index, (place, _)) in stay.iter().enumerate() {
        let length = ends.partition_point(|end| stay[*end].0 < *place);
        before.push(length.checked_sub(1).map(|shorter| ends[shorter]));
        if length == ends.len() { ends.push(index) } else { ends[length] = index }
    }
    let mut in_order = vec![false; stay.len()];
    let mut at = ends.last().copied();
    while let Some(index) = at {
        in_order[index] = true;
        at = before[index];
    }
    stay.iter().zip(in_order).filter(|(_, in_order)| !in_order).map(|((_, at), _)| *at).collect()
}

/// Writes a value of a schema as JSON.
pub(super) fn json(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(b) => b.to_string(),
        Value::U64(n) => n.to_string(),
        Value::I64(n) => n.to_string(),
        Value::F64(f) => f.to_string(),
        Value::Text(text) => serde_json::Value::from(text.as_str()).to_string(),
        // A schema has no byte strings.
        Value::Bytes(bytes) => format!("{} bytes", bytes.len()),
        Value::Array(items) => format!("[{}]", items.iter().map(json).collect::<Vec<_>>().join(",")),
        Value::Map(entries) => {
            let entry = |(key, value): &(String, Value)| {
                format!("{}:{}", serde_json::Value::from(key.as_str()), json(value))
            };
            format!("{{{}}}", entries.iter().map(entry).collect::<Vec<_>>().join(","))
        }
    }
}
