//! Intersects types: the type of the values that two types both allow.
//!
//! The result has one shape, which can be carried compactly. Where two types have no common shape, or the limits are reached, one type is
//! kept and the other becomes an assertion, so that the result always allows exactly the common values.

use super::{
    intersect_number,
    union::{carried, checked, enumeration, members, refers, union},
};
use crate::{Array, Assertion, Field, Object, Text, Tuple, Type, validate};
use dunnage_pson::Value;
use std::cell::Cell;

/// The most steps for a whole schema. After that, one type is kept and the other becomes an assertion.
pub(super) const MAX_STEPS: usize = 1_000_000;
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
    /// The number of steps that are left.
    steps: &'c Cell<usize>,
    depth: usize,
}

impl<'c> Intersection<'c> {
    pub(super) fn new(definitions: &'c [Option<Type>], steps: &'c Cell<usize>) -> Self {
        Intersection { definitions, steps, depth: 0 }
    }

    fn charge(&self, steps: usize) {
        self.steps.set(self.steps.get().saturating_sub(steps));
    }

    /// Returns the intersection; `None` if no value is of both types.
    pub(super) fn of(&mut self, a: &Type, b: &Type) -> Option<Type> {
        self.charge(1 + compared(a, b) / COMPARED);
        if self.steps.get() == 0 || self.depth > MAX_DEPTH {
            return Some(both(a, b));
        }
        self.depth += 1;
        let kind = self.cases(a, b);
        self.depth -= 1;
        kind
    }

    fn cases(&mut self, a: &Type, b: &Type) -> Option<Type> {
        match (a, b) {
            (Type::Any, other) | (other, Type::Any) => Some(other.clone()),
            (Type::Known(name, inner), other) | (other, Type::Known(name, inner)) => {
                self.of(inner, other).map(|kind| Type::Known(name.clone(), Box::new(kind)))
            }
            (a, b) if a == b => Some(a.clone()),
            (Type::Checked(own), other) => self.with_assertions(&own.kind, other, &own.kind, &own.assertions),
            (other, Type::Checked(own)) => self.with_assertions(other, &own.kind, &own.kind, &own.assertions),
            (Type::Definition(at), other) | (other, Type::Definition(at)) => {
                self.definition(*at, other, a, b)
            }
            (Type::Union(_) | Type::Nullable(_), _) | (_, Type::Union(_) | Type::Nullable(_)) => {
                self.pairs(a, b)
            }
            (Type::Const(value), other) | (other, Type::Const(value)) => {
                values(std::slice::from_ref(value), other, a, b)
            }
            (Type::Enum(listed), other) | (other, Type::Enum(listed)) => values(listed, other, a, b),
            (Type::Text(a), Type::Text(b)) => text(a, b),
            (Type::Array(a), Type::Array(b)) => self.array(a, b),
            (Type::Array(_) | Type::Tuple(_), Type::Array(_) | Type::Tuple(_)) => {
                let (a, b) = (as_tuple(a)?, as_tuple(b)?);
                self.tuple(&a, &b)
            }
            (Type::Object(a), Type::Object(b)) => self.object(a, b),
            (a, b) if is_number(a) && is_number(b) => match intersect_number::intersect(a, b) {
                Ok(kind) => kind,
                Err(()) => Some(both(a, b)),
            },
            (a, b) if is_text(a) && is_text(b) => Some(match (a, b) {
                (Type::Text(text), special) | (special, Type::Text(text)) if is_plain(text) => {
                    special.clone()
                }
                // Keep the notation as the shape, because it is more compact than text.
                (Type::Text(_), special) => both(special, a),
                _ => both(a, b),
            }),
            _ => None,
        }
    }

    /// Returns the intersection of `a` and `b` with the assertions that belonged to `own`.
    fn with_assertions(&mut self, a: &Type, b: &Type, own: &Type, assertions: &[Assertion]) -> Option<Type> {
        let kind = self.of(a, b)?;
        // `OneMember` depends on the union's members; if they change, name the types explicitly.
        let keep = |assertion: &Assertion| match (assertion, own) {
            (Assertion::OneMember, Type::Union(kinds)) if carried(&kind) != own => {
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
                let kind = kind.clone();
                self.of(&kind, other)
            }
            _ => Some(both(a, b)),
        }
    }

    fn pairs(&mut self, a: &Type, b: &Type) -> Option<Type> {
        let (left, right) = (members(a.clone()), members(b.clone()));
        if left.len() * right.len() > MAX_MEMBERS * MAX_MEMBERS {
            return Some(both(a, b));
        }
        let mut met = Vec::new();
        for a in &left {
            met.extend(right.iter().filter_map(|b| self.of(a, b)));
        }
        if met.len() > MAX_MEMBERS.max(left.len()).max(right.len()) {
            return Some(both(a, b));
        }
        union(met)
    }

    fn array(&mut self, a: &Array, b: &Array) -> Option<Type> {
        let (min, max) = (a.min.max(b.min), least(a.max, b.max));
        match self.of(&a.items, &b.items) {
            Some(items) if max.is_none_or(|max| min <= max) => {
                Some(Type::Array(Array { items: Box::new(items), min, max }))
            }
            None if min == 0 => Some(Type::Array(Array { items: Box::new(Type::Any), min, max: Some(0) })),
            _ => None,
        }
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
            let (name, default) = (field.name.clone(), default.clone());
            match kind {
                Some(kind) => fields.push(Field { name, required, kind, description, default }),
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

/// Returns the number of names or values that are compared with each other.
fn compared(a: &Type, b: &Type) -> usize {
    match (a, b) {
        (Type::Object(a), Type::Object(b)) => a.fields.len().saturating_mul(b.fields.len()),
        (Type::Enum(a), Type::Enum(b)) => a.len().saturating_mul(b.len()),
        _ => 0,
    }
}

/// Returns `a` with `b` as an assertion, or the reverse if only `b` is a specific type.
fn both(a: &Type, b: &Type) -> Type {
    let specific = |kind: &Type| !matches!(carried(kind), Type::Any | Type::Definition(_));
    let (a, b) = if specific(b) && !specific(a) { (b, a) } else { (a, b) };
    checked(a.clone(), vec![Assertion::AllOf(vec![b.clone()])])
}

/// Returns the listed values that `other` allows.
fn values(listed: &[Value], other: &Type, a: &Type, b: &Type) -> Option<Type> {
    if refers(other) {
        return Some(both(a, b));
    }
    enumeration(listed.iter().filter(|value| validate::allows(&[], other, value)).cloned().collect())
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
        return Some(Type::Array(Array { items, min, max }));
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

fn is_number(kind: &Type) -> bool {
    matches!(kind, Type::Integer(_) | Type::Decimal(_) | Type::Float(_))
}

fn is_text(kind: &Type) -> bool {
    matches!(kind, Type::Text(_) | Type::NumberText(_) | Type::NumbersText(_) | Type::TimeText(_))
}

/// Whether the type allows any text.
fn is_plain(text: &Text) -> bool {
    *text == Text::default()
}
