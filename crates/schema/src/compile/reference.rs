//! `$ref`: JSON pointers into the same schema.

use super::{Compiler, Schema};
use crate::{SchemaError, Type, error::join, parse::Node};

impl<'a> Compiler<'a> {
    pub(super) fn reference(&mut self, schema: &Schema<'a>) -> Result<Type, SchemaError> {
        let Some(Node::Text(reference)) = schema.get("$ref") else {
            return Err(schema.error("$ref", "$ref must be a string"));
        };
        let (at, node) = self.resolve(reference).map_err(|message| schema.error("$ref", message))?;
        if self.trail.contains(&at) {
            let message = format!("{reference} refers to itself; recursion is not supported");
            return Err(schema.error("$ref", message));
        }
        self.trail.push(at.clone());
        let kind = self.schema(node, &at, schema.place.beside());
        self.trail.pop();
        kind
    }

    /// The schema that `reference` means, and its pointer in the one spelling that pointers of errors have.
    pub(super) fn resolve(&self, reference: &str) -> Result<(String, &'a Node), String> {
        let Some(fragment) = reference.strip_prefix('#') else {
            return Err(format!(
                "{reference:?} is not in this schema; only references that begin with # are supported"
            ));
        };
        let pointer =
            percent_decoded(fragment).ok_or_else(|| format!("{reference:?} is not percent-encoded UTF-8"))?;
        if !pointer.is_empty() && !pointer.starts_with('/') {
            return Err(format!("{reference:?} is not a JSON pointer; anchors are not supported"));
        }
        let (mut node, mut at) = (self.root, String::new());
        for token in pointer.split('/').skip(1) {
            let key = token.replace("~1", "/").replace("~0", "~");
            let next = match node {
                Node::Array(items) => key.parse::<usize>().ok().and_then(|i| items.get(i)),
                _ => node.get(&key),
            };
            node = next.ok_or_else(|| format!("{reference:?} refers to nothing"))?;
            at = join(&at, &key);
        }
        Ok((at, node))
    }
}

fn percent_decoded(text: &str) -> Option<String> {
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
