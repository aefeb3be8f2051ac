//! Completes the definitions of a model, and rejects references that lead only to themselves.

use super::{Compiler, union::nothing};
use crate::{SchemaError, Type};

/// The most recursive schemas. One may consist of a reference to the next, and each uses a part of the stack.
const MAX_DEFINITIONS: usize = 1000;

impl Compiler<'_> {
    /// Returns the definitions. An error if there are too many, or if checking a value against one would never end.
    pub(super) fn finished_definitions(&mut self) -> Result<Vec<Type>, SchemaError> {
        let definitions: Vec<Type> =
            self.definitions.drain(..).map(|kind| kind.unwrap_or_else(nothing)).collect();
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

/// The state of a definition in the search for endless recursion.
#[derive(Clone, Copy, PartialEq)]
enum State {
    New,
    Entered,
    Ends,
}

/// Whether checking a value against the definition leads back to checking the same value against it.
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

/// Collects the definitions that the type checks the same value against.
fn same_value(kind: &Type, found: &mut Vec<usize>) {
    match kind {
        Type::Definition(at) => found.push(*at),
        Type::Checked(checked) => {
            same_value(&checked.kind, found);
            for assertion in checked.assertions.iter().filter(|assertion| assertion.is_about_the_value()) {
                assertion.children(&mut |child| same_value(child, found));
            }
        }
        _ if kind.is_container() => {}
        _ => kind.children(&mut |child| same_value(child, found)),
    }
}
