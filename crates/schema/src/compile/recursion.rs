//! The definitions of a finished model.

use super::{Compiler, MAX_SCHEMAS, union::nothing};
use crate::{SchemaError, Type, measure::Measure};

/// Most schemas that lead back to themselves: one may stand for the next, and each takes a part of the stack.
const MAX_DEFINITIONS: usize = 1000;

impl Compiler<'_> {
    /// The definitions, when looking at a value through them comes to an end and they are not too many.
    pub(super) fn finished_definitions(&mut self, root: &Type) -> Result<Vec<Type>, SchemaError> {
        let definitions: Vec<Type> =
            self.definitions.drain(..).map(|kind| kind.unwrap_or_else(nothing)).collect();
        let types: usize = definitions.iter().chain([root]).map(|kind| Measure::of(kind).types).sum();
        if types > MAX_SCHEMAS {
            return Err(SchemaError::new(
                "",
                "",
                format!("more than {MAX_SCHEMAS} types, choices written out"),
            ));
        }
        if definitions.len() > MAX_DEFINITIONS {
            let message = format!("more than {MAX_DEFINITIONS} schemas lead back to themselves");
            return Err(SchemaError::new("", "", message));
        }
        let mut states = vec![State::New; definitions.len()];
        for index in 0..definitions.len() {
            if is_endless(index, &definitions, &mut states) {
                let at = &self.definition_places[index];
                let message = "the reference leads to itself with no array or object between";
                return Err(SchemaError::new(at, "$ref", message));
            }
        }
        Ok(definitions)
    }
}

/// What is known of a definition.
#[derive(Clone, Copy, PartialEq)]
enum State {
    New,
    Entered,
    Ends,
}

/// Whether a value of the definition is looked at again and again by it.
fn is_endless(index: usize, definitions: &[Type], states: &mut [State]) -> bool {
    match states[index] {
        State::Ends => return false,
        State::Entered => return true,
        State::New => states[index] = State::Entered,
    }
    let mut beside = Vec::new();
    same_value(&definitions[index], &mut beside);
    let endless = beside.into_iter().any(|next| is_endless(next, definitions, states));
    states[index] = State::Ends;
    endless
}

/// The definitions that look at the same value as the type.
fn same_value(kind: &Type, found: &mut Vec<usize>) {
    match kind {
        Type::Definition(at) => found.push(*at),
        Type::Nullable(_) | Type::Known(_) | Type::Union(_) => {
            kind.children(&mut |child| same_value(child, found));
        }
        Type::Checked(checked) => {
            same_value(&checked.kind, found);
            for assertion in checked.assertions.iter().filter(|assertion| assertion.is_about_the_value()) {
                assertion.children(&mut |child| same_value(child, found));
            }
        }
        _ => {}
    }
}
