//! Builds types that combine others: unions in a normal form, nullable types and types with assertions.

use crate::{Assertion, Checked, Object, Type, distinct::distinct, kinds::Kinds, validate};
use dunnage_pson::Value;

/// The most pairs of types that are compared to find out whether a value may be of both.
const MAX_PAIRS: usize = 1024;
/// The number of members of a union up to which a new one is compared with all others.
const MAX_COMPARED: usize = 256;

/// Returns the union of types in normal form: `null` outside, all listed values in one enumeration, no type twice. `None` without types.
pub(super) fn union(kinds: impl IntoIterator<Item = Type>) -> Option<Type> {
    let (mut null, mut values, mut others) = (false, Vec::new(), Vec::new());
    // The position of the enumeration among the other types: that of its first value.
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

/// Adds an item that is not in the list yet. Skips the comparison if the list is long.
fn add<T: PartialEq>(items: &mut Vec<T>, item: T) {
    if items.len() > MAX_COMPARED || !items.contains(&item) {
        items.push(item);
    }
}

/// Returns the enumeration of these distinct values, which do not include `null`; `None` without values.
pub(super) fn enumeration(mut values: Vec<Value>) -> Option<Type> {
    let only = values.pop()?;
    if values.is_empty() {
        return Some(Type::Const(only));
    }
    values.push(only);
    Some(Type::Enum(values))
}

/// Returns the type that also allows `null`.
pub(super) fn nullable(kind: Type) -> Type {
    match kind {
        Type::Any | Type::Null | Type::Nullable(_) => kind,
        _ => Type::Nullable(Box::new(kind)),
    }
}

/// Returns the types in a union or nullable type; any other type by itself.
pub(super) fn members(kind: Type) -> Vec<Type> {
    match kind {
        Type::Union(kinds) => kinds.into_iter().flat_map(members).collect(),
        Type::Nullable(inner) => std::iter::once(Type::Null).chain(members(*inner)).collect(),
        other => vec![other],
    }
}

/// Adds assertions to a type.
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
        Type::Known(name, inner) => Type::Known(name, Box::new(checked(*inner, assertions))),
        kind => Type::Checked(Box::new(Checked { kind, assertions })),
    }
}

/// Returns a type that allows nothing, for places that need a type.
pub(super) fn nothing() -> Type {
    checked(Type::Any, vec![Assertion::Not(Type::Any)])
}

/// Whether it is certain that no value is of two of these types.
pub(super) fn all_apart(kinds: &[Type]) -> bool {
    kinds.len() * kinds.len() <= MAX_PAIRS
        && kinds.iter().enumerate().all(|(i, a)| kinds[..i].iter().all(|b| are_apart(a, b, 0)))
}

/// Whether it is certain that no value is of both types. Looks at fields and at the fields of these, no deeper.
fn are_apart(a: &Type, b: &Type, depth: usize) -> bool {
    let (a, b) = (a.carried(), b.carried());
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

/// Whether both objects require a field that no value can satisfy for both.
fn has_field_apart(a: &Object, b: &Object, depth: usize) -> bool {
    a.fields.iter().filter(|field| field.required).any(|field| {
        let other = b.fields.iter().find(|other| other.name == field.name && other.required);
        other.is_some_and(|other| are_apart(&field.kind, &other.kind, depth + 1))
    })
}

/// Whether `a` requires a field that `b` does not allow.
fn lacks_required(a: &Object, b: &Object) -> bool {
    b.additional.is_none()
        && a.fields
            .iter()
            .any(|field| field.required && b.fields.iter().all(|other| other.name != field.name))
}

/// Whether the type contains a definition, so that it cannot be checked without its model.
pub(super) fn refers(kind: &Type) -> bool {
    let mut found = matches!(kind, Type::Definition(_));
    kind.children(&mut |child| found = found || refers(child));
    found
}
