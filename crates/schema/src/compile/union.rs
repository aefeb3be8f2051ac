//! Several types for one value, in one normal form.

use crate::{Assertion, Checked, Object, Type, distinct::distinct, kinds::Kinds, validate};
use dunnage_pson::Value;

/// Most pairs of types that are held against each other to find out whether both may allow a value.
const MAX_PAIRS: usize = 1024;
/// Most members of a union among which a new one is looked for.
const MAX_COMPARED: usize = 256;

/// The type of values of at least one of these: `null` outside, all values listed in one enumeration, no type twice.
/// `None` without any.
pub(super) fn union(kinds: impl IntoIterator<Item = Type>) -> Option<Type> {
    let (mut null, mut values, mut others) = (false, Vec::new(), Vec::new());
    // Where the enumeration of all values stands among the others.
    let mut first_value = None;
    for kind in kinds.into_iter().flat_map(members) {
        match kind {
            Type::Null => null = true,
            Type::Any => return Some(Type::Any),
            Type::Enum(more) => {
                first_value.get_or_insert(others.len());
                values.extend(more);
            }
            Type::Const(value) => {
                first_value.get_or_insert(others.len());
                values.push(value);
            }
            kind => add(&mut others, kind),
        }
    }
    if let (Some(at), Some(kind)) = (first_value, enumeration(distinct(values))) {
        others.insert(at, kind);
    }
    let kind = if others.len() > 1 { Some(Type::Union(others)) } else { others.pop() };
    match kind {
        Some(kind) => Some(if null { nullable(kind) } else { kind }),
        None => null.then_some(Type::Null),
    }
}

/// Adds what is not there yet; among very many, without a look.
fn add<T: PartialEq>(items: &mut Vec<T>, item: T) {
    if items.len() > MAX_COMPARED || !items.contains(&item) {
        items.push(item);
    }
}

/// One of these values, none of them `null`; `None` without any.
pub(super) fn enumeration(mut values: Vec<Value>) -> Option<Type> {
    let only = values.pop()?;
    if values.is_empty() {
        return Some(Type::Const(only));
    }
    values.push(only);
    Some(Type::Enum(values))
}

/// `null` or the type.
pub(super) fn nullable(kind: Type) -> Type {
    match kind {
        Type::Any | Type::Null | Type::Nullable(_) => kind,
        _ => Type::Nullable(Box::new(kind)),
    }
}

/// The types that a union or a nullable type is made of; any other type alone.
pub(super) fn members(kind: Type) -> Vec<Type> {
    match kind {
        Type::Union(kinds) => kinds.into_iter().flat_map(members).collect(),
        Type::Nullable(inner) => std::iter::once(Type::Null).chain(members(*inner)).collect(),
        other => vec![other],
    }
}

/// The type that obeys the assertions as well.
pub(super) fn checked(kind: Type, assertions: Vec<Assertion>) -> Type {
    if assertions.is_empty() {
        return kind;
    }
    match kind {
        Type::Checked(inner) => {
            let Checked { kind, assertions: mut all } = *inner;
            for assertion in assertions {
                add(&mut all, assertion);
            }
            Type::Checked(Box::new(Checked { kind, assertions: all }))
        }
        Type::Known(inner) => Type::Known(Box::new(checked(*inner, assertions))),
        kind => Type::Checked(Box::new(Checked { kind, assertions })),
    }
}

/// A type that allows nothing, for the places where there has to be one.
pub(super) fn nothing() -> Type {
    checked(Type::Any, vec![Assertion::Not(Type::Any)])
}

/// The type without assertions.
pub(super) fn carried(kind: &Type) -> &Type {
    match kind {
        Type::Checked(checked) => carried(&checked.kind),
        Type::Known(inner) => carried(inner),
        other => other,
    }
}

/// Whether it is certain that no value is of two of these types.
pub(super) fn all_apart(kinds: &[Type]) -> bool {
    kinds.len() * kinds.len() <= MAX_PAIRS
        && kinds.iter().enumerate().all(|(i, a)| kinds[..i].iter().all(|b| are_apart(a, b, 0)))
}

/// Whether it is certain that no value is of both types. Fields of fields are looked at, not deeper.
fn are_apart(a: &Type, b: &Type, depth: usize) -> bool {
    let (a, b) = (carried(a), carried(b));
    if !Kinds::of(a, &[]).meets(Kinds::of(b, &[])) {
        return true;
    }
    match (a, b) {
        (Type::Nullable(inner), other) | (other, Type::Nullable(inner)) => {
            are_apart(&Type::Null, other, depth) && are_apart(inner, other, depth)
        }
        (Type::Union(kinds), other) | (other, Type::Union(kinds)) => {
            kinds.iter().all(|kind| are_apart(kind, other, depth))
        }
        (Type::Const(value), other) | (other, Type::Const(value)) => excludes(other, value),
        (Type::Enum(values), other) | (other, Type::Enum(values)) => {
            values.iter().all(|value| excludes(other, value))
        }
        (Type::Object(a), Type::Object(b)) if depth < 2 => {
            has_field_apart(a, b, depth) || lacks_required(a, b) || lacks_required(b, a)
        }
        _ => false,
    }
}

/// Whether it is certain that the type does not allow the value.
fn excludes(kind: &Type, value: &Value) -> bool {
    !refers(kind) && !validate::allows(&[], kind, value)
}

/// Whether a field that both have to have is never of both types.
fn has_field_apart(a: &Object, b: &Object, depth: usize) -> bool {
    a.fields.iter().filter(|field| field.required).any(|field| {
        let other = b.fields.iter().find(|other| other.name == field.name && other.required);
        other.is_some_and(|other| are_apart(&field.kind, &other.kind, depth + 1))
    })
}

/// Whether `a` has to have a field that `b` cannot have.
fn lacks_required(a: &Object, b: &Object) -> bool {
    b.additional.is_none()
        && a.fields
            .iter()
            .any(|field| field.required && b.fields.iter().all(|other| other.name != field.name))
}

/// Whether there is a definition anywhere in the type, so that it says nothing without its model.
pub(super) fn refers(kind: &Type) -> bool {
    let mut found = matches!(kind, Type::Definition(_));
    kind.children(&mut |child| found = found || refers(child));
    found
}
