//! Compiles `type` with the keywords of each type, `enum` and `const`.

use super::{
    Compiler, Inner, Schema, keywords, number, text,
    union::{checked, refers, union},
};
use crate::{
    Annotation, Array, Assertion, Float, Object, SchemaError, Text, TextFormat, Type, distinct::Distinct,
    parse::Node, same, validate,
};
use dunnage_pson::Value;

/// All types. `number` includes `integer`.
const NAMES: [&str; 6] = ["object", "array", "string", "number", "boolean", "null"];

/// Keywords of one type that become assertions and do not shape the type.
const ASSERTING: [&str; 13] = [
    "uniqueItems",
    "contains",
    "minContains",
    "maxContains",
    "unevaluatedItems",
    "unevaluatedProperties",
    "propertyNames",
    "minProperties",
    "maxProperties",
    "dependencies",
    "dependentRequired",
    "dependentSchemas",
    "additionalItems",
];

impl<'a> Compiler<'a> {
    /// Compiles the keywords that belong to one type, restricted by `enum` and `const`.
    pub(super) fn typed(
        &mut self,
        entries: &'a [(String, Node)],
        schema: &Schema<'a>,
    ) -> Result<Inner, SchemaError> {
        let names = type_names(schema)?;
        // `date-time` shapes text even as an annotation, because such text is carried as a time.
        let is_about_text =
            text::format(schema) == Some(TextFormat::DateTime) || text::asserted_format(schema).is_some();
        let shaping: Vec<&str> = entries
            .iter()
            .filter(|(keyword, _)| !ASSERTING.contains(&keyword.as_str()))
            .filter_map(|(keyword, _)| keywords::home(keyword))
            .chain(is_about_text.then_some("string"))
            .collect();
        check_homes(entries, schema, names.as_deref())?;
        let kind = match names {
            None if shaping.is_empty() => Some(Type::Any),
            None => {
                // The types that the keywords shape come first, because most messages have them.
                let mut names = NAMES;
                names.sort_by_key(|name| !shaping.contains(name));
                self.one_of_types(schema, &names)?
            }
            Some(names) => self.one_of_types(schema, &names)?,
        };
        restrict(schema, kind)
    }

    fn one_of_types(&mut self, schema: &Schema<'a>, names: &[&str]) -> Result<Inner, SchemaError> {
        let mut kinds = Vec::with_capacity(names.len());
        for name in names {
            let kind = match *name {
                "null" => Some(Type::Null),
                "boolean" => Some(Type::Bool),
                "integer" if names.contains(&"number") => None,
                "integer" => Some(number::integer(schema)?),
                "number" => Some(number::number(schema)?),
                "string" => Some(self.string(schema)?),
                "array" => self.array(schema)?,
                "object" => self.object(schema)?,
                other => return Err(schema.error("type", format!("there is no type {other:?}"))),
            };
            kinds.extend(kind);
        }
        Ok(union(kinds))
    }
}

/// Returns a type that allows the values of `kind` and all values that are not of the JSON type `name`.
pub(super) fn or_other(kind: Type, name: &str) -> Type {
    let all = [
        (
            "object",
            Type::Object(Object {
                title: Annotation::default(),
                fields: Vec::new(),
                additional: Some(Box::new(Type::Any)),
            }),
        ),
        ("array", Type::Array(Array { items: Box::new(Type::Any), min: 0, max: None, series: false })),
        ("string", Type::Text(Text::default())),
        ("number", Type::Float(Float { min: None, max: None })),
        ("boolean", Type::Bool),
        ("null", Type::Null),
    ];
    let others = all.into_iter().filter(|(other, _)| *other != name).map(|(_, other)| other);
    union(std::iter::once(kind).chain(others)).unwrap_or(Type::Any)
}

/// The types of JSON Schema.
const TYPES: [&str; 7] = ["object", "array", "string", "number", "integer", "boolean", "null"];

/// Returns the names under `type`; `None` without the keyword.
fn type_names<'a>(schema: &Schema<'a>) -> Result<Option<Vec<&'a str>>, SchemaError> {
    let names = match schema.get("type") {
        None => return Ok(None),
        Some(Node::Text(name)) => return Ok(Some(vec![name])),
        Some(Node::Array(names)) => names,
        Some(_) => return Err(schema.error("type", "type must be a name or an array of names")),
    };
    let mut out: Vec<&str> = Vec::with_capacity(names.len());
    for (i, name) in names.iter().enumerate() {
        match name {
            Node::Text(name) if !out.contains(&name.as_str()) => out.push(name),
            _ => return Err(schema.error("type", "type must be an array of different names").below(i)),
        }
    }
    if out.is_empty() { Err(schema.error("type", "type is empty and allows nothing")) } else { Ok(Some(out)) }
}

/// Rejects this project's own keywords beside a type that they do not apply to.
fn check_homes(
    entries: &[(String, Node)],
    schema: &Schema<'_>,
    names: Option<&[&str]>,
) -> Result<(), SchemaError> {
    // A misspelt type is reported as such.
    if !names.unwrap_or_default().iter().all(|name| TYPES.contains(name)) {
        return Ok(());
    }
    for (keyword, _) in entries {
        let Some(home) = keywords::home(keyword) else { continue };
        let is_home = |name: &&str| *name == home || *name == "integer" && home == "number";
        let ours = keywords::is_ours(keyword);
        let message = match names {
            // A notation carries text only, whatever else `type` allows.
            Some(names) if ours && home == "string" && !names.contains(&"string") => {
                format!("{keyword} belongs to the type {home} and says nothing about {}", names.join(", "))
            }
            None if ours => format!("{keyword} without \"type\": \"{home}\" would allow every other type"),
            Some(names) if ours && !names.iter().any(is_home) => {
                format!("{keyword} belongs to the type {home} and says nothing about {}", names.join(", "))
            }
            _ => continue,
        };
        return Err(schema.error(keyword, message));
    }
    Ok(())
}

/// Restricts `kind` by `enum` and `const`.
fn restrict(schema: &Schema<'_>, kind: Inner) -> Result<Inner, SchemaError> {
    let Some(mut kind) = kind else { return Ok(None) };
    if let Some(node) = schema.get("const") {
        match listed(schema, "const", std::slice::from_ref(node), kind)? {
            Some(only) => kind = only,
            None => return Ok(None),
        }
    }
    match schema.get("enum") {
        None => Ok(Some(kind)),
        Some(Node::Array(nodes)) if nodes.is_empty() => {
            Err(schema.error("enum", "enum is empty and allows nothing"))
        }
        Some(Node::Array(nodes)) => listed(schema, "enum", nodes, kind),
        Some(_) => Err(schema.error("enum", "enum must be an array")),
    }
}

/// Returns the distinct values of `nodes` that the schema's other keywords allow. In a strict dialect it is an error if there are none.
fn listed(schema: &Schema<'_>, keyword: &str, nodes: &[Node], kind: Type) -> Result<Inner, SchemaError> {
    let mut values: Vec<Value> = Vec::with_capacity(nodes.len());
    let fault = |i: usize, message: String| {
        let error = schema.error(keyword, message);
        if keyword == "enum" { error.below(i) } else { error }
    };
    let open = refers(&kind);
    let mut seen = Distinct::default();
    let mut refused = None;
    for (i, node) in nodes.iter().enumerate() {
        let value = node.to_value().ok_or_else(|| {
            fault(i, "neither 64 bits nor a binary64 keep the digits of a number".to_owned())
        })?;
        let verdict = if open { Ok(()) } else { validate::value(&kind, &value) };
        if let Err(violation) = verdict {
            refused.get_or_insert((i, violation));
            continue;
        }
        let is_same = |at: usize| values.get(at).is_some_and(|other| same(other, &value));
        if seen.enter(values.len(), &value, is_same).is_none() {
            values.push(value);
        }
    }
    if let (true, true, Some((i, violation))) = (values.is_empty(), schema.dialect.is_strict(), refused) {
        let these = if nodes.len() == 1 { "this value" } else { "any of these values" };
        return Err(fault(i, format!("the schema's other keywords do not allow {these}: {violation}")));
    }
    let one = |value| if value == Value::Null { Type::Null } else { Type::Const(value) };
    let listed = union(values.into_iter().map(one));
    Ok(if open { listed.map(|listed| checked(listed, vec![Assertion::AllOf(vec![kind])])) } else { listed })
}
