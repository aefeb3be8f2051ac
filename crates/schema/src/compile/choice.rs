//! Choices: `type` arrays and `anyOf`/`oneOf` with null, `enum` and `const`.

use super::{Compiler, Schema};
use crate::{SchemaError, Type, parse::Node, validate};
use dunnage_pson::Value;

/// The name of the one type that is not null, and whether null is allowed beside it.
pub(super) fn type_names<'a>(schema: &Schema<'a>) -> Result<(Option<&'a str>, bool), SchemaError> {
    let names = match schema.get("type") {
        None => return Ok((None, false)),
        Some(Node::Text(name)) => return Ok((Some(name), false)),
        Some(Node::Array(names)) => names,
        Some(_) => return Err(schema.error("type", "type must be a name or an array of names")),
    };
    let mut others = Vec::new();
    let mut null = false;
    for (i, name) in names.iter().enumerate() {
        match name {
            Node::Text(name) if name == "null" && !null => null = true,
            Node::Text(name) if name != "null" && !others.contains(&name.as_str()) => others.push(name),
            _ => return Err(schema.error("type", "type must be an array of different names").below(i)),
        }
    }
    match others.as_slice() {
        [] if null => Ok((Some("null"), false)),
        [] => Err(schema.error("type", "type is empty and allows nothing")),
        [name] => Ok((Some(name), null)),
        _ => Err(schema.error("type", "of several types, all but one must be null")),
    }
}

impl<'a> Compiler<'a> {
    /// `anyOf` or `oneOf`, of null and something else.
    pub(super) fn choice(&mut self, schema: &Schema<'a>, keyword: &str) -> Result<Type, SchemaError> {
        let branches = match schema.get(keyword) {
            Some(Node::Array(branches)) if branches.len() == 2 => branches,
            _ => {
                return Err(
                    schema.error(keyword, format!("{keyword} is supported for null and one other schema"))
                );
            }
        };
        let mut kinds = Vec::with_capacity(2);
        for (i, branch) in branches.iter().enumerate() {
            let at = format!("{}/{i}", schema.below(keyword));
            kinds.push(self.schema(branch, &at, schema.place.choice())?);
        }
        let Some(null) = kinds.iter().position(|kind| *kind == Type::Null) else {
            return Err(
                schema.error(keyword, format!("{keyword} is supported for null and one other schema"))
            );
        };
        let other = kinds.swap_remove(1 - null);
        if keyword == "oneOf" && validate::accepts(&other, &Value::Null) {
            return Err(
                schema.error(keyword, "both schemas of oneOf allow null, so that null is not allowed")
            );
        }
        Ok(nullable(other))
    }
}

/// `kind`, restricted by `enum` and `const`, with null when `null` is set.
pub(super) fn restrict(schema: &Schema<'_>, kind: Type, null: bool) -> Result<Type, SchemaError> {
    let kind = if null { nullable(kind) } else { kind };
    match (schema.get("const"), schema.get("enum")) {
        (None, None) => Ok(kind),
        (Some(node), None) => {
            let value = allowed(schema, "const", node, &kind)?;
            Ok(if value == Value::Null { Type::Null } else { Type::Const(value) })
        }
        (None, Some(Node::Array(nodes))) => enumeration(schema, nodes, &kind),
        (None, Some(_)) => Err(schema.error("enum", "enum must be an array")),
        (Some(_), Some(_)) => Err(schema.error("enum", "enum beside const, which says it all")),
    }
}

fn enumeration(schema: &Schema<'_>, nodes: &[Node], kind: &Type) -> Result<Type, SchemaError> {
    let mut values = Vec::with_capacity(nodes.len());
    for (i, node) in nodes.iter().enumerate() {
        let value = allowed(schema, "enum", node, kind).map_err(|e| e.below(i))?;
        if values.contains(&value) {
            return Err(schema.error("enum", "the value stands twice in enum").below(i));
        }
        values.push(value);
    }
    let count = values.len();
    values.retain(|value| *value != Value::Null);
    let null = values.len() < count;
    let kind = match (values.pop(), values.is_empty()) {
        (None, _) if null => return Ok(Type::Null),
        (None, _) => return Err(schema.error("enum", "enum is empty and allows nothing")),
        (Some(only), true) => Type::Const(only),
        (Some(last), false) => {
            values.push(last);
            Type::Enum(values)
        }
    };
    Ok(if null { nullable(kind) } else { kind })
}

/// The value of a node that the schema's other keywords must allow.
fn allowed(schema: &Schema<'_>, keyword: &str, node: &Node, kind: &Type) -> Result<Value, SchemaError> {
    let value = node.to_value().ok_or_else(|| schema.error(keyword, "a number is beyond binary64"))?;
    match validate::value(kind, &value) {
        Ok(()) => Ok(value),
        Err(violation) => Err(schema
            .error(keyword, format!("the schema's other keywords do not allow this value: {violation}"))),
    }
}

fn nullable(kind: Type) -> Type {
    match kind {
        Type::Any | Type::Null | Type::Nullable(_) => kind,
        _ => Type::Nullable(Box::new(kind)),
    }
}
