//! `anyOf` and `oneOf`: a union of each branch intersected with the rest of the schema, or an assertion if a union would not improve how
//! the value is carried.

use super::{
    Compiler, Inner,
    intersect::Intersection,
    union::{all_apart, checked, union},
};
use crate::{Assertion, Object, Type, measure::Measure};

/// The most types of a union that repeats the rest of the schema in each of its members.
const MAX_REPEATED: usize = 4096;

impl Compiler<'_> {
    /// Restricts `base` to values for which a branch holds, exactly one branch for `oneOf`. Returns `None` if that allows nothing.
    pub(super) fn choice(&mut self, base: Type, branches: Vec<Inner>, one_of: bool) -> Inner {
        let branches: Vec<Type> = branches.into_iter().flatten().collect();
        if base == Type::Any {
            return self.members(&branches, &branches, one_of, true);
        }
        let repeated = Measure::of(&base).types * branches.len();
        let mut met = Vec::with_capacity(branches.len());
        if repeated <= MAX_REPEATED {
            let mut intersection = Intersection::new(&self.definitions, &self.budget);
            met = branches.iter().filter_map(|branch| intersection.of(&base, branch)).collect();
            // If a single branch is left, its keywords belong to the schema.
            if met.len() < 2 || met.iter().any(|kind| adds_shape(&base, kind)) {
                let is_single = !base.carried().is_choice();
                return self.members(&met, &branches, one_of, is_single);
            }
        }
        let assertion = if one_of { Assertion::OneOf(branches) } else { Assertion::AnyOf(branches) };
        (repeated > MAX_REPEATED || !met.is_empty()).then(|| checked(base, vec![assertion]))
    }

    /// Returns the union of the intersections `met`. `is_single` means that each member comes from one branch and one type.
    fn members(&self, met: &[Type], branches: &[Type], one_of: bool, is_single: bool) -> Inner {
        let needs_one = one_of && branches.len() > 1 && !(is_single && all_apart(met));
        met.iter().chain(branches.iter().filter(|_| needs_one)).for_each(|kind| self.budget.copies(kind, 1));
        if !self.budget.is_left() {
            return Some(Type::Any);
        }
        let kind = union(met.iter().cloned())?;
        if !needs_one {
            return Some(kind);
        }
        let assertion = match &kind {
            Type::Union(kinds) if is_single && kinds == met => Assertion::OneMember,
            _ => Assertion::OneOf(branches.to_vec()),
        };
        Some(checked(kind, vec![assertion]))
    }
}

/// Whether `kind`, a subset of `base`, can be carried more compactly than `base`.
fn adds_shape(base: &Type, kind: &Type) -> bool {
    match (base.carried(), kind.carried()) {
        (base, kind) if base == kind => false,
        (Type::Object(base), Type::Object(kind)) => adds_fields(base, kind),
        (Type::Text(_), Type::Text(text)) => {
            text.pattern.as_ref().is_some_and(|pattern| pattern.segments.is_some())
        }
        _ => true,
    }
}

/// Whether fields of `kind` differ from those of `base` in more than being required.
fn adds_fields(base: &Object, kind: &Object) -> bool {
    let is_other = |field: &crate::Field| {
        let own = base.fields.iter().find(|own| own.name == field.name).map(|own| &own.kind);
        own.or(base.additional.as_deref()).is_none_or(|own| adds_shape(own, &field.kind))
    };
    kind.additional.is_some() != base.additional.is_some() || kind.fields.iter().any(is_other)
}
