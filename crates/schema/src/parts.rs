//! The types that the value at one place of a message can have: what tables and files derive their columns from.

use crate::{Array, Model, Object, Tuple, Type};

/// The types that the values at one place can have, without unions and other wrappers.
pub type Part<'m> = Vec<&'m Type>;

/// The treatment of references to definitions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Definitions {
    /// They are replaced by the definition. A definition that is only itself has no types.
    Followed,
    /// They stay [`Type::Definition`], so that a walk over a recursive schema ends.
    LeftAlone,
}

/// Returns the types of the whole message.
///
/// ```
/// # use dunnage_schema::{Model, Type, parts};
/// let model = Model::compile(r#"{"type": "object", "properties": {"t": {"type": ["integer", "null"]}}}"#)?;
/// let whole = parts::root(&model);
/// let t = parts::child(&model, &whole, "t", parts::Definitions::Followed);
/// assert!(matches!(t[..], [Type::Integer(_)]));
/// # Ok::<(), dunnage_schema::SchemaError>(())
/// ```
pub fn root(model: &Model) -> Part<'_> {
    of(model, model.root(), Definitions::Followed)
}

/// Returns the types of the values of `kind`. Null is one of them only if the schema lists it as a type of its own.
pub fn of<'m>(model: &'m Model, kind: &'m Type, definitions: Definitions) -> Part<'m> {
    let mut part = Vec::new();
    add(model, kind, definitions, &mut Vec::new(), &mut part);
    part
}

/// Returns the types of the part `token`, a field's name or an element's index, of the objects and arrays in `part`.
pub fn child<'m>(model: &'m Model, part: &Part<'m>, token: &str, definitions: Definitions) -> Part<'m> {
    let mut child = Vec::new();
    for kind in part {
        let kind = match kind {
            Type::Any => Some(&Type::Any),
            Type::Object(Object { fields, additional, .. }) => {
                let field = fields.iter().find(|field| field.name == token);
                field.map(|field| &field.kind).or(additional.as_deref())
            }
            Type::Array(Array { items, .. }) => Some(&**items),
            Type::Tuple(Tuple { items, rest, .. }) => {
                let index = token.parse::<usize>().ok();
                index.and_then(|index| items.get(index)).or(rest.as_deref())
            }
            _ => None,
        };
        if let Some(kind) = kind {
            add(model, kind, definitions, &mut Vec::new(), &mut child);
        }
    }
    child
}

fn add<'m>(
    model: &'m Model,
    kind: &'m Type,
    definitions: Definitions,
    entered: &mut Vec<usize>,
    part: &mut Part<'m>,
) {
    match kind {
        Type::Union(members) => {
            members.iter().for_each(|member| add(model, member, definitions, entered, part));
        }
        Type::Definition(index) if definitions == Definitions::Followed => {
            if !entered.contains(index) {
                entered.push(*index);
                add(model, &model.definitions()[*index], definitions, entered, part);
            }
        }
        other => match other.inner() {
            Some(inner) => add(model, inner, definitions, entered, part),
            None => part.push(other),
        },
    }
}
