//! Compiles `unevaluatedProperties` and `unevaluatedItems`. They are supported only if the evaluated fields and elements follow from the
//! schema alone. If they depend on the message, as with `anyOf` or `if`, the keyword is an error.

use super::{Compiler, Inner, Schema, intersect::tuple_of, typed::or_other, union::checked};
use crate::{Annotation, Assertion, Object, Pattern, SchemaError, Type, parse::Node};

/// The fields or elements that the keywords of a schema evaluate.
#[derive(Default)]
struct Evaluated {
    /// The names of fields.
    names: Vec<String>,
    patterns: Vec<Pattern>,
    /// The number of first elements.
    first: usize,
    /// Whether all fields or all elements are evaluated.
    all: bool,
    /// The number of references followed so far.
    followed: usize,
}

/// Keywords whose schemas apply to some messages only.
const CONDITIONAL: [&str; 6] = ["anyOf", "oneOf", "if", "dependentSchemas", "dependencies", "$dynamicRef"];
/// The most references that are followed from one schema.
const MAX_FOLLOWED: usize = 64;

impl<'a> Compiler<'a> {
    pub(super) fn unevaluated(&mut self, schema: &Schema<'a>, kind: Inner) -> Result<Inner, SchemaError> {
        let kind = self.unevaluated_properties(schema, kind)?;
        self.unevaluated_items(schema, kind)
    }

    fn unevaluated_properties(&mut self, schema: &Schema<'a>, kind: Inner) -> Result<Inner, SchemaError> {
        const KEYWORD: &str = "unevaluatedProperties";
        let Some(rest) = self.below(schema, KEYWORD, schema.place.varying())? else { return Ok(kind) };
        let mut found = Evaluated::default();
        self.evaluated(schema, schema.node, &schema.at, KEYWORD, &mut found)?;
        if found.all {
            return Ok(kind);
        }
        let additional = if found.patterns.is_empty() { rest.clone() } else { Some(Type::Any) };
        let fields = found.names.iter().map(|name| crate::Field {
            name: name.clone(),
            required: false,
            kind: Type::Any,
            description: None,
            default: Annotation::default(),
        });
        let object = Object {
            title: Annotation::default(),
            fields: fields.collect(),
            additional: additional.map(Box::new),
        };
        let mut assertions = Vec::new();
        if !found.patterns.is_empty() {
            let patterns = found.patterns.into_iter().map(|pattern| (pattern, Type::Any)).collect();
            assertions.push(Assertion::Others { named: found.names, patterns, rest });
        }
        let object = checked(Type::Object(object), assertions);
        Ok(self.intersect(kind, Some(or_other(object, "object"))))
    }

    fn unevaluated_items(&mut self, schema: &Schema<'a>, kind: Inner) -> Result<Inner, SchemaError> {
        const KEYWORD: &str = "unevaluatedItems";
        let Some(rest) = self.below(schema, KEYWORD, schema.place.varying())? else { return Ok(kind) };
        let mut found = Evaluated::default();
        self.evaluated(schema, schema.node, &schema.at, KEYWORD, &mut found)?;
        if found.all {
            return Ok(kind);
        }
        let array = tuple_of(vec![Type::Any; found.first], rest, 0, None);
        Ok(self.intersect(kind, array.map(|array| or_other(array, "array"))))
    }

    /// Adds what the schema at `at` evaluates, with its `allOf` and `$ref`. `of` is the schema that has `keyword`; errors point to it.
    fn evaluated(
        &mut self,
        of: &Schema<'a>,
        node: &'a Node,
        at: &str,
        keyword: &str,
        found: &mut Evaluated,
    ) -> Result<(), SchemaError> {
        let is_items = keyword == "unevaluatedItems";
        let simple = |name: &str| node.get(name).is_none();
        let contains = if is_items { Some("contains") } else { None };
        if let Some(name) = CONDITIONAL.into_iter().chain(contains).find(|name| !simple(name)) {
            let message = format!("{keyword} is supported where no {name} decides what it is about");
            return Err(of.error(keyword, message));
        }
        if found.followed > MAX_FOLLOWED {
            return Err(of.error(keyword, format!("{keyword} beside too many references")));
        }
        if is_items {
            let list = |name: &str| match node.get(name) {
                Some(Node::Array(items)) => items.len(),
                _ => 0,
            };
            found.first = found.first.max(list("prefixItems")).max(list("items"));
            found.all |= matches!(node.get("items"), Some(Node::Object(_) | Node::Bool(_)));
            found.all |= list("items") > 0 && !simple("additionalItems");
        } else {
            let keys = |name: &str| match node.get(name) {
                Some(Node::Object(entries)) => entries.iter().map(|(key, _)| key.clone()).collect(),
                _ => Vec::new(),
            };
            let names = keys("properties");
            self.budget.take(names.len());
            self.budget.check(&of.at)?;
            found.names.extend(names);
            for source in keys("patternProperties") {
                found.patterns.push(self.pattern(of, "patternProperties", &source)?);
            }
            found.all |= !simple("additionalProperties");
        }
        found.all |= at != of.at && !simple(keyword);
        if let Some(Node::Array(parts)) = node.get("allOf") {
            for (i, part) in parts.iter().enumerate() {
                self.evaluated(of, part, &format!("{at}/allOf/{i}"), keyword, found)?;
            }
        }
        if let Some(Node::Text(reference)) = node.get("$ref") {
            let (at, node) = self.resolve(at, reference).map_err(|message| of.error("$ref", message))?;
            found.followed += 1;
            self.evaluated(of, node, &at, keyword, found)?;
        }
        Ok(())
    }
}
