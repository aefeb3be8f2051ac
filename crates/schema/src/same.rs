//! Equality for `const` and `enum`.

use dunnage_pson::Value;
use std::collections::HashMap;

/// The number of fields up to which two objects are compared without a hash table.
const FEW: usize = 8;

/// Whether two values are the same for `const` and `enum`: 2 is the same as 2.0, and the order of an object's fields does not matter. -0.0
/// is not the same as 0, because the sign would be lost.
///
/// ```
/// use dunnage_pson::Value;
/// use dunnage_schema::same;
/// assert!(same(&Value::U64(2), &Value::F64(2.0)));
/// let map = |keys: [&str; 2]| Value::Map(keys.iter().map(|key| (key.to_string(), Value::Null)).collect());
/// assert!(same(&map(["a", "b"]), &map(["b", "a"]))); // the order of keys does not count
/// ```
pub fn same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Array(a), Value::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b)),
        (Value::Map(a), Value::Map(b)) if a.len() != b.len() => false,
        (Value::Map(a), Value::Map(b)) if a.len() <= FEW => {
            a.iter().all(|(key, value)| b.iter().any(|(other, found)| other == key && same(value, found)))
        }
        (Value::Map(a), Value::Map(b)) => {
            let others: HashMap<&str, &Value> = b.iter().map(|(key, value)| (key.as_str(), value)).collect();
            a.iter().all(|(key, value)| others.get(key.as_str()).is_some_and(|other| same(value, other)))
        }
        _ => a == b,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map(keys: impl IntoIterator<Item = u64>) -> Value {
        Value::Map(keys.into_iter().map(|n| (format!("k{n}"), Value::U64(n))).collect())
    }

    #[test]
    fn the_order_of_fields_does_not_matter() {
        for count in [2, 7, 8, 9, 40] {
            assert!(same(&map(0..count), &map((0..count).rev())), "{count}");
            assert!(!same(&map(0..count), &map(1..=count)), "{count}");
            assert!(!same(&map(0..count), &map(0..count - 1)), "{count}");
        }
        let nested = |keys: [u64; 2]| Value::Array(vec![map(keys), Value::Null]);
        assert!(same(&nested([1, 2]), &nested([2, 1])));
        assert!(!same(&nested([1, 2]), &nested([1, 3])));
    }

    #[test]
    fn numbers_are_compared_as_messages_have_them() {
        assert!(same(&Value::U64(2), &Value::F64(2.0)));
        assert!(!same(&Value::U64(0), &Value::F64(-0.0)));
        assert!(!same(&Value::Bool(true), &Value::U64(1)));
    }
}
