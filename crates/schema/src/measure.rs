//! What is inside a type, and its size, for the limits of the compiler.

use crate::{Annotation, Assertion, Field, Model, Pattern, Text, Type};
use dunnage_pson::Value;

/// The bytes of text that weigh as much as one type, one field or one value.
const BYTES: usize = 64;

/// The size of a tree of types, assertions included, definitions not followed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Measure {
    /// The number of types.
    pub types: usize,
    /// The weight, which bounds what a copy of the types takes, and what is made of them: 1 for each type, field, name and value, and 1 for
    /// each 64 bytes of text.
    pub weight: usize,
    /// The deepest nesting of types.
    pub depth: usize,
    /// The deepest nesting of arrays and objects.
    pub nesting: usize,
}

impl Measure {
    pub(crate) fn of(kind: &Type) -> Measure {
        let mut inner = Measure::default();
        kind.children(&mut |child| inner.hold(Measure::of(child)));
        let holds = usize::from(kind.is_container());
        Measure {
            types: inner.types + 1,
            weight: inner.weight + own_weight(kind),
            depth: inner.depth + 1,
            nesting: inner.nesting + holds,
        }
    }

    fn hold(&mut self, inner: Measure) {
        self.types += inner.types;
        self.weight += inner.weight;
        self.depth = self.depth.max(inner.depth);
        self.nesting = self.nesting.max(inner.nesting);
    }
}

/// Returns the weight of a type without the types inside it.
pub(crate) fn own_weight(kind: &Type) -> usize {
    1 + match kind {
        Type::Enum(values) => values.iter().map(of_value).sum(),
        Type::Const(value) => of_value(value),
        Type::Text(Text { pattern: Some(pattern), .. }) => of_pattern(pattern),
        Type::NumbersText(numbers) => {
            of_text(&numbers.separator)
                + numbers.parts.iter().map(|(name, _)| 1 + of_text(name)).sum::<usize>()
        }
        Type::TimeText(time) => time.notation.len(),
        Type::Known(name, _) => of_text(name),
        Type::Object(object) => {
            let title = object.title.0.as_deref().map_or(0, of_text);
            title + object.fields.iter().map(of_field).sum::<usize>()
        }
        Type::Checked(checked) => checked.assertions.iter().map(of_assertion).sum(),
        _ => 0,
    }
}

pub(crate) fn of_field(field: &Field) -> usize {
    let description = field.description.as_deref().map_or(0, of_text);
    1 + of_text(&field.name) + description + field.default.0.as_ref().map_or(0, of_value)
}

pub(crate) fn of_assertion(assertion: &Assertion) -> usize {
    1 + match assertion {
        Assertion::DependentRequired(all) => {
            all.iter().map(|(name, names)| 1 + of_text(name) + of_names(names)).sum()
        }
        Assertion::DependentSchemas(all) => all.iter().map(|(name, _)| 1 + of_text(name)).sum(),
        Assertion::Absent(names) => of_names(names),
        Assertion::Others { named, patterns, .. } => {
            of_names(named) + patterns.iter().map(|(pattern, _)| of_pattern(pattern)).sum::<usize>()
        }
        _ => 0,
    }
}

fn of_names(names: &[String]) -> usize {
    names.iter().map(|name| 1 + of_text(name)).sum()
}

fn of_pattern(pattern: &Pattern) -> usize {
    let chars: usize = pattern.segments.iter().flatten().map(|segment| 16 + 4 * segment.chars.len()).sum();
    1 + of_text(&pattern.source) + chars / BYTES
}

pub(crate) fn of_text(text: &str) -> usize {
    text.len() / BYTES
}

/// Returns the weight of a value: of it and of all values inside it, with the names of fields.
pub(crate) fn of_value(value: &Value) -> usize {
    1 + match value {
        Value::Text(text) => of_text(text),
        Value::Bytes(bytes) => bytes.len() / BYTES,
        Value::Array(items) => items.iter().map(of_value).sum(),
        Value::Map(entries) => entries.iter().map(|(name, value)| of_text(name) + of_value(value)).sum(),
        _ => 0,
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
    /// Returns the type inside one that only adds `null`, further keywords, or the name under which the receiver knows the text.
    pub fn inner(&self) -> Option<&Type> {
        match self {
            Type::Nullable(inner) | Type::Known(_, inner) => Some(inner),
            Type::Checked(checked) => Some(&checked.kind),
            _ => None,
        }
    }

    /// Returns the innermost type: that of the values besides `null`.
    ///
    /// ```
    /// # use dunnage_schema::{Model, Type};
    /// let model = Model::compile(r#"{"type": ["array", "null"], "items": {"type": "boolean"}, "maxItems": 3, "uniqueItems": true}"#)?;
    /// assert!(matches!(model.root().bare(), Type::Array(_)));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn bare(&self) -> &Type {
        self.inner().map_or(self, Type::bare)
    }

    /// Returns the type without keywords that only restrict it.
    pub fn unchecked(&self) -> &Type {
        match self {
            Type::Checked(checked) => checked.kind.unchecked(),
            other => other,
        }
    }

    /// Returns the type that decides how a value is carried: without keywords that only restrict it, and without the name under which the
    /// receiver knows the text.
    pub fn carried(&self) -> &Type {
        match self {
            Type::Known(_, inner) => inner.carried(),
            Type::Checked(checked) => checked.kind.carried(),
            other => other,
        }
    }

    /// Returns the type to which this one adds `null`; `None` for other types.
    pub fn nullable(&self) -> Option<&Type> {
        match self {
            Type::Nullable(inner) => Some(inner),
            _ => None,
        }
    }

    /// Returns the types of a union; none for other types.
    pub fn members(&self) -> &[Type] {
        match self {
            Type::Union(kinds) => kinds,
            _ => &[],
        }
    }

    /// Whether the value is of one of several types: a union, or a type that adds `null`.
    pub(crate) fn is_choice(&self) -> bool {
        matches!(self, Type::Union(_) | Type::Nullable(_))
    }

    /// Whether the types inside are those of elements or fields, rather than of the value itself.
    pub(crate) fn is_container(&self) -> bool {
        matches!(self, Type::Array(_) | Type::Tuple(_) | Type::Object(_))
    }

    /// Sets the title of the object that this type is or wraps. Does nothing for other types.
    pub(crate) fn set_title(&mut self, title: &str) {
        match self {
            Type::Object(object) => object.title = Annotation(Some(title.to_owned())),
            Type::Nullable(inner) => inner.set_title(title),
            Type::Checked(checked) => checked.kind.set_title(title),
            _ => {}
        }
    }

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
            Type::Union(kinds) => kinds.iter().for_each(visit),
            other => {
                other.inner().into_iter().for_each(&mut *visit);
                if let Type::Checked(checked) = other {
                    checked.assertions.iter().for_each(|assertion| assertion.children(visit));
                }
            }
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
