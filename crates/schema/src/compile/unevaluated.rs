//! Compiles `unevaluatedProperties` and `unevaluatedItems`: what applies to the fields or elements that no other keyword evaluates.
//!
//! Which fields are evaluated may depend on the message: on the members of `anyOf` and `oneOf` that allow it, on `if`, and on the fields of
//! `dependentSchemas`. Such a schema becomes a choice of alternatives ([`evaluated`](super::evaluated)), each with a condition and with the
//! fields that are evaluated if it holds.

use super::{
    Compiler, Inner, Schema, budget::Budget, evaluated::Evaluated, intersect::tuple_of, typed::or_other,
    union::checked,
};
use crate::{Annotation, Assertion, Object, SchemaError, Type};

impl<'a> Compiler<'a> {
    pub(super) fn unevaluated(&mut self, schema: &Schema<'a>, mut kind: Inner) -> Result<Inner, SchemaError> {
        for (keyword, make) in [
            ("unevaluatedProperties", of_fields as fn(&Evaluated, Inner, &Budget) -> Inner),
            ("unevaluatedItems", of_elements),
        ] {
            let Some(rest) = self.below(schema, keyword, schema.place.varying())? else { continue };
            let alternatives = self.alternatives(schema, keyword)?;
            let is_certain =
                alternatives.len() == 1 && alternatives.iter().all(|one| one.conditions.is_empty());
            let mut branches = Vec::with_capacity(alternatives.len());
            for alternative in alternatives {
                let restricted = make(&alternative.found, rest.clone(), &self.budget);
                let conditions = alternative.conditions.into_iter().map(Some);
                branches.push(conditions.fold(restricted, |kind, condition| self.intersect(kind, condition)));
            }
            self.budget.check(&schema.at)?;
            kind = match kind {
                Some(kind) if is_certain => self.intersect(Some(kind), branches.pop().flatten()),
                Some(kind) if branches.iter().any(Option::is_some) => self.choice(kind, branches, false),
                _ => None,
            };
        }
        Ok(kind)
    }
}

/// Returns the type of values whose fields, other than those that are evaluated, are of the type `rest`.
fn of_fields(found: &Evaluated, rest: Inner, budget: &Budget) -> Inner {
    if found.all {
        return Some(Type::Any);
    }
    budget.take(found.names.len());
    rest.iter().for_each(|rest| budget.copies(rest, 2));
    let additional = if found.patterns.is_empty() { rest.clone() } else { Some(Type::Any) };
    let fields = found.names.iter().map(|name| crate::Field {
        name: name.clone(),
        required: false,
        kind: Type::Any,
        description: None,
        default: Annotation::default(),
        drop: Annotation::default(),
    });
    let object = Object {
        title: Annotation::default(),
        fields: fields.collect(),
        additional: additional.map(Box::new),
    };
    let mut assertions = Vec::new();
    if !found.patterns.is_empty() {
        let patterns = found.patterns.iter().map(|pattern| (pattern.clone(), Type::Any)).collect();
        assertions.push(Assertion::Others { named: found.names.clone(), patterns, rest });
    }
    Some(or_other(checked(Type::Object(object), assertions), "object"))
}

/// Returns the type of values whose elements behind those that are evaluated are of the type `rest`.
fn of_elements(found: &Evaluated, rest: Inner, budget: &Budget) -> Inner {
    if found.all {
        return Some(Type::Any);
    }
    budget.take(found.first);
    rest.iter().for_each(|rest| budget.copies(rest, 1));
    tuple_of(vec![Type::Any; found.first], rest, 0, None).map(|array| or_other(array, "array"))
}
