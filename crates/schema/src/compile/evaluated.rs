//! Finds out which fields or elements a schema evaluates, with its `allOf` and `$ref`, and with the schemas that apply to some messages only.

use super::{Compiler, Schema, union::checked};
use crate::{Annotation, Assertion, Field, Object, Pattern, SchemaError, Type, error::join, parse::Node};

/// The fields or elements that the keywords of a schema evaluate.
#[derive(Clone, Default, PartialEq)]
pub(super) struct Evaluated {
    /// The names of fields.
    pub names: Vec<String>,
    pub patterns: Vec<Pattern>,
    /// The number of first elements.
    pub first: usize,
    /// Whether all fields or all elements are evaluated.
    pub all: bool,
}

/// What is evaluated if the conditions hold.
#[derive(Clone, Default)]
pub(super) struct Alternative {
    /// Types that all allow the message.
    pub conditions: Vec<Type>,
    pub found: Evaluated,
}

/// The most references that are followed from one schema.
const MAX_FOLLOWED: usize = 64;
/// The most alternatives of one schema.
const MAX_ALTERNATIVES: usize = 64;

/// The search from one schema.
struct Search<'s, 'a> {
    of: &'s Schema<'a>,
    /// The keyword that the search is for; errors are about it.
    keyword: &'s str,
    followed: usize,
}

impl Search<'_, '_> {
    fn error(&self, message: &str) -> SchemaError {
        self.of.error(self.keyword, format!("{} {message}", self.keyword))
    }
}

impl<'a> Compiler<'a> {
    /// Returns the alternatives of what the schema evaluates beside `keyword`. At least one applies to each message that the schema allows, and
    /// one that applies evaluates only what is evaluated.
    pub(super) fn alternatives(
        &mut self,
        of: &Schema<'a>,
        keyword: &str,
    ) -> Result<Vec<Alternative>, SchemaError> {
        let mut search = Search { of, keyword, followed: 0 };
        self.alternatives_of(&mut search, of.node, &of.at)
    }

    /// Returns the alternatives of the schema at `at`.
    fn alternatives_of(
        &mut self,
        search: &mut Search<'_, 'a>,
        node: &'a Node,
        at: &str,
    ) -> Result<Vec<Alternative>, SchemaError> {
        let found = self.own(search, node, at)?;
        let mut all = vec![Alternative { conditions: Vec::new(), found }];
        for (i, part) in members(node, "allOf") {
            let at = join(&join(at, "allOf"), &i.to_string());
            let part = self.alternatives_of(search, part, &at)?;
            all = search.product(&all, &part)?;
        }
        if let Some(Node::Text(reference)) = node.get("$ref") {
            let (at, node) =
                self.resolve(at, reference).map_err(|message| search.of.error("$ref", message))?;
            search.followed += 1;
            if search.followed > MAX_FOLLOWED {
                return Err(search.error("beside too many references"));
            }
            let target = self.alternatives_of(search, node, &at)?;
            all = search.product(&all, &target)?;
        }
        for options in [
            self.of_choice(search, node, at, "anyOf")?,
            self.of_choice(search, node, at, "oneOf")?,
            self.of_condition(search, node, at)?,
        ] {
            all = search.product(&all, &options)?;
        }
        self.of_dependencies(search, node, at, all)
    }

    /// Returns what the keywords of a schema evaluate by themselves.
    fn own(&mut self, search: &Search<'_, 'a>, node: &'a Node, at: &str) -> Result<Evaluated, SchemaError> {
        let has = |name: &str| node.get(name).is_some();
        let mut found = Evaluated { all: at != search.of.at && has(search.keyword), ..Evaluated::default() };
        if search.keyword == "unevaluatedItems" {
            if has("contains") {
                return Err(search.error("is supported where no contains decides what it is about"));
            }
            let list = |name: &str| members(node, name).count();
            found.first = list("prefixItems").max(list("items"));
            found.all |= matches!(node.get("items"), Some(Node::Object(_) | Node::Bool(_)));
            found.all |= list("items") > 0 && has("additionalItems");
        } else {
            found.names = entries(node, "properties").map(|(name, _)| name.clone()).collect();
            self.budget.take(found.names.len());
            for (source, _) in entries(node, "patternProperties") {
                found.patterns.push(self.pattern(search.of, "patternProperties", source)?);
            }
            found.all |= has("additionalProperties");
        }
        self.budget.check(&search.of.at)?;
        Ok(found)
    }

    /// Returns the alternatives of `anyOf` or `oneOf`.
    fn of_choice(
        &mut self,
        search: &mut Search<'_, 'a>,
        node: &'a Node,
        at: &str,
        keyword: &str,
    ) -> Result<Vec<Alternative>, SchemaError> {
        let mut options = vec![Alternative::default()];
        let mut is_decided = members(node, keyword).next().is_some();
        for (i, branch) in members(node, keyword) {
            let at = join(&join(at, keyword), &i.to_string());
            let inner = self.alternatives_of(search, branch, &at)?;
            if inner.iter().all(|one| one.found == Evaluated::default()) {
                is_decided = false;
                continue;
            }
            let inner = self.under(search, branch, &at, inner)?;
            // Several members of `anyOf` may allow the message, and then the fields of all are evaluated.
            let further = if keyword == "anyOf" { search.product(&options, &inner)? } else { inner };
            options.extend(further);
            search.check(&options)?;
        }
        // If each member evaluates something, the alternative without any is not needed.
        if is_decided {
            options.remove(0);
        }
        Ok(options)
    }

    /// Returns the alternatives of `if`, `then` and `else`.
    fn of_condition(
        &mut self,
        search: &mut Search<'_, 'a>,
        node: &'a Node,
        at: &str,
    ) -> Result<Vec<Alternative>, SchemaError> {
        let Some(test) = node.get("if") else { return Ok(vec![Alternative::default()]) };
        let mut held = self.alternatives_of(search, test, &join(at, "if"))?;
        if let Some(then) = node.get("then") {
            let then = self.alternatives_of(search, then, &join(at, "then"))?;
            held = search.product(&held, &then)?;
        }
        let mut failed = match node.get("else") {
            Some(otherwise) => self.alternatives_of(search, otherwise, &join(at, "else"))?,
            None => vec![Alternative::default()],
        };
        let nothing = |all: &[Alternative]| all.iter().all(|one| one.found == Evaluated::default());
        if nothing(&held) && nothing(&failed) {
            return Ok(vec![Alternative::default()]);
        }
        if !nothing(&failed) {
            let test = self.schema(test, &join(at, "if"), search.of.place.choice())?;
            let excluded = test.map(|test| checked(Type::Any, vec![Assertion::Not(test)]));
            failed.iter_mut().for_each(|one| one.conditions.extend(excluded.clone()));
        }
        failed.extend(self.under(search, test, &join(at, "if"), held)?);
        Ok(failed)
    }

    /// Adds the alternatives of the schemas that apply if a field is there.
    fn of_dependencies(
        &mut self,
        search: &mut Search<'_, 'a>,
        node: &'a Node,
        at: &str,
        mut all: Vec<Alternative>,
    ) -> Result<Vec<Alternative>, SchemaError> {
        for keyword in ["dependentSchemas", "dependencies"] {
            for (name, node) in entries(node, keyword).filter(|(_, node)| !matches!(node, Node::Array(_))) {
                let mut inner = self.alternatives_of(search, node, &join(&join(at, keyword), name))?;
                if inner.iter().all(|one| one.found == Evaluated::default()) {
                    continue;
                }
                inner.iter_mut().for_each(|one| one.conditions.push(with_field(name)));
                inner.insert(0, Alternative::default());
                all = search.product(&all, &inner)?;
            }
        }
        Ok(all)
    }

    /// Adds to alternatives the condition that the schema at `at` allows the message. There are none if it allows nothing.
    fn under(
        &mut self,
        search: &Search<'_, 'a>,
        node: &'a Node,
        at: &str,
        mut alternatives: Vec<Alternative>,
    ) -> Result<Vec<Alternative>, SchemaError> {
        let Some(condition) = self.schema(node, at, search.of.place.choice())? else { return Ok(Vec::new()) };
        self.budget.copies(&condition, alternatives.len());
        self.budget.check(at)?;
        alternatives.iter_mut().for_each(|one| one.conditions.push(condition.clone()));
        Ok(alternatives)
    }
}

impl Search<'_, '_> {
    /// Returns the alternatives of two schemas that both apply.
    fn product(&self, left: &[Alternative], right: &[Alternative]) -> Result<Vec<Alternative>, SchemaError> {
        if left.len() * right.len() > MAX_ALTERNATIVES {
            return Err(self.too_many());
        }
        let pair = |(left, right): (&Alternative, &Alternative)| {
            let mut both = left.clone();
            both.conditions.extend(right.conditions.iter().cloned());
            both.found.names.extend(right.found.names.iter().cloned());
            both.found.names.sort();
            both.found.names.dedup();
            both.found.patterns.extend(right.found.patterns.iter().cloned());
            both.found.first = both.found.first.max(right.found.first);
            both.found.all |= right.found.all;
            both
        };
        Ok(left.iter().flat_map(|left| right.iter().map(move |right| (left, right))).map(pair).collect())
    }

    fn check(&self, alternatives: &[Alternative]) -> Result<(), SchemaError> {
        if alternatives.len() > MAX_ALTERNATIVES { Err(self.too_many()) } else { Ok(()) }
    }

    fn too_many(&self) -> SchemaError {
        self.error(&format!(
            "is supported where choices decide in at most {MAX_ALTERNATIVES} combinations what it is about"
        ))
    }
}

/// Returns the type of objects with the field.
fn with_field(name: &str) -> Type {
    let field = Field {
        name: name.to_owned(),
        required: true,
        kind: Type::Any,
        description: None,
        default: Annotation::default(),
        drop: Annotation::default(),
    };
    Type::Object(Object {
        title: Annotation::default(),
        fields: vec![field],
        additional: Some(Box::new(Type::Any)),
    })
}

/// Returns the entries of the array under `keyword`, with their positions.
fn members<'n>(node: &'n Node, keyword: &str) -> impl Iterator<Item = (usize, &'n Node)> + use<'n> {
    let items = match node.get(keyword) {
        Some(Node::Array(items)) => items.as_slice(),
        _ => &[],
    };
    items.iter().enumerate()
}

/// Returns the entries of the object under `keyword`.
fn entries<'n>(node: &'n Node, keyword: &str) -> std::slice::Iter<'n, (String, Node)> {
    match node.get(keyword) {
        Some(Node::Object(entries)) => entries.iter(),
        _ => [].iter(),
    }
}
