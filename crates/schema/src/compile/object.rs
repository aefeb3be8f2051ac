//! Compiles `object`.

use super::{
    Compiler, Inner, Schema,
    intersect::Intersection,
    keywords::{self, DROP},
    union::{checked, nothing, union},
};
use crate::{
    Annotation, Assertion, Field, Object, Pattern, SchemaError, Type, error::join, measure::Measure,
    parse::Node,
};
use dunnage_pson::Value;
use std::collections::HashSet;

/// The types under `patternProperties`; `None` where a matching name is not allowed.
type Patterns = Vec<(Pattern, Inner)>;

impl<'a> Compiler<'a> {
    pub(super) fn object(&mut self, schema: &Schema<'a>) -> Result<Inner, SchemaError> {
        schema.place.inside().check(&Measure::default(), &schema.at)?;
        let required = required(schema)?;
        let is_required: HashSet<&str> = required.iter().copied().collect();
        let patterns = self.patterns_of(schema)?;
        let rest =
            self.below(schema, "additionalProperties", schema.place.varying())?.unwrap_or(Some(Type::Any));
        let mut fields = Vec::new();
        let mut absent = Vec::new();
        let at = schema.below("properties");
        let properties = schema.entries("properties")?;
        for (name, node) in properties {
            let required = is_required.contains(name.as_str());
            let place = if required { schema.place.inside() } else { schema.place.varying() };
            let kind = self.schema(node, &join(&at, name), place)?;
            match self.with_patterns(name, kind, &patterns) {
                Some(kind) => {
                    let (description, default) = self.annotations(node, &join(&at, name));
                    let drop = rank(schema, name, node, required)?;
                    fields.push(Field { name: name.clone(), required, kind, description, default, drop });
                }
                None if required => return Ok(None),
                None => absent.push(name.clone()),
            }
        }
        let named: Vec<String> = properties.iter().map(|(name, _)| name.clone()).collect();
        let is_named: HashSet<&str> = named.iter().map(String::as_str).collect();
        for (i, name) in required.iter().enumerate().filter(|(_, name)| !is_named.contains(**name)) {
            let matched = patterns.iter().any(|(pattern, _)| pattern.is_match(name));
            let kind =
                if matched { Some(Type::Any) } else { rest.as_ref().map(|kind| self.budget.copy(kind)) };
            if kind.is_none() && self.dialect.is_strict() {
                let message =
                    format!("{name:?} is required but not among properties, and no other field is allowed");
                return Err(schema.error("required", message).below(i));
            }
            let Some(kind) = self.with_patterns(name, kind, &patterns) else { return Ok(None) };
            let (name, default, drop) = ((*name).to_owned(), Annotation::default(), Annotation::default());
            fields.push(Field { name, required: true, kind, description: None, default, drop });
        }
        let additional = self.additional(&patterns, &rest);
        self.budget.check(&schema.at)?;
        let mut assertions = Vec::new();
        if !absent.is_empty() && additional.is_some() {
            assertions.push(Assertion::Absent(absent));
        }
        if !patterns.is_empty() {
            let patterns =
                patterns.into_iter().map(|(pattern, kind)| (pattern, kind.unwrap_or_else(nothing)));
            assertions.push(Assertion::Others { named, patterns: patterns.collect(), rest });
        }
        let kind = Type::Object(Object {
            title: Annotation::default(),
            fields,
            additional: additional.map(Box::new),
        });
        Ok(Some(checked(kind, assertions)))
    }

    /// Returns the description and the default of the property at `at`.
    fn annotations(&self, node: &'a Node, at: &str) -> (Option<String>, Annotation<Value>) {
        let description = self.annotation(node, at, |node| node.text("description"));
        let default = self.annotation(node, at, |node| node.get("default"));
        (description.map(str::to_owned), Annotation(default.and_then(Node::to_value)))
    }

    /// Returns the type of the fields that `properties` does not name.
    fn additional(&self, patterns: &Patterns, rest: &Inner) -> Inner {
        union(
            patterns.iter().map(|(_, kind)| kind).chain([rest]).flatten().map(|kind| self.budget.copy(kind)),
        )
    }

    fn patterns_of(&mut self, schema: &Schema<'a>) -> Result<Patterns, SchemaError> {
        let kinds = self.named(schema, "patternProperties", schema.place.varying())?;
        let compile = |(source, kind): (&str, Inner)| {
            let pattern = self.pattern(schema, "patternProperties", source).map_err(|e| e.below(source))?;
            Ok((pattern, kind))
        };
        kinds.into_iter().map(compile).collect()
    }

    /// Returns the type of a field that also has to match the types of all patterns for its name; `None` if it is not allowed.
    fn with_patterns(&self, name: &str, kind: Inner, patterns: &Patterns) -> Inner {
        let mut kind = kind?;
        for (_, other) in patterns.iter().filter(|(pattern, _)| pattern.is_match(name)) {
            kind = Intersection::new(&self.definitions, &self.budget).of(&kind, other.as_ref()?)?;
        }
        Some(kind)
    }

    /// Returns an annotation of the property itself, else that of the definition that it refers to.
    fn annotation<T>(&self, node: &'a Node, at: &str, of: fn(&'a Node) -> Option<T>) -> Option<T> {
        of(node).or_else(|| of(self.resolve(at, node.text("$ref")?).ok()?.1))
    }
}

/// Returns the rank by which the property is left out, if it may be.
fn rank(schema: &Schema<'_>, name: &str, node: &Node, required: bool) -> Result<Annotation<u8>, SchemaError> {
    let rank = node.get(DROP).and_then(keywords::rank);
    if rank.is_some() && required {
        let message = format!("{DROP} is for optional properties, and {name:?} is required");
        return Err(schema.error("properties", message).below(name).below(DROP));
    }
    Ok(Annotation(rank))
}

/// Returns the distinct names under `required`.
fn required<'a>(schema: &Schema<'a>) -> Result<Vec<&'a str>, SchemaError> {
    let names = match schema.get("required") {
        None => return Ok(Vec::new()),
        Some(Node::Array(names)) => names,
        Some(_) => return Err(schema.error("required", "required must be an array of names")),
    };
    let mut out: Vec<&str> = Vec::with_capacity(names.len());
    let mut seen = HashSet::new();
    for (i, name) in names.iter().enumerate() {
        let Node::Text(name) = name else {
            return Err(schema.error("required", "required must be an array of names").below(i));
        };
        if seen.insert(name.as_str()) {
            out.push(name);
        } else if schema.dialect.is_strict() {
            return Err(schema.error("required", format!("duplicate {name:?} in required")).below(i));
        }
    }
    Ok(out)
}
