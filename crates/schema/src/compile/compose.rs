//! Combines the keywords of a schema into one type.

use super::{Compiler, Inner, Schema, intersect::Intersection, keywords, union::checked};
use crate::{SchemaError, Type, parse::Node};

impl<'a> Compiler<'a> {
    pub(super) fn object_schema(
        &mut self,
        entries: &'a [(String, Node)],
        schema: &Schema<'a>,
    ) -> Result<Inner, SchemaError> {
        if schema.has("$ref") && self.dialect.reference_stands_alone() {
            return self.reference(schema);
        }
        keywords::check(entries, &schema.at, self.dialect)?;
        self.check_place(schema)?;
        let kind = self.conjunction(entries, schema)?;
        let kind = self.choices(schema, kind)?;
        let kind = self.unevaluated(schema, kind)?;
        let Some(assertions) = self.assertions(schema)? else { return Ok(None) };
        let Some(kind) = kind else { return Ok(None) };
        self.known(schema, checked(kind, assertions)).map(Some)
    }

    /// Intersects the types of `type` and the keywords that belong to it, `$ref` and `allOf`.
    fn conjunction(
        &mut self,
        entries: &'a [(String, Node)],
        schema: &Schema<'a>,
    ) -> Result<Inner, SchemaError> {
        // Fields have the order of the keywords that name them.
        let mut parts = vec![(position(entries, "properties"), self.typed(entries, schema)?)];
        if schema.has("$ref") {
            parts.push((position(entries, "$ref"), self.reference(schema)?));
        }
        for part in self.list(schema, "allOf", schema.place.beside())? {
            parts.push((position(entries, "allOf"), part));
        }
        parts.sort_by_key(|(position, _)| *position);
        Ok(parts.into_iter().try_fold(Type::Any, |kind, (_, part)| self.intersect(Some(kind), part)))
    }

    /// Restricts `kind` by `anyOf` and `oneOf`.
    fn choices(&mut self, schema: &Schema<'a>, mut kind: Inner) -> Result<Inner, SchemaError> {
        for keyword in ["anyOf", "oneOf"] {
            let branches = self.list(schema, keyword, schema.place.choice())?;
            if let Some(base) = kind.take_if(|_| !branches.is_empty()) {
                kind = self.choice(base, branches, keyword == "oneOf");
            }
        }
        Ok(kind)
    }

    /// Returns the intersection of two types.
    pub(super) fn intersect(&self, a: Inner, b: Inner) -> Inner {
        let (a, b) = (a?, b?);
        Intersection::new(&self.definitions, &self.budget).of(&a, &b)
    }

    /// Rejects a subschema of another dialect, which the older dialects ignore, and definitions that are not objects.
    fn check_place(&self, schema: &Schema<'a>) -> Result<(), SchemaError> {
        if self.dialect.is_strict()
            && !schema.at.is_empty()
            && schema.has("$schema")
            && super::Dialect::of(schema.node, &schema.at)? != self.dialect
        {
            return Err(schema.error("$schema", "a schema inside another must have the same dialect"));
        }
        for keyword in ["$defs", "definitions"] {
            schema.entries(keyword)?;
        }
        Ok(())
    }
}

fn position(entries: &[(String, Node)], keyword: &str) -> usize {
    entries.iter().position(|(key, _)| key == keyword).unwrap_or(0)
}
