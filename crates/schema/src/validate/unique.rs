//! Equality for `uniqueItems`: the order of an object's fields does not matter, 2 equals 2.0, and 0 equals -0.0.

use crate::distinct::Distinct;
use dunnage_pson::Value;
use std::collections::HashMap;

/// Finds the first element that equals an earlier one. Returns the index of the earlier element and its own.
pub(super) fn twice(items: &[Value]) -> Option<(usize, usize)> {
    if items.len() <= 8 {
        return (1..items.len())
            .find_map(|b| (0..b).find(|&a| is_same(&items[a], &items[b])).map(|a| (a, b)));
    }
    let mut seen = Distinct::default();
    let mut before =
        |(b, item): (usize, &Value)| Some((seen.enter(b, item, |a| is_same(&items[a], item))?, b));
    items.iter().enumerate().find_map(&mut before)
}

fn is_same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Array(a), Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| is_same(a, b))
        }
        (Value::Map(a), Value::Map(b)) => {
            let others: HashMap<&str, &Value> = b.iter().map(|(key, value)| (key.as_str(), value)).collect();
            let found = |key: &str, value: &Value| others.get(key).is_some_and(|other| is_same(value, other));
            a.len() == b.len() && a.iter().all(|(key, value)| found(key, value))
        }
        (Value::F64(a), Value::F64(b)) => a == b,
        (Value::F64(f), other) | (other, Value::F64(f)) if *f == 0.0 => *other == Value::U64(0),
        _ => a == b,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map(entries: &[(&str, f64)]) -> Value {
        Value::Map(entries.iter().map(|(key, f)| ((*key).to_owned(), Value::F64(*f))).collect())
    }

    #[test]
    fn equal_elements_are_found_among_few_and_among_many() {
        for pair in [
            (Value::U64(2), Value::F64(2.0)),
            (Value::F64(-0.0), Value::U64(0)),
            (map(&[("a", 1.0), ("b", 2.5)]), map(&[("b", 2.5), ("a", 1.0)])),
            (Value::Array(vec![map(&[("a", 0.0)])]), Value::Array(vec![map(&[("a", -0.0)])])),
        ] {
            for others in [0, 20] {
                let mut items: Vec<Value> = (100..100 + others).map(Value::U64).collect();
                items.push(pair.0.clone());
                assert_eq!(twice(&items), None, "{items:?}");
                items.push(pair.1.clone());
                assert_eq!(twice(&items), Some((items.len() - 2, items.len() - 1)), "{items:?}");
            }
        }
    }

    #[test]
    fn unequal_elements_stay_apart() {
        let items = [
            Value::U64(1),
            Value::Bool(true),
            Value::from("1"),
            Value::Null,
            Value::from(""),
            Value::Array(vec![]),
            Value::Map(vec![]),
            map(&[("a", 1.0)]),
            map(&[("a", 1.0), ("b", 1.0)]),
            map(&[("b", 1.0), ("a", 2.0)]),
            Value::Bytes(vec![]),
        ];
        assert_eq!(twice(&items), None);
        assert_eq!(twice(&items[..5]), None);
    }
}
