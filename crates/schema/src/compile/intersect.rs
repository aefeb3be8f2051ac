//! Intersects types: the type of the values that two types both allow.
//!
//! The result has one shape, which can be carried compactly. Where two types have no common shape, or the limits are reached, one type is
//! kept and the other becomes an assertion, so that the result always allows exactly the common values.

use super::{
    budget::Budget,
    intersect_number,
    union::{checked, enumeration, members, refers, union},
};
use crate::{
    Annotation, Array, Assertion, Field, Object, Text, Tuple, Type,
    measure::{Measure, of_assertion, of_field, of_value, own_weight},
    validate,
};
use dunnage_pson::Value;

/// How many comparisons of names or values count as one step.
const COMPARED: usize = 32;
/// The deepest nesting of types, including definitions.
const MAX_DEPTH: usize = 96;
/// The most members of a union that is the intersection of two types.
const MAX_MEMBERS: usize = 64;

/// Intersects two types. The result allows exactly the values that both allow; of two `x-dunnage-usual` ranges it keeps one.
pub(super) struct Intersection<'c> {
    /// The definitions so far; `None` while one is incomplete.
    definitions: &'c [Option<Type>],
    /// What is left for the whole schema. Without steps, one type is kept and the other becomes an assertion.
    budget: &'c Budget,
    depth: usize,
}

impl<'c> Intersection<'c> {
    pub(super) fn new(definitions: &'c [Option<Type>], budget: &'c Budget) -> Self {
        Intersection { definitions, budget, depth: 0 }
    }

    /// Returns the intersection; `None` if no value is of both types.
    pub(super) fn of(&mut self, a: &Type, b: &Type) -> Option<Type> {
        self.budget.take_steps(1 + compared(a, b) / COMPARED);
        if !self.budget.is_left() {
            return Some(Type::Any);
        }
        if !self.budget.has_steps() || self.depth > MAX_DEPTH {
            return Some(self.both(a, b));
        }
        self.depth += 1;
        let kind = self.cases(a, b);
        self.depth -= 1;
        kind
    }

    fn cases(&mut self, a: &Type, b: &Type) -> Option<Type> {
        match (a, b) {
            (Type::Any, other) | (other, Type::Any) => Some(self.budget.copy(other)),
            (Type::Known(name, inner), other) | (other, Type::Known(name, inner)) => {
                self.of(inner, other).map(|kind| Type::Known(name.clone(), Box::new(kind)))
            }
            (a, b) if a == b => Some(self.budget.copy(a)),
            (Type::Checked(own), other) => self.with_assertions(&own.kind, other, &own.kind, &own.assertions),
            (other, Type::Checked(own)) => self.with_assertions(other, &own.kind, &own.kind, &own.assertions),
            (Type::Definition(at), other) | (other, Type::Definition(at)) => {
                self.definition(*at, other, a, b)
            }
            (a, b) if a.is_choice() || b.is_choice() => self.pairs(a, b),
            (Type::Const(value), other) | (other, Type::Const(value)) => {
                self.values(std::slice::from_ref(value), other, a, b)
            }
            (Type::Enum(listed), other) | (other, Type::Enum(listed)) => self.values(listed, other, a, b),
            (Type::Text(text_a), Type::Text(text_b)) => {
                self.budget.take(own_weight(a) + own_weight(b));
                text(text_a, text_b)
            }
            (Type::Array(a), Type::Array(b)) => self.array(a, b),
            (Type::Array(_) | Type::Tuple(_), Type::Array(_) | Type::Tuple(_)) => {
                let (a, b) = (as_tuple(a)?, as_tuple(b)?);
                self.tuple(&a, &b)
            }
            (Type::Object(a), Type::Object(b)) => self.object(a, b),
            (a, b) if a.is_number() && b.is_number() => match intersect_number::intersect(a, b) {
                Ok(kind) => kind,
                Err(()) => Some(self.both(a, b)),
            },
            (a, b) if a.is_text() && b.is_text() => Some(match (a, b) {
                (Type::Text(text), special) | (special, Type::Text(text)) if is_plain(text) => {
                    special.clone()
                }
                // Keep the notation as the shape, because it is more compact than text.
                (Type::Text(_), special) => self.both(special, a),
                _ => self.both(a, b),
            }),
            _ => None,
        }
    }

    /// Returns the intersection of `a` and `b` with the assertions that belonged to `own`.
    fn with_assertions(&mut self, a: &Type, b: &Type, own: &Type, assertions: &[Assertion]) -> Option<Type> {
        let kind = self.of(a, b)?;
        self.budget.take(weight_of(assertions));
        if !self.budget.is_left() {
            return Some(Type::Any);
        }
        // `OneMember` depends on the union's members; if they change, name the types explicitly.
        let keep = |assertion: &Assertion| match (assertion, own) {
            (Assertion::OneMember, Type::Union(kinds)) if kind.carried() != own => {
                Assertion::OneOf(kinds.clone())
            }
            _ => assertion.clone(),
        };
        let assertions = assertions.iter().map(keep).collect();
        Some(checked(kind, assertions))
    }

    fn definition(&mut self, at: usize, other: &Type, a: &Type, b: &Type) -> Option<Type> {
        match self.definitions.get(at) {
            Some(Some(kind)) if !matches!(other, Type::Definition(_)) => {
                let kind = self.budget.copy(kind);
                self.of(&kind, other)
            }
            _ => Some(self.both(a, b)),
        }
    }

    fn pairs(&mut self, a: &Type, b: &Type) -> Option<Type> {
        let (left, right) = (members(self.budget.copy(a)), members(self.budget.copy(b)));
        if left.len() * right.len() > MAX_MEMBERS * MAX_MEMBERS {
            return Some(self.both(a, b));
        }
        let mut met = Vec::new();
        for a in &left {
            met.extend(right.iter().filter_map(|b| self.of(a, b)));
        }
        if met.len() > MAX_MEMBERS.max(left.len()).max(right.len()) {
            return Some(self.both(a, b));
        }
        union(met)
    }

    /// Returns `a` with `b` as an assertion, or the reverse if only `b` is a specific type.
    fn both(&self, a: &Type, b: &Type) -> Type {
        let specific = |kind: &Type| !matches!(kind.carried(), Type::Any | Type::Definition(_));
        let (a, b) = if specific(b) && !specific(a) { (b, a) } else { (a, b) };
        checked(self.budget.copy(a), vec![Assertion::AllOf(vec![self.budget.copy(b)])])
    }

    /// Returns the listed values that `other` allows.
    fn values(&self, listed: &[Value], other: &Type, a: &Type, b: &Type) -> Option<Type> {
        if refers(other) {
            return Some(self.both(a, b));
        }
        self.budget.take(listed.iter().map(of_value).sum());
        if !self.budget.is_left() {
            return Some(Type::Any);
        }
        enumeration(listed.iter().filter(|value| validate::allows(&[], other, value)).cloned().collect())
    }

    fn array(&mut self, a: &Array, b: &Array) -> Option<Type> {
        let (min, max) = (a.min.max(b.min), least(a.max, b.max));
        let (items, max) = match self.of(&a.items, &b.items) {
            Some(items) if max.is_none_or(|max| min <= max) => (items, max),
            None if min == 0 => (Type::Any, Some(0)),
            _ => return None,
        };
        Some(Type::Array(Array { items: Box::new(items), min, max, series: a.series || b.series }))
    }

    fn tuple(&mut self, a: &Tuple, b: &Tuple) -> Option<Type> {
        let (min, mut max) = (a.min.max(b.min), least(a.max, b.max));
        let mut items = Vec::new();
        for i in 0..a.items.len().max(b.items.len()) {
            let of = |tuple: &Tuple| tuple.items.get(i).or(tuple.rest.as_deref()).cloned();
            match of(a).zip(of(b)).and_then(|(a, b)| self.of(&a, &b)) {
                Some(kind) => items.push(kind),
                None => {
                    max = least(max, u32::try_from(i).ok());
                    break;
                }
            }
        }
        let rest = a.rest.as_deref().zip(b.rest.as_deref()).and_then(|(a, b)| self.of(a, b));
        tuple_of(items, rest, min, max)
    }

    fn object(&mut self, a: &Object, b: &Object) -> Option<Type> {
        self.budget.take(weight_of_fields(a) + weight_of_fields(b));
        let mut fields: Vec<Field> = Vec::with_capacity(a.fields.len().max(b.fields.len()));
        let mut absent = Vec::new();
        let only_b = b.fields.iter().filter(|field| a.fields.iter().all(|other| other.name != field.name));
        for (field, is_a) in
            a.fields.iter().map(|field| (field, true)).chain(only_b.map(|field| (field, false)))
        {
            let other = if is_a { b.fields.iter().find(|other| other.name == field.name) } else { None };
            let beside = if is_a { &b.additional } else { &a.additional };
            let kind = match other.map(|other| &other.kind).or(beside.as_deref()) {
                Some(other) if is_a => self.of(&field.kind, other),
                Some(other) => self.of(other, &field.kind),
                None => None,
            };
            let required = field.required || other.is_some_and(|other| other.required);
            let description = field.description.clone().or_else(|| other?.description.clone());
            let default =
                if field.default.0.is_some() { &field.default } else { &other.unwrap_or(field).default };
            let drop =
                Annotation(field.drop.0.or(other.and_then(|other| other.drop.0)).filter(|_| !required));
            let (name, default) = (field.name.clone(), default.clone());
            match kind {
                Some(kind) => fields.push(Field { name, required, kind, description, default, drop }),
                None if required => return None,
                None => absent.push(name),
            }
        }
        let title = if a.title.0.is_some() { &a.title } else { &b.title }.clone();
        let additional = match (&a.additional, &b.additional) {
            (Some(a), Some(b)) => self.of(a, b).map(Box::new),
            _ => None,
        };
        let assertions = match (&additional, absent.is_empty()) {
            (Some(_), false) => vec![Assertion::Absent(absent)],
            _ => Vec::new(),
        };
        Some(checked(Type::Object(Object { title, fields, additional }), assertions))
    }
}

/// Returns the weight of copies of the fields, without their types.
fn weight_of_fields(object: &Object) -> usize {
    object.fields.iter().map(of_field).sum()
}

/// Returns the weight of copies of the assertions.
fn weight_of(assertions: &[Assertion]) -> usize {
    let mut weight = assertions.iter().map(of_assertion).sum();
    for assertion in assertions {
        assertion.children(&mut |kind| weight += Measure::of(kind).weight);
    }
    weight
}

/// Returns the number of names or values that are compared with each other.
fn compared(a: &Type, b: &Type) -> usize {
    match (a, b) {
        (Type::Object(a), Type::Object(b)) => a.fields.len().saturating_mul(b.fields.len()),
        (Type::Enum(a), Type::Enum(b)) => a.len().saturating_mul(b.len()),
        _ => 0,
    }
}

fn text(a: &Text, b: &Text) -> Option<Type> {
    let (min_length, max_length) = (a.min_length.max(b.min_length), least(a.max_length, b.max_length));
    if max_length.is_some_and(|max| min_length > max) {
        return None;
    }
    let (pattern, other) = match (&a.pattern, &b.pattern) {
        (Some(a), Some(b)) if a == b => (Some(a), None),
        // Keep a pattern of plain segments as the shape, because it is the more compact one.
        (Some(a), Some(b)) if a.segments.is_none() && b.segments.is_some() => (Some(b), Some(a)),
        (Some(a), b) => (Some(a), b.as_ref()),
        (None, b) => (b.as_ref(), None),
    };
    // An asserted format takes precedence over an annotation.
    let (carried, beside) = if b.asserts_format && !a.asserts_format { (b, a) } else { (a, b) };
    let format = carried.format.or(beside.format);
    let asserts_format = carried.asserts_format;
    let kind = Type::Text(Text { min_length, max_length, pattern: pattern.cloned(), format, asserts_format });
    let pattern = other.map(|pattern| Text { pattern: Some(pattern.clone()), ..Text::default() });
    let format = beside.asserted_format().filter(|other| Some(*other) != format);
    let format = format.map(|format| Text { format: Some(format), asserts_format: true, ..Text::default() });
    let others = pattern.into_iter().chain(format).map(|text| Assertion::AllOf(vec![Type::Text(text)]));
    Some(checked(kind, others.collect()))
}

/// Returns an array with these first elements, a plain array if there are none; `None` if it allows nothing.
pub(super) fn tuple_of(mut items: Vec<Type>, rest: Option<Type>, min: u32, max: Option<u32>) -> Option<Type> {
    let count = u32::try_from(items.len()).unwrap_or(u32::MAX);
    let max = if rest.is_none() { least(max, Some(count)) } else { max };
    if max.is_some_and(|max| min > max) {
        return None;
    }
    if let Some(max) = max {
        items.truncate(max as usize);
    }
    let rest = rest.filter(|_| max.is_none_or(|max| max > count));
    if items.is_empty() {
        let items = Box::new(rest.unwrap_or(Type::Any));
        return Some(Type::Array(Array { items, min, max, series: false }));
    }
    Some(Type::Tuple(Tuple { items, rest: rest.map(Box::new), min, max }))
}

fn as_tuple(kind: &Type) -> Option<Tuple> {
    match kind {
        Type::Tuple(tuple) => Some(tuple.clone()),
        Type::Array(array) => {
            Some(Tuple { items: Vec::new(), rest: Some(array.items.clone()), min: array.min, max: array.max })
        }
        _ => None,
    }
}

fn least(a: Option<u32>, b: Option<u32>) -> Option<u32> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.min(b)),
        (a, b) => a.or(b),
    }
}

/// Whether the type allows any text.
fn is_plain(text: &Text) -> bool {
    *text == Text::default()
}
