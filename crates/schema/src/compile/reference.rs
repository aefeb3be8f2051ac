//! Compiles `$ref`: JSON pointers and names within the same schema. A schema that refers to itself becomes a definition.

use super::{Compiler, Schema, union::nothing};
use crate::{SchemaError, Type, error::join, measure::Measure, parse::Node};

/// A reference that is being followed.
pub(super) struct Followed {
    /// The pointer of its target.
    at: String,
    /// The definition of the target, made when a reference inside the target led back to it.
    definition: Option<usize>,
}

impl Followed {
    pub(super) fn new(at: String) -> Self {
        Followed { at, definition: None }
    }
}

impl<'a> Compiler<'a> {
    pub(super) fn reference(&mut self, schema: &Schema<'a>) -> Result<Option<Type>, SchemaError> {
        let Some(Node::Text(reference)) = schema.get("$ref") else {
            return Err(schema.error("$ref", "$ref must be a string"));
        };
        let (at, node) =
            self.resolve(&schema.at, reference).map_err(|message| schema.error("$ref", message))?;
        if let Some((kind, measure)) = self.done.get(&at) {
            schema.place.check(measure, &schema.at)?;
            self.budget.take(measure.weight);
            self.budget.check(&schema.at)?;
            return Ok(kind.clone());
        }
        if let Some(followed) = self.trail.iter_mut().find(|followed| followed.at == at) {
            let index = *followed.definition.get_or_insert(self.definitions.len());
            if index == self.definitions.len() {
                self.definitions.push(None);
                self.definition_places.push(schema.at.clone());
            }
            return Ok(Some(Type::Definition(index)));
        }
        let known = self.known_seen.len();
        self.trail.push(Followed::new(at.clone()));
        let kind = self.schema(node, &at, schema.place.beside());
        let definition = self.trail.pop().and_then(|followed| followed.definition);
        let mut kind = kind?;
        if let (Some(kind), Some((_, name))) = (&mut kind, at.rsplit_once('/'))
            && node.text("title").is_none()
            && !name.contains('~')
        {
            kind.set_title(name);
        }
        if let Some(index) = definition {
            self.definitions[index] = Some(kind.unwrap_or_else(nothing));
            kind = Some(Type::Definition(index));
        }
        // The errors of `x-dunnage-known` depend on the path to it, so such a type is not cached.
        if self.known_seen.len() == known {
            let measure = kind.as_ref().map(Measure::of).unwrap_or_default();
            self.budget.check(&schema.at)?;
            self.done.insert(at, (kind.clone(), measure));
        }
        Ok(kind)
    }

    /// Completes the definition of the whole schema, if it refers to itself.
    pub(super) fn close_root(&mut self, kind: &Type) {
        if let Some(index) = self.trail.pop().and_then(|followed| followed.definition) {
            self.definitions[index] = Some(kind.clone());
        }
    }

    /// Resolves `reference` in the schema at `from`. Returns the schema and its pointer, spelled as in errors.
    pub(super) fn resolve(&self, from: &str, reference: &str) -> Result<(String, &'a Node), String> {
        let (document, fragment) = reference.split_once('#').unwrap_or((reference, ""));
        let pointer =
            percent_decoded(fragment).ok_or_else(|| format!("{reference:?} is not percent-encoded UTF-8"))?;
        let missing = || {
            format!(
                "{reference:?} is not in this schema. Its file must be in a folder that is given for that (--schema-dir, or the \
                 gateway's folder of schemas), or in a map of addresses (--schema-map, [schemas] map); nothing is read from the network"
            )
        };
        if !pointer.is_empty() && !pointer.starts_with('/') {
            return self.identifiers.anchor(from, document, &pointer).ok_or_else(missing);
        }
        let (mut at, mut node) = self.identifiers.document(from, document).ok_or_else(missing)?;
        for token in pointer.split('/').skip(1) {
            let key = crate::pointer::unescape(token);
            node = node.part(&key).ok_or_else(|| format!("{reference:?} refers to nothing"))?;
            at = join(&at, &key);
        }
        Ok((at, node))
    }
}

pub(crate) fn percent_decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, tail @ ..] = rest {
        rest = tail;
        if *first != b'%' {
            bytes.push(*first);
            continue;
        }
        let (digits, tail) = rest.split_at_checked(2)?;
        let digit = |byte: u8| char::from(byte).to_digit(16);
        bytes.push(u8::try_from(digit(digits[0])? * 16 + digit(digits[1])?).ok()?);
        rest = tail;
    }
    String::from_utf8(bytes).ok()
}
