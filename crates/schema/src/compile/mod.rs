//! Compiles a schema's text to a [`Model`].
//!
//! Each schema becomes one type. The types of `type`, `properties`, `$ref` and `allOf` are intersected (`intersect.rs`). `anyOf` and `oneOf`
//! become a union where that changes how a value is carried (`choice.rs`). Keywords that say nothing about how a value is carried become
//! assertions. A reference is replaced by its target, unless the target refers to itself: then it becomes a definition (`reference.rs`).
//! A keyword that is not supported and would change the meaning is an error. Limits on size and depth bound the work for any schema.

pub(crate) mod address;
mod advice;
mod assertion;
mod bound;
mod budget;
mod choice;
mod compose;
mod dialect;
mod evaluated;
mod identifiers;
mod intersect;
mod intersect_number;
mod keywords;
mod known;
mod notation;
mod number;
mod object;
pub(crate) mod positions;
mod recursion;
mod reference;
mod sensor;
mod structure;
mod text;
mod typed;
mod unevaluated;
mod union;

use crate::{Model, Pattern, SchemaError, Type, error::join, measure::Measure, parse::Node};
pub use advice::{has_keywords, warnings};
use budget::Budget;
use dialect::Dialect;
use identifiers::Identifiers;
pub(crate) use known::checked_slot;
use reference::Followed;
pub(crate) use reference::percent_decoded;
use std::collections::HashMap;

/// The deepest nesting of arrays and objects in a message.
const MAX_NESTING: usize = 32;
/// The deepest nesting of schemas. References and choices come on top of the nesting of the message.
const MAX_DEPTH: usize = 128;
/// The most that a schema of an operator or a developer may weigh: subschemas, fields and values, and text in units of 64 bytes, again for
/// each reference that is followed.
pub const MAX_WEIGHT: usize = 200_000;
/// The most distinct regular expressions. Each may use 1 MiB.
pub(crate) const MAX_PATTERNS: usize = 256;
/// The name of a model whose schema has no usable title.
const UNTITLED: &str = "Message";

/// Settings that affect the meaning of a schema and are not part of its text.
///
/// ```
/// use dunnage_pson::Value;
/// use dunnage_schema::{Model, Options};
///
/// let schema = r#"{"type": "string", "format": "ipv4"}"#;
/// let message = Value::from("not an address");
/// assert!(Model::compile(schema)?.validate(&message).is_ok()); // an annotation
/// let options = Options { assert_formats: true, ..Options::default() };
/// assert!(Model::compile_with(schema, options)?.validate(&message).is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Options {
    /// Whether a known `format` restricts the valid text. Otherwise it is an annotation.
    pub assert_formats: bool,
    /// The most that the schema may weigh ([spec/schema.md](https://github.com/dunnage/dunnage/blob/main/spec/schema.md), "Limits"): [`MAX_WEIGHT`], or less for schemas that are not trusted.
    pub max_weight: usize,
}

impl Default for Options {
    fn default() -> Options {
        Options { assert_formats: false, max_weight: MAX_WEIGHT }
    }
}

impl Model {
    /// Compiles a schema: JSON Schema from draft-04 to 2020-12, as [spec/schema.md](https://github.com/dunnage/dunnage/blob/main/spec/schema.md) defines it.
    ///
    /// A keyword that is not supported and affects validity is an error, and so is one that resembles a known keyword. Other unknown keywords are
    /// annotations.
    ///
    /// # Errors
    /// The text is not JSON, a keyword is not supported or has a wrong value, or the schema exceeds a limit. The error has the keyword and its JSON
    /// pointer.
    ///
    /// ```
    /// # use dunnage_schema::Model;
    /// let error = Model::compile(r#"{"type": "object", "properties": {"t": {"type": "number", "minimun": 0}}}"#).unwrap_err();
    /// assert_eq!((error.keyword(), error.pointer()), ("minimun", "/properties/t/minimun"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn compile(text: &str) -> Result<Model, SchemaError> {
        Model::compile_with(text, Options::default())
    }

    /// Compiles a schema with `options`.
    ///
    /// # Errors
    /// As those of [`Model::compile`].
    pub fn compile_with(text: &str, options: Options) -> Result<Model, SchemaError> {
        let root = Node::parse(text)?;
        let dialect = Dialect::of(&root, "")?;
        let mut compiler = Compiler::new(&root, dialect, options);
        let kind = compiler.schema(&root, "", Place::default())?;
        let kind = kind.ok_or_else(|| SchemaError::new("", "", "the schema allows nothing"))?;
        compiler.close_root(&kind);
        let name = identifier(root.text("title").unwrap_or_default());
        let definitions = compiler.finished_definitions()?;
        compiler.budget.check("")?;
        compiler.budget.check_result(definitions.iter().chain([&kind]))?;
        let (slot, check) = (known::slot(&root)?, known::check(&root)?);
        let (statistics, slot_from_port) = (known::statistics(&root)?, known::slot_from_port(&root)?);
        Ok(Model { name, root: kind, definitions, slot, slot_from_port, check, statistics })
    }
}

/// The state of the compilation of one schema text.
struct Compiler<'a> {
    dialect: Dialect,
    assert_formats: bool,
    identifiers: Identifiers<'a>,
    /// The references that are being followed. A reference to one of them is recursive.
    trail: Vec<Followed>,
    /// The types of the references that were followed, by pointer.
    done: HashMap<String, (Option<Type>, Measure)>,
    /// The recursive schemas, `None` until they are complete, and the pointers of the schemas with the recursive reference.
    definitions: Vec<Option<Type>>,
    definition_places: Vec<String>,
    patterns: HashMap<String, Pattern>,
    budget: Budget,
    /// The names of the `x-dunnage-known` keywords so far.
    known_seen: Vec<String>,
}

impl<'a> Compiler<'a> {
    fn new(root: &'a Node, dialect: Dialect, options: Options) -> Self {
        Compiler {
            dialect,
            assert_formats: options.assert_formats,
            identifiers: Identifiers::of(root, dialect),
            trail: vec![Followed::new(String::new())],
            done: HashMap::new(),
            definitions: Vec::new(),
            definition_places: Vec::new(),
            patterns: HashMap::new(),
            budget: Budget::new(options.max_weight),
            known_seen: Vec::new(),
        }
    }

    /// Compiles a schema; returns `None` if it allows nothing.
    fn schema(&mut self, node: &'a Node, at: &str, place: Place) -> Result<Option<Type>, SchemaError> {
        self.budget.take_schema(node);
        self.budget.check(at)?;
        place.check(&Measure::default(), at)?;
        match node {
            Node::Bool(true) => Ok(Some(Type::Any)),
            Node::Bool(false) => Ok(None),
            Node::Object(entries) => {
                let (dialect, assert_formats) = (self.dialect, self.assert_formats);
                let schema = Schema { node, at: at.to_owned(), place, dialect, assert_formats };
                let mut kind = self.object_schema(entries, &schema)?;
                if let (Some(kind), Some(title)) = (&mut kind, node.text("title")) {
                    kind.set_title(title);
                }
                Ok(kind)
            }
            _ => Err(SchemaError::new(at, "", "a schema must be an object or a boolean")),
        }
    }

    /// Compiles the schema under `keyword`, if there is one.
    fn below(
        &mut self,
        schema: &Schema<'a>,
        keyword: &str,
        place: Place,
    ) -> Result<Option<Inner>, SchemaError> {
        let Some(node) = schema.get(keyword) else { return Ok(None) };
        self.schema(node, &schema.below(keyword), place).map(Some)
    }

    /// Compiles the schemas of the array under `keyword`.
    fn list(&mut self, schema: &Schema<'a>, keyword: &str, place: Place) -> Result<Vec<Inner>, SchemaError> {
        let nodes = match schema.get(keyword) {
            None => return Ok(Vec::new()),
            Some(Node::Array(nodes)) if !nodes.is_empty() => nodes,
            Some(_) => {
                return Err(
                    schema.error(keyword, format!("{keyword} must be an array of schemas, and not empty"))
                );
            }
        };
        let at = schema.below(keyword);
        let one = |(i, node): (usize, &'a Node)| self.schema(node, &join(&at, &i.to_string()), place);
        nodes.iter().enumerate().map(one).collect()
    }

    /// Compiles each entry of the object under `keyword`; returns names and types.
    fn named(
        &mut self,
        schema: &Schema<'a>,
        keyword: &str,
        place: Place,
    ) -> Result<Vec<(&'a str, Inner)>, SchemaError> {
        let at = schema.below(keyword);
        let one = |(name, node): &'a (String, Node)| {
            Ok((name.as_str(), self.schema(node, &join(&at, name), place)?))
        };
        schema.entries(keyword)?.iter().map(one).collect()
    }
}

/// The type of a subschema; `None` if it allows nothing.
type Inner = Option<Type>;

/// The position of a schema, for the limits.
#[derive(Debug, Clone, Copy, Default)]
struct Place {
    /// The number of schemas around it.
    depth: usize,
    /// The number of arrays and objects of the message around it.
    nesting: usize,
    /// Whether some messages may lack the value or have it more than once.
    varies: bool,
}

impl Place {
    /// Returns the place of another schema for the same value.
    fn beside(self) -> Place {
        Place { depth: self.depth + 1, ..self }
    }

    /// Returns the place of a schema for the same value that applies to some messages only.
    fn choice(self) -> Place {
        Place { varies: true, ..self.beside() }
    }

    /// Returns the place of a value inside an array or an object that each message has once.
    fn inside(self) -> Place {
        Place { nesting: self.nesting + 1, ..self.beside() }
    }

    /// Returns the place of any other value inside an array or an object.
    fn varying(self) -> Place {
        Place { varies: true, ..self.inside() }
    }

    /// Rejects a type of this measure at this place if it is nested too deeply. `at` is the schema's pointer.
    fn check(self, measure: &Measure, at: &str) -> Result<(), SchemaError> {
        let message = if self.nesting + measure.nesting > MAX_NESTING {
            format!("arrays and objects are nested more than {MAX_NESTING} deep")
        } else if self.depth + measure.depth > MAX_DEPTH {
            format!("schemas are nested more than {MAX_DEPTH} deep")
        } else {
            return Ok(());
        };
        Err(SchemaError::new(at, "", message))
    }
}

/// A schema that is an object, with its position.
struct Schema<'a> {
    node: &'a Node,
    at: String,
    place: Place,
    dialect: Dialect,
    assert_formats: bool,
}

impl<'a> Schema<'a> {
    fn get(&self, keyword: &str) -> Option<&'a Node> {
        self.node.get(keyword)
    }

    fn has(&self, keyword: &str) -> bool {
        self.get(keyword).is_some()
    }

    /// Returns the entries of the object under `keyword`; empty without the keyword.
    fn entries(&self, keyword: &str) -> Result<&'a [(String, Node)], SchemaError> {
        match self.get(keyword) {
            None => Ok(&[]),
            Some(Node::Object(entries)) => Ok(entries),
            Some(_) => Err(self.error(keyword, format!("{keyword} must be an object"))),
        }
    }

    /// Rejects members that are not among `members`.
    fn check_members(&self, members: &[&str]) -> Result<(), SchemaError> {
        let Node::Object(entries) = self.node else {
            return Err(self.error("", "must be an object"));
        };
        match entries.iter().find(|(name, _)| !members.contains(&name.as_str())) {
            None => Ok(()),
            Some((name, _)) => {
                Err(self.error(name, format!("there is no {name:?} here, only {}", members.join(", "))))
            }
        }
    }

    /// Returns an error at one of this schema's keywords.
    fn error(&self, keyword: &str, message: impl Into<String>) -> SchemaError {
        SchemaError::new(&self.at, keyword, message)
    }

    /// Returns a count, such as `maxLength`.
    fn count(&self, keyword: &str) -> Result<Option<u32>, SchemaError> {
        let Some(node) = self.get(keyword) else { return Ok(None) };
        let n = bound::exact(node).and_then(|n| n.scaled(0)).and_then(|n| u32::try_from(n).ok());
        n.map(Some)
            .ok_or_else(|| self.error(keyword, format!("{keyword} must be a whole number from 0 to 2^32-1")))
    }

    /// Returns the pointer of the value under `keyword`.
    fn below(&self, keyword: &str) -> String {
        join(&self.at, keyword)
    }
}

/// Turns `Smart meter` into `SmartMeter`: ASCII letters and digits, with a capital at the start of each word.
pub(crate) fn identifier(title: &str) -> String {
    let mut name = String::new();
    for word in title.split(|c: char| !c.is_ascii_alphanumeric()) {
        let mut letters = word.chars();
        name.extend(letters.next().map(|c| c.to_ascii_uppercase()));
        name.extend(letters);
    }
    let name = name.trim_start_matches(|c: char| c.is_ascii_digit());
    if name.is_empty() { UNTITLED.to_owned() } else { name.to_owned() }
}
