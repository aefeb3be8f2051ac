//! Finds all violations of a message. [`Model::validate`] stops at the first one.

use super::Check;
use crate::{Assertion, Model, Object, Type, Violation};
use dunnage_pson::Value;

/// The most violations that are listed. A message of another schema has one in each of its values.
const MAX_VIOLATIONS: usize = 100;

impl Model {
    /// Returns how `message` breaks the schema: the error of [`Model::validate`] first, then the other violations, at most 100 together.
    ///
    /// Returns an empty list if the schema allows the message.
    pub fn violations(&self, message: &Value) -> Vec<Violation> {
        let Err(first) = self.validate(message) else { return Vec::new() };
        let mut all = vec![first];
        let check = Check::new(&self.definitions, true);
        for violation in check.every(&self.root, message) {
            if !all.contains(&violation) && all.len() < MAX_VIOLATIONS {
                all.push(violation);
            }
        }
        all
    }
}

impl Check<'_> {
    /// Returns the violations in all parts of an object or array, and only the first violation of any other value.
    fn every(&self, kind: &Type, v: &Value) -> Vec<Violation> {
        if self.is_spent() || !self.enter() {
            return Vec::new();
        }
        let found = match (kind, v) {
            (Type::Object(object), Value::Map(entries)) => self.every_field(object, entries),
            (Type::Array(array), Value::Array(items)) => {
                self.every_element(items, array.min, array.max, |_| Some(&array.items))
            }
            (Type::Tuple(tuple), Value::Array(items)) => {
                let kind = |i| tuple.items.get(i).or(tuple.rest.as_deref());
                self.every_element(items, tuple.min, tuple.max, kind)
            }
            (Type::Definition(at), _) => match self.definitions.get(*at) {
                Some(kind) => self.every(kind, v),
                None => Vec::new(),
            },
            (Type::Checked(checked), _) => {
                let mut found = self.every(&checked.kind, v);
                for assertion in &checked.assertions {
                    match assertion {
                        Assertion::AllOf(kinds) => {
                            found.extend(kinds.iter().flat_map(|kind| self.every(kind, v)));
                        }
                        _ => found.extend(self.assertion(&checked.kind, assertion, v).err()),
                    }
                }
                found
            }
            _ => match kind.inner() {
                Some(inner) if *v != Value::Null => self.every(inner, v),
                _ => self.value(kind, v).err().into_iter().collect(),
            },
        };
        self.leave();
        found
    }

    fn every_field(&self, object: &Object, entries: &[(String, Value)]) -> Vec<Violation> {
        let mut found = Vec::new();
        for (key, v) in entries {
            self.charge(object.fields.len());
            let field = object.fields.iter().find(|field| field.name == *key);
            let inner = match field.map(|field| &field.kind).or(object.additional.as_deref()) {
                Some(kind) => self.every(kind, v),
                None => vec![self.unknown(object, key)],
            };
            found.extend(inner.into_iter().map(|violation| violation.under(key)));
            if found.len() >= MAX_VIOLATIONS || self.is_spent() {
                return found;
            }
        }
        let missing = |name: &str| {
            self.charge(entries.len());
            entries.iter().all(|(key, _)| key != name)
        };
        let missing = object.fields.iter().filter(|field| field.required && missing(&field.name));
        found.extend(missing.map(|field| Violation::new(format!("the field {:?} is missing", field.name))));
        found
    }

    /// `min` and `max` are the bounds of the number of elements, `kind` returns the type of the element at an index.
    fn every_element<'t>(
        &self,
        items: &[Value],
        min: u32,
        max: Option<u32>,
        kind: impl Fn(usize) -> Option<&'t Type>,
    ) -> Vec<Violation> {
        let mut found: Vec<_> = self.count(items.len(), min, max).err().into_iter().collect();
        for (i, item) in items.iter().enumerate() {
            let inner = kind(i).map_or_else(Vec::new, |kind| self.every(kind, item));
            found.extend(inner.into_iter().map(|violation| violation.under(&i.to_string())));
            if found.len() >= MAX_VIOLATIONS || self.is_spent() {
                break;
            }
        }
        found
    }
}
