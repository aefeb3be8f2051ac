//! Finds equal values among many, in constant time each.

use crate::same::same;
use dunnage_pson::Value;
use std::{
    collections::{HashMap, hash_map::RandomState},
    hash::{BuildHasher, Hash, Hasher},
};

/// Indices of values by hash. The hash has a random key, so that no input can make all hashes collide.
#[derive(Default)]
pub(crate) struct Distinct {
    state: RandomState,
    seen: HashMap<u64, Vec<usize>>,
}

impl Distinct {
    /// Enters all of `values`.
    pub(crate) fn of(values: &[Value]) -> Distinct {
        let mut distinct = Distinct::default();
        for (index, value) in values.iter().enumerate() {
            distinct.enter(index, value, |_| false);
        }
        distinct
    }

    /// Returns the index of the first of `values` that is the same as `value`. `values` must be those that were entered.
    pub(crate) fn find(&self, values: &[Value], value: &Value) -> Option<usize> {
        let alike = self.seen.get(&hash(value, &self.state))?;
        alike.iter().copied().find(|&at| values.get(at).is_some_and(|one| same(one, value)))
    }

    /// Enters `index` under `value`. Returns the first earlier index with the same hash for which `is_same` holds.
    pub(crate) fn enter(
        &mut self,
        index: usize,
        value: &Value,
        is_same: impl Fn(usize) -> bool,
    ) -> Option<usize> {
        let before = self.seen.entry(hash(value, &self.state)).or_default();
        let found = before.iter().copied().find(|&other| is_same(other));
        before.push(index);
        found
    }
}

/// Returns a hash that is equal for equal values, and for values that differ only in the order of fields or the sign of zero.
fn hash(value: &Value, state: &RandomState) -> u64 {
    let mut hasher = state.build_hasher();
    match value {
        Value::Null => 0u8.hash(&mut hasher),
        Value::Bool(b) => b.hash(&mut hasher),
        Value::U64(_) | Value::I64(_) | Value::F64(_) => match (value.as_integer(), value) {
            (Some(n), _) => n.hash(&mut hasher),
            (None, Value::F64(f)) if *f == 0.0 => 0i128.hash(&mut hasher),
            (None, Value::F64(f)) => f.to_bits().hash(&mut hasher),
            (None, _) => {}
        },
        Value::Text(text) => text.hash(&mut hasher),
        Value::Bytes(bytes) => bytes.hash(&mut hasher),
        Value::Array(items) => items.iter().for_each(|item| hash(item, state).hash(&mut hasher)),
        Value::Map(entries) => {
            let entry = |(key, value): &(String, Value)| state.hash_one((key, hash(value, state)));
            entries.iter().map(entry).fold(0u64, u64::wrapping_add).hash(&mut hasher);
        }
    }
    hasher.finish()
}

/// Removes values that are the same as an earlier one, and keeps the order.
pub(crate) fn distinct(values: Vec<Value>) -> Vec<Value> {
    let mut seen = Distinct::default();
    let mut out: Vec<Value> = Vec::with_capacity(values.len());
    for value in values {
        if seen.enter(out.len(), &value, |at| out.get(at).is_some_and(|other| same(other, &value))).is_none()
        {
            out.push(value);
        }
    }
    out
}
