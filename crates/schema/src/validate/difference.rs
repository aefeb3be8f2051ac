//! Explains how a value differs from the values that `const` and `enum` list.

use super::{
    Check,
    describe::{self, Brief, Listed, Quoted},
};
use crate::{Violation, kinds::Kinds, same};
use dunnage_pson::{DUPLICATE_KEY, Value};

/// The most listed values that a violation names.
const NAMED: usize = 8;

impl Check<'_> {
    /// Returns the violation of a value that is not among `values`.
    pub(super) fn not_listed(&self, values: &[Value], v: &Value) -> Result<(), Violation> {
        if !self.explain.get() {
            return self.fail(String::new);
        }
        // If only one listed value is an object, the violation names the part that differs from it.
        let is_like = |one: &&Value| Kinds::of_value(one).meets(Kinds::of_value(v));
        let mut like = values.iter().filter(is_like);
        if let (Value::Map(_), Some(only @ Value::Map(_)), None) = (v, like.next(), like.next()) {
            return self.differs(only, v);
        }
        let names: Vec<String> = values.iter().take(NAMED).map(|value| Listed(value).to_string()).collect();
        let more = if values.len() > names.len() { ", …" } else { "" };
        self.fail(|| format!("{} is none of {}{more}", Listed(v), names.join(", ")))
    }

    /// Returns the violation of a value that is not the same as `only`. It names the first part that differs.
    pub(super) fn differs(&self, only: &Value, v: &Value) -> Result<(), Violation> {
        if !self.explain.get() {
            return self.fail(String::new);
        }
        match (only, v) {
            (Value::Map(wanted), Value::Map(entries)) => self.fields_differ(wanted, entries),
            (Value::Array(wanted), Value::Array(items)) if wanted.len() == items.len() => {
                let differing =
                    wanted.iter().zip(items).enumerate().find(|(_, (one, item))| !same(one, item));
                differing.map_or(Ok(()), |(i, (one, item))| {
                    self.differs(one, item).map_err(|violation| violation.under(&i.to_string()))
                })
            }
            (Value::Array(wanted), Value::Array(items)) => {
                self.fail(|| format!("an array of {}; the schema has one of {}", items.len(), wanted.len()))
            }
            _ => self.fail(|| format!("{} is not {}", Brief(v), Listed(only))),
        }
    }

    fn fields_differ(
        &self,
        wanted: &[(String, Value)],
        entries: &[(String, Value)],
    ) -> Result<(), Violation> {
        let of = |fields: &[(String, Value)], key: &str| {
            fields.iter().find(|(name, _)| name == key).map(|(_, value)| value.clone())
        };
        for (key, value) in entries {
            match of(wanted, key) {
                Some(one) if same(&one, value) => {}
                Some(one) => return self.differs(&one, value).map_err(|violation| violation.under(key)),
                None => {
                    let names = wanted.iter().map(|(name, _)| name.as_str());
                    let unknown = self.violation(|| describe::unknown(key, names)).of_field();
                    return Err(unknown.under(key));
                }
            }
        }
        match wanted.iter().find(|(key, _)| of(entries, key).is_none()) {
            Some((key, _)) => self.fail(|| format!("the field {} is missing", Quoted(key))),
            None => self.fail(|| DUPLICATE_KEY.to_owned()),
        }
    }
}
