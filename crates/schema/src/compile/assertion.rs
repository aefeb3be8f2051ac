//! Compiles the keywords that only restrict which values are valid.

use super::{Compiler, Inner, Schema, union::nothing};
use crate::{Assertion, Condition, SchemaError, Type, parse::Node};

/// Names of fields, each with the names of the fields that it requires.
type Dependencies = Vec<(String, Vec<String>)>;

impl<'a> Compiler<'a> {
    /// Compiles the assertions of a schema; returns `None` if they allow nothing.
    pub(super) fn assertions(&mut self, schema: &Schema<'a>) -> Result<Option<Vec<Assertion>>, SchemaError> {
        let mut all = Vec::new();
        if let Some(excluded) = self.below(schema, "not", schema.place.choice())? {
            match excluded {
                Some(Type::Any) => return Ok(None),
                Some(kind) => all.push(Assertion::Not(kind)),
                None => {}
            }
        }
        all.extend(self.conditional(schema)?);
        all.extend(self.of_arrays(schema)?);
        self.of_objects(schema, &mut all)?;
        Ok(Some(all))
    }

    fn conditional(&mut self, schema: &Schema<'a>) -> Result<Option<Assertion>, SchemaError> {
        let place = schema.place.choice();
        let test = self.below(schema, "if", place)?;
        let branch = |kind: Option<Inner>| match kind {
            None | Some(Some(Type::Any)) => None,
            Some(kind) => Some(kind.unwrap_or_else(nothing)),
        };
        let then = branch(self.below(schema, "then", place)?);
        let otherwise = branch(self.below(schema, "else", place)?);
        // The standard ignores `then` and `else` without `if`.
        Ok(test.filter(|_| then.is_some() || otherwise.is_some()).map(|test| {
            Assertion::If(Box::new(Condition { test: test.unwrap_or_else(nothing), then, otherwise }))
        }))
    }

    fn of_arrays(&mut self, schema: &Schema<'a>) -> Result<Vec<Assertion>, SchemaError> {
        let mut all = Vec::new();
        match schema.get("uniqueItems") {
            None | Some(Node::Bool(false)) => {}
            Some(Node::Bool(true)) => all.push(Assertion::UniqueItems),
            Some(_) => return Err(schema.error("uniqueItems", "uniqueItems must be true or false")),
        }
        let (min, max) = (schema.count("minContains")?.unwrap_or(1), schema.count("maxContains")?);
        if max.is_some_and(|max| min > max) {
            return Err(schema.error("minContains", "minContains is above maxContains"));
        }
        if let Some(kind) = self.below(schema, "contains", schema.place.varying())?
            && (min > 0 || max.is_some())
        {
            all.push(Assertion::Contains { kind: kind.unwrap_or_else(nothing), min, max });
        }
        Ok(all)
    }

    fn of_objects(&mut self, schema: &Schema<'a>, all: &mut Vec<Assertion>) -> Result<(), SchemaError> {
        let (min, max) = (schema.count("minProperties")?.unwrap_or(0), schema.count("maxProperties")?);
        if max.is_some_and(|max| min > max) {
            return Err(schema.error("minProperties", "minProperties is above maxProperties"));
        }
        if min > 0 || max.is_some() {
            all.push(Assertion::Properties { min, max });
        }
        match self.below(schema, "propertyNames", schema.place.choice())? {
            None | Some(Some(Type::Any)) => {}
            Some(kind) => all.push(Assertion::PropertyNames(kind.unwrap_or_else(nothing))),
        }
        let mut required = names_under(schema, "dependentRequired", |_| true)?;
        required.extend(names_under(schema, "dependencies", |node| matches!(node, Node::Array(_)))?);
        if !required.is_empty() {
            all.push(Assertion::DependentRequired(required));
        }
        let mut kinds = self.named(schema, "dependentSchemas", schema.place.choice())?;
        for (name, node) in schema.entries("dependencies")? {
            if !matches!(node, Node::Array(_)) {
                let at = crate::error::join(&schema.below("dependencies"), name);
                kinds.push((name, self.schema(node, &at, schema.place.choice())?));
            }
        }
        let kinds: Vec<_> = kinds
            .into_iter()
            .filter(|(_, kind)| *kind != Some(Type::Any))
            .map(|(name, kind)| (name.to_owned(), kind.unwrap_or_else(nothing)))
            .collect();
        if !kinds.is_empty() {
            all.push(Assertion::DependentSchemas(kinds));
        }
        Ok(())
    }
}

/// Returns the lists of names under `keyword`, for the entries for which `is_list` holds.
fn names_under(
    schema: &Schema<'_>,
    keyword: &str,
    is_list: impl Fn(&Node) -> bool,
) -> Result<Dependencies, SchemaError> {
    let mut all = Vec::new();
    for (name, node) in schema.entries(keyword)?.iter().filter(|(_, node)| is_list(node)) {
        let refuse = || schema.error(keyword, format!("{keyword} must be lists of names")).below(name);
        let Node::Array(names) = node else { return Err(refuse()) };
        let text = |node: &Node| match node {
            Node::Text(name) => Ok(name.clone()),
            _ => Err(refuse()),
        };
        all.push((name.clone(), names.iter().map(text).collect::<Result<_, _>>()?));
    }
    Ok(all)
}
