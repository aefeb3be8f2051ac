//! The limits of the work of compiling one schema. A few bytes of text can make others copy much: references that double, choices that are written out,
//! long names, large enumerations. The weight of all copies is therefore limited, not only their number.

use crate::{
    SchemaError, Type,
    measure::{Measure, of_text},
    parse::Node,
};
use std::cell::Cell;

/// The bytes of a compiled pattern that weigh as much as one type.
const PATTERN_BYTES: usize = 256;

/// How much more than its result the compilation may weigh: types that are intersected are copied several times.
const WORK: usize = 8;
/// The most steps for intersecting the types of a schema.
const MAX_STEPS: usize = 1_000_000;

/// Keywords whose values the model keeps.
const KEPT: [&str; 8] =
    ["title", "description", "default", "enum", "const", "required", "dependentRequired", "dependencies"];
/// Keywords whose names the model keeps. The schemas under the names are weighed by themselves.
const NAMED: [&str; 3] = ["properties", "patternProperties", "dependentSchemas"];

/// What is left.
pub(super) struct Budget {
    max_weight: usize,
    weight: Cell<usize>,
    /// The steps for intersecting types.
    steps: Cell<usize>,
}

impl Budget {
    pub(super) fn new(max_weight: usize) -> Self {
        Budget { max_weight, weight: Cell::new(max_weight.saturating_mul(WORK)), steps: Cell::new(MAX_STEPS) }
    }

    pub(super) fn take(&self, weight: usize) {
        self.weight.set(self.weight.get().saturating_sub(weight));
    }

    pub(super) fn take_steps(&self, steps: usize) {
        self.steps.set(self.steps.get().saturating_sub(steps));
    }

    pub(super) fn has_steps(&self) -> bool {
        self.steps.get() > 0
    }

    /// Whether weight is left. Once it is used up, types may be wrong, because [`Budget::check`] will refuse the schema.
    pub(super) fn is_left(&self) -> bool {
        self.weight.get() > 0
    }

    pub(super) fn check(&self, at: &str) -> Result<(), SchemaError> {
        if self.is_left() { Ok(()) } else { Err(self.exceeded(at)) }
    }

    /// Checks what the compilation results in.
    pub(super) fn check_result<'t>(&self, types: impl Iterator<Item = &'t Type>) -> Result<(), SchemaError> {
        let weight: usize = types.map(|kind| Measure::of(kind).weight).sum();
        if weight <= self.max_weight { Ok(()) } else { Err(self.exceeded("")) }
    }

    fn exceeded(&self, at: &str) -> SchemaError {
        let message = format!(
            "the schema weighs more than {}: its subschemas, fields and values, and its text in units of 64 bytes, again for each \
             reference that is followed. Repeat less, or use shorter lists and texts",
            self.max_weight
        );
        SchemaError::new(at, "", message)
    }

    /// Returns a copy of the type, and takes its weight; something small if too little is left.
    pub(super) fn copy(&self, kind: &Type) -> Type {
        self.copies(kind, 1);
        if self.is_left() { kind.clone() } else { Type::Any }
    }

    /// Takes the weight of `count` copies of a type that the caller makes.
    pub(super) fn copies(&self, kind: &Type, count: usize) {
        if self.is_left() && count > 0 {
            self.take(Measure::of(kind).weight.saturating_mul(count));
        }
    }

    /// Takes the weight of a compiled pattern of up to `bytes` bytes.
    pub(super) fn take_pattern(&self, bytes: usize) {
        self.take(bytes / PATTERN_BYTES);
    }

    /// Takes the weight of a schema: of what the model keeps of its keywords, without the schemas inside it.
    pub(super) fn take_schema(&self, schema: &Node) {
        self.take(1);
        let Node::Object(entries) = schema else { return };
        for (keyword, value) in entries {
            match value {
                Node::Object(inner) if NAMED.contains(&keyword.as_str()) => {
                    self.take(inner.iter().map(|(name, _)| 1 + of_text(name)).sum());
                }
                value if KEPT.contains(&keyword.as_str()) => self.take(of_node(value)),
                _ => {}
            }
        }
    }
}

fn of_node(node: &Node) -> usize {
    1 + match node {
        Node::Text(text) | Node::Number(text) => of_text(text),
        Node::Array(items) => items.iter().map(of_node).sum(),
        Node::Object(entries) => entries.iter().map(|(name, node)| of_text(name) + of_node(node)).sum(),
        Node::Null | Node::Bool(_) => 0,
    }
}
