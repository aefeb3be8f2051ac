//! Checks the keywords that only restrict which values are valid.

use super::{
    Check,
    describe::{Brief, Quoted},
    unique,
};
use crate::{Assertion, Pattern, Type, Violation, kinds::noun};
use dunnage_pson::Value;

impl Check<'_> {
    /// Checks one assertion. `kind` is the type that the assertion belongs to; it allows the value.
    pub(super) fn assertion(&self, kind: &Type, assertion: &Assertion, v: &Value) -> Result<(), Violation> {
        match assertion {
            Assertion::AllOf(kinds) => kinds.iter().try_for_each(|kind| self.value(kind, v)),
            Assertion::AnyOf(kinds) => self.union(kinds, v),
            Assertion::OneOf(kinds) => self.exactly_one(kinds, v),
            Assertion::OneMember if kind.members().is_empty() => Ok(()),
            Assertion::OneMember => self.exactly_one(kind.members(), v),
            Assertion::Not(kind) if self.allows(kind, v) => {
                self.fail(|| format!("{} is what the schema excludes with not", Brief(v)))
            }
            Assertion::Not(_) => Ok(()),
            Assertion::If(condition) => {
                let holds = self.allows(&condition.test, v);
                let branch = if holds { &condition.then } else { &condition.otherwise };
                branch.as_ref().map_or(Ok(()), |kind| self.value(kind, v))
            }
            Assertion::UniqueItems | Assertion::Contains { .. } => match v {
                Value::Array(items) => self.array_assertion(assertion, items),
                _ => Ok(()),
            },
            _ => match v {
                Value::Map(entries) => self.object_assertion(assertion, entries, v),
                _ => Ok(()),
            },
        }
    }

    fn exactly_one(&self, kinds: &[Type], v: &Value) -> Result<(), Violation> {
        let mut matching = kinds.iter().enumerate().filter(|(_, kind)| self.allows(kind, v)).map(|(i, _)| i);
        match (matching.next(), matching.next()) {
            (Some(_), None) => Ok(()),
            (None, _) => self.union(kinds, v),
            (Some(a), Some(b)) => {
                self.fail(|| format!("{} is allowed by {a} and {b} of oneOf, not by one only", Brief(v)))
            }
        }
    }

    fn array_assertion(&self, assertion: &Assertion, items: &[Value]) -> Result<(), Violation> {
        let Assertion::Contains { kind, min, max } = assertion else {
            return match unique::twice(items) {
                Some((a, b)) => {
                    let twice = self.violation(|| format!("the element is equal to element {a}"));
                    Err(self.under(twice, || b.to_string()))
                }
                None => Ok(()),
            };
        };
        let count = items.iter().filter(|item| self.allows(kind, item)).count();
        let noun = noun(kind);
        if count < *min as usize {
            return self.fail(|| {
                format!("contains {count} elements that are {noun} as required; the minimum is {min}")
            });
        }
        match max.filter(|max| count > *max as usize) {
            Some(max) => self.fail(|| {
                format!("contains {count} elements that are {noun} as required; the maximum is {max}")
            }),
            None => Ok(()),
        }
    }

    fn object_assertion(
        &self,
        assertion: &Assertion,
        entries: &[(String, Value)],
        v: &Value,
    ) -> Result<(), Violation> {
        let has = |name: &String| {
            self.charge(entries.len());
            !self.is_spent() && entries.iter().any(|(key, _)| key == name)
        };
        let is_in = |names: &[String], key: &String| {
            self.charge(names.len());
            !self.is_spent() && names.contains(key)
        };
        match assertion {
            Assertion::Properties { min, max } => self.properties(entries.len(), *min, *max),
            Assertion::PropertyNames(kind) => entries.iter().try_for_each(|(key, _)| {
                self.value(kind, &Value::Text(key.clone()))
                    .map_err(|violation| self.under(violation, || key.clone()))
            }),
            Assertion::DependentRequired(names) => {
                let missing = names
                    .iter()
                    .filter(|(name, _)| has(name))
                    .find_map(|(name, others)| Some((name, others.iter().find(|other| !has(other))?)));
                match missing {
                    Some((name, other)) => {
                        self.fail(|| format!("the field {other:?} is missing, which {name:?} asks for"))
                    }
                    None => Ok(()),
                }
            }
            Assertion::DependentSchemas(kinds) => {
                kinds.iter().filter(|(name, _)| has(name)).try_for_each(|(_, kind)| self.value(kind, v))
            }
            Assertion::Absent(names) => match entries.iter().find(|(key, _)| is_in(names, key)) {
                Some((key, _)) => {
                    let absent = self.violation(|| format!("there is no field {}", Quoted(key)));
                    Err(self.under(absent.of_field(), || key.clone()))
                }
                None => Ok(()),
            },
            Assertion::Others { named, patterns, rest } => {
                entries.iter().filter(|(key, _)| !is_in(named, key)).try_for_each(|(key, v)| {
                    self.other(key, v, patterns, rest.as_ref())
                        .map_err(|violation| self.under(violation, || key.clone()))
                })
            }
            _ => Ok(()),
        }
    }

    fn properties(&self, count: usize, min: u32, max: Option<u32>) -> Result<(), Violation> {
        if count < min as usize {
            return self.fail(|| format!("the object has {count} properties; the minimum is {min}"));
        }
        match max.filter(|max| count > *max as usize) {
            Some(max) => self.fail(|| format!("the object has {count} properties; the maximum is {max}")),
            None => Ok(()),
        }
    }

    /// Checks a field that `properties` does not name.
    fn other(
        &self,
        key: &str,
        v: &Value,
        patterns: &[(Pattern, Type)],
        rest: Option<&Type>,
    ) -> Result<(), Violation> {
        let mut matched = false;
        for (_, kind) in patterns.iter().filter(|(pattern, _)| pattern.is_match(key)) {
            matched = true;
            self.value(kind, v)?;
        }
        match rest {
            _ if matched => Ok(()),
            Some(kind) => self.value(kind, v),
            None => {
                let unknown = || format!("there is no field {}, and no pattern that it matches", Quoted(key));
                Err(self.violation(unknown).of_field())
            }
        }
    }
}
