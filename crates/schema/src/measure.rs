//! Measures the size of a type, for the limits of the compiler.

use crate::{Assertion, Model, Type};

/// The size of a tree of types, assertions included, definitions not followed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Measure {
    /// The number of types.
    pub types: usize,
    /// The deepest nesting of types.
    pub depth: usize,
    /// The deepest nesting of arrays and objects.
    pub nesting: usize,
}

impl Measure {
    pub(crate) fn of(kind: &Type) -> Measure {
        let mut inner = Measure::default();
        kind.children(&mut |child| inner.hold(Measure::of(child)));
        let holds = usize::from(matches!(kind, Type::Array(_) | Type::Tuple(_) | Type::Object(_)));
        Measure { types: inner.types + 1, depth: inner.depth + 1, nesting: inner.nesting + holds }
    }

    fn hold(&mut self, inner: Measure) {
        self.types += inner.types;
        self.depth = self.depth.max(inner.depth);
        self.nesting = self.nesting.max(inner.nesting);
    }
}

impl Model {
    /// Whether a number of the schema has `x-dunnage-round`.
    pub fn rounds(&self) -> bool {
        fn rounds(kind: &Type) -> bool {
            let mut found = matches!(kind, Type::Decimal(number) if number.round);
            kind.children(&mut |child| found = found || rounds(child));
            found
        }
        std::iter::once(&self.root).chain(&self.definitions).any(rounds)
    }
}

impl Type {
    /// Calls `visit` with each type directly inside this one, including those of assertions. Does not follow definitions.
    pub(crate) fn children(&self, visit: &mut dyn FnMut(&Type)) {
        match self {
            Type::Array(array) => visit(&array.items),
            Type::Tuple(tuple) => tuple.items.iter().chain(tuple.rest.as_deref()).for_each(visit),
            Type::Object(object) => object
                .fields
                .iter()
                .map(|field| &field.kind)
                .chain(object.additional.as_deref())
                .for_each(visit),
            Type::Nullable(inner) | Type::Known(_, inner) => visit(inner),
            Type::Union(kinds) => kinds.iter().for_each(visit),
            Type::Checked(checked) => {
                visit(&checked.kind);
                checked.assertions.iter().for_each(|assertion| assertion.children(visit));
            }
            _ => {}
        }
    }
}

impl Assertion {
    /// Calls `visit` with each type directly inside this assertion.
    pub(crate) fn children(&self, visit: &mut dyn FnMut(&Type)) {
        match self {
            Assertion::AllOf(kinds) | Assertion::AnyOf(kinds) | Assertion::OneOf(kinds) => {
                kinds.iter().for_each(visit);
            }
            Assertion::Not(kind) | Assertion::PropertyNames(kind) | Assertion::Contains { kind, .. } => {
                visit(kind);
            }
            Assertion::If(condition) => {
                visit(&condition.test);
                condition.then.iter().chain(&condition.otherwise).for_each(visit);
            }
            Assertion::DependentSchemas(kinds) => kinds.iter().map(|(_, kind)| kind).for_each(visit),
            Assertion::Others { patterns, rest, .. } => {
                patterns.iter().map(|(_, kind)| kind).chain(rest.as_ref()).for_each(visit);
            }
            Assertion::OneMember
            | Assertion::UniqueItems
            | Assertion::Properties { .. }
            | Assertion::DependentRequired(_)
            | Assertion::Absent(_) => {}
        }
    }

    /// Whether the types inside apply to the value itself, rather than to its fields or elements.
    pub(crate) fn is_about_the_value(&self) -> bool {
        matches!(
            self,
            Assertion::AllOf(_)
                | Assertion::AnyOf(_)
                | Assertion::OneOf(_)
                | Assertion::Not(_)
                | Assertion::If(_)
                | Assertion::DependentSchemas(_)
        )
    }
}
