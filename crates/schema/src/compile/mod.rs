//! A schema's text to a [`Model`].

mod choice;
mod keywords;
mod known;
mod notation;
mod number;
mod reference;
mod sensor;
mod structure;
mod text;

use crate::{Model, Pattern, SchemaError, Type, error::join, parse::Node};
use std::collections::HashMap;

/// The dialect, and the only one.
const DIALECT: &str = "https://json-schema.org/draft/2020-12/schema";
/// Deepest nesting of arrays and objects in a message.
const MAX_NESTING: usize = 32;
/// Deepest nesting of schemas: what a message may need, with references and choices between.
const MAX_DEPTH: usize = 128;
/// Most schemas after references were replaced by what they refer to.
const MAX_SCHEMAS: usize = 10_000;
/// Most different regular expressions; each may take 1 MiB.
const MAX_PATTERNS: usize = 256;
/// The name of a model whose schema has no usable title.
const UNTITLED: &str = "Message";

impl Model {
    /// Compiles a schema: JSON Schema 2020-12, the subset of `spec/schema.md`.
    ///
    /// Whatever is not supported and would change the meaning is an error, never ignored.
    pub fn compile(text: &str) -> Result<Model, SchemaError> {
        let root = Node::parse(text)?;
        check_dialect(&root)?;
        let mut compiler =
            Compiler { root: &root, trail: Vec::new(), schemas: 0, patterns: HashMap::new(), known: false };
        let kind = compiler.schema(&root, "", Place::default())?;
        let name = identifier(root.text("title").unwrap_or_default());
        Ok(Model { name, root: kind, definitions: Vec::new(), slot: known::slot(&root)? })
    }
}

/// What is known while one schema text is compiled.
struct Compiler<'a> {
    root: &'a Node,
    /// Pointers of the references that are being followed, to find recursion.
    trail: Vec<String>,
    schemas: usize,
    patterns: HashMap<String, Pattern>,
    /// Whether a value is already the id of the device.
    known: bool,
}

/// How deep a schema stands.
#[derive(Debug, Clone, Copy, Default)]
struct Place {
    /// In schemas.
    depth: usize,
    /// In arrays and objects of the message.
    nesting: usize,
    presence: Presence,
}

/// How often messages have the value of a schema.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Presence {
    /// Once, each of them.
    #[default]
    Once,
    /// Not always, or several times.
    Varying,
    /// The schema is a definition, which is looked at once more where it is used.
    Unused,
}

impl Place {
    /// Another schema for the same value.
    fn beside(self) -> Place {
        Place { depth: self.depth + 1, ..self }
    }

    /// A schema for the same value, one of several.
    fn choice(self) -> Place {
        self.beside().varying()
    }

    /// The schema of a value inside an array or an object.
    fn inside(self) -> Place {
        Place { depth: self.depth + 1, nesting: self.nesting + 1, ..self }
    }

    /// The same, for a value that not every message has exactly once.
    fn varying(self) -> Place {
        let presence = if self.presence == Presence::Unused { Presence::Unused } else { Presence::Varying };
        Place { presence, ..self }
    }
}

/// A schema that is an object, and where it stands.
struct Schema<'a> {
    node: &'a Node,
    at: String,
    place: Place,
}

impl<'a> Schema<'a> {
    fn get(&self, keyword: &str) -> Option<&'a Node> {
        self.node.get(keyword)
    }

    /// An error of one of this schema's keywords.
    fn error(&self, keyword: &str, message: impl Into<String>) -> SchemaError {
        SchemaError::new(&self.at, keyword, message)
    }

    /// A count, such as `maxLength`.
    fn count(&self, keyword: &str) -> Result<Option<u32>, SchemaError> {
        let Some(node) = self.get(keyword) else { return Ok(None) };
        let n = number::exact(node).and_then(|n| n.scaled(0)).and_then(|n| u32::try_from(n).ok());
        n.map(Some)
            .ok_or_else(|| self.error(keyword, format!("{keyword} must be a whole number from 0 to 2^32-1")))
    }

    /// The pointer of a schema under `keyword`.
    fn below(&self, keyword: &str) -> String {
        join(&self.at, keyword)
    }
}

impl<'a> Compiler<'a> {
    fn schema(&mut self, node: &'a Node, at: &str, place: Place) -> Result<Type, SchemaError> {
        self.schemas += 1;
        if self.schemas > MAX_SCHEMAS {
            let message = format!("more than {MAX_SCHEMAS} schemas, references followed");
            return Err(SchemaError::new(at, "", message));
        }
        if place.depth > MAX_DEPTH {
            return Err(SchemaError::new(at, "", format!("schemas are nested more than {MAX_DEPTH} deep")));
        }
        match node {
            Node::Bool(true) => Ok(Type::Any),
            Node::Bool(false) => Err(SchemaError::new(at, "", "the schema false allows nothing")),
            Node::Object(entries) => {
                keywords::check(entries, at)?;
                self.object_schema(entries, &Schema { node, at: at.to_owned(), place })
            }
            _ => Err(SchemaError::new(at, "", "a schema must be an object or a boolean")),
        }
    }

    fn object_schema(
        &mut self,
        entries: &'a [(String, Node)],
        schema: &Schema<'a>,
    ) -> Result<Type, SchemaError> {
        if place_is_not_root(schema) && schema.get("$schema").or(schema.get("$id")).is_some() {
            let keyword = if schema.get("$schema").is_some() { "$schema" } else { "$id" };
            return Err(
                schema.error(keyword, format!("{keyword} is supported at the top of the schema only"))
            );
        }
        self.check_definitions(schema)?;
        for alone in ["$ref", "anyOf", "oneOf"] {
            if schema.get(alone).is_none() {
                continue;
            }
            let beside = entries.iter().find(|(k, _)| k != alone && keywords::is_constraint(k));
            if let Some((keyword, _)) = beside {
                return Err(schema.error(keyword, format!("{keyword} beside {alone} is not supported")));
            }
            return if alone == "$ref" { self.reference(schema) } else { self.choice(schema, alone) };
        }
        let (base, nullable) = self.typed(entries, schema)?;
        let kind = choice::restrict(schema, base, nullable)?;
        self.known(schema, kind)
    }

    /// The type without `enum` and `const`, and whether null is allowed as well.
    fn typed(
        &mut self,
        entries: &'a [(String, Node)],
        schema: &Schema<'a>,
    ) -> Result<(Type, bool), SchemaError> {
        let (name, nullable) = choice::type_names(schema)?;
        let home = if name == Some("integer") { Some("number") } else { name };
        if let Some((keyword, _)) =
            entries.iter().find(|(k, _)| keywords::home(k).is_some_and(|of| Some(of) != home))
        {
            let of = keywords::home(keyword).unwrap_or_default();
            let message = match name {
                Some(name) => format!("{keyword} belongs to the type {of} and says nothing about {name}"),
                None => format!("{keyword} without \"type\": \"{of}\" would allow every other type"),
            };
            return Err(schema.error(keyword, message));
        }
        let kind = match name {
            None => Type::Any,
            Some("null") => Type::Null,
            Some("boolean") => Type::Bool,
            Some("integer") => number::integer(schema)?,
            Some("number") => number::number(schema)?,
            Some("string") => self.string(schema)?,
            Some("array") => self.array(schema)?,
            Some("object") => self.object(schema)?,
            Some(other) => return Err(schema.error("type", format!("there is no type {other:?}"))),
        };
        Ok((kind, nullable))
    }

    /// Compiles definitions that may never be used, so that their mistakes show.
    fn check_definitions(&mut self, schema: &Schema<'a>) -> Result<(), SchemaError> {
        match schema.get("$defs") {
            None => Ok(()),
            Some(Node::Object(definitions)) => {
                let at = schema.below("$defs");
                for (name, node) in definitions {
                    self.schema(
                        node,
                        &join(&at, name),
                        Place { depth: schema.place.depth + 1, nesting: 0, presence: Presence::Unused },
                    )?;
                }
                Ok(())
            }
            Some(_) => Err(schema.error("$defs", "$defs must be an object")),
        }
    }
}

fn place_is_not_root(schema: &Schema<'_>) -> bool {
    !schema.at.is_empty()
}

fn check_dialect(root: &Node) -> Result<(), SchemaError> {
    match root.get("$schema") {
        None => Ok(()),
        Some(Node::Text(dialect)) if dialect.trim_end_matches('#') == DIALECT => Ok(()),
        Some(_) => Err(SchemaError::new("", "$schema", format!("the dialect must be {DIALECT}"))),
    }
}

/// `Smart meter` to `SmartMeter`: letters and digits of ASCII, a capital at each word's start.
fn identifier(title: &str) -> String {
    let mut name = String::new();
    for word in title.split(|c: char| !c.is_ascii_alphanumeric()) {
        let mut letters = word.chars();
        name.extend(letters.next().map(|c| c.to_ascii_uppercase()));
        name.extend(letters);
    }
    let name = name.trim_start_matches(|c: char| c.is_ascii_digit());
    if name.is_empty() { UNTITLED.to_owned() } else { name.to_owned() }
}
