//! `array` and `object`.

use super::{Compiler, MAX_NESTING, Schema};
use crate::{Array, Field, Object, SchemaError, Type, error::join, parse::Node};

impl<'a> Compiler<'a> {
    pub(super) fn array(&mut self, schema: &Schema<'a>) -> Result<Type, SchemaError> {
        check_nesting(schema)?;
        let items = match schema.get("items") {
            None => Type::Any,
            Some(node) => self.schema(node, &schema.below("items"), schema.place.inside().varying())?,
        };
        let (min, max) = (schema.count("minItems")?.unwrap_or(0), schema.count("maxItems")?);
        if max.is_some_and(|max| min > max) {
            return Err(schema.error("minItems", "minItems is above maxItems"));
        }
        Ok(Type::Array(Array { items: Box::new(items), min, max }))
    }

    pub(super) fn object(&mut self, schema: &Schema<'a>) -> Result<Type, SchemaError> {
        check_nesting(schema)?;
        let properties = match schema.get("properties") {
            None => &[],
            Some(Node::Object(entries)) => entries.as_slice(),
            Some(_) => return Err(schema.error("properties", "properties must be an object")),
        };
        let required = required(schema, properties)?;
        let at = schema.below("properties");
        let mut fields = Vec::with_capacity(properties.len());
        for (name, node) in properties {
            let required = required.contains(&name.as_str());
            let place = schema.place.inside();
            let kind = self.schema(node, &join(&at, name), if required { place } else { place.varying() })?;
            fields.push(Field { name: name.clone(), required, kind, description: self.description(node) });
        }
        let additional = match schema.get("additionalProperties") {
            Some(Node::Bool(false)) => None,
            None => Some(Box::new(Type::Any)),
            Some(node) => {
                let at = schema.below("additionalProperties");
                Some(Box::new(self.schema(node, &at, schema.place.inside().varying())?))
            }
        };
        Ok(Type::Object(Object { fields, additional }))
    }

    /// The property's own description, else that of the definition it refers to.
    fn description(&self, node: &'a Node) -> Option<String> {
        let own = node.text("description");
        let referred = || self.resolve(node.text("$ref")?).ok()?.1.text("description");
        own.or_else(referred).map(str::to_owned)
    }
}

fn check_nesting(schema: &Schema<'_>) -> Result<(), SchemaError> {
    if schema.place.nesting < MAX_NESTING {
        return Ok(());
    }
    let message = format!("arrays and objects are nested more than {MAX_NESTING} deep");
    Err(schema.error("type", message))
}

fn required<'a>(schema: &Schema<'a>, properties: &[(String, Node)]) -> Result<Vec<&'a str>, SchemaError> {
    let names = match schema.get("required") {
        None => return Ok(Vec::new()),
        Some(Node::Array(names)) => names,
        Some(_) => return Err(schema.error("required", "required must be an array of names")),
    };
    let mut out = Vec::with_capacity(names.len());
    for (i, name) in names.iter().enumerate() {
        let Node::Text(name) = name else {
            return Err(schema.error("required", "required must be an array of names").below(i));
        };
        if !properties.iter().any(|(property, _)| property == name) {
            return Err(schema
                .error("required", format!("{name:?} is required but not among properties"))
                .below(i));
        }
        if out.contains(&name.as_str()) {
            return Err(schema.error("required", format!("{name:?} stands twice in required")).below(i));
        }
        out.push(name.as_str());
    }
    Ok(out)
}
