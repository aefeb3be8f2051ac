//! Compiles `array`.

use super::{Compiler, Inner, Schema, dialect::Dialect, intersect::tuple_of};
use crate::{SchemaError, Type, measure::Measure, parse::Node};

const SERIES: &str = "x-dunnage-series";

impl<'a> Compiler<'a> {
    /// Compiles an array, or a tuple if the first elements have schemas of their own.
    pub(super) fn array(&mut self, schema: &Schema<'a>) -> Result<Inner, SchemaError> {
        let place = schema.place.varying();
        place.check(&Measure::default(), &schema.at)?;
        let (min, mut max) = (schema.count("minItems")?.unwrap_or(0), schema.count("maxItems")?);
        if max.is_some_and(|max| min > max) {
            return Err(schema.error("minItems", "minItems is above maxItems"));
        }
        let is_list = matches!(schema.get("items"), Some(Node::Array(_)));
        let (first, rest) = match (is_list, schema.has("prefixItems")) {
            (true, false) if self.dialect < Dialect::Draft202012 => ("items", "additionalItems"),
            (true, _) => {
                return Err(schema.error("items", "items must be a schema; a list of them is prefixItems"));
            }
            (false, _) => ("prefixItems", "items"),
        };
        let first = match schema.get(first) {
            // Before 2020-12, the list may be empty.
            Some(Node::Array(nodes)) if nodes.is_empty() => Vec::new(),
            _ => self.list(schema, first, place)?,
        };
        let rest = self.below(schema, rest, place)?.unwrap_or(Some(Type::Any));
        let mut items = Vec::with_capacity(first.len());
        for kind in first {
            match kind {
                Some(kind) => items.push(kind),
                None => {
                    let count = u32::try_from(items.len()).unwrap_or(u32::MAX);
                    max = Some(max.map_or(count, |max| max.min(count)));
                    break;
                }
            }
        }
        self.series(schema, tuple_of(items, rest, min, max))
    }

    /// Marks an array as a series if the schema says so.
    fn series(&self, schema: &Schema<'a>, mut kind: Inner) -> Result<Inner, SchemaError> {
        match (schema.get(SERIES), &mut kind) {
            (None | Some(Node::Bool(false)), _) => {}
            (Some(Node::Bool(true)), Some(Type::Tuple(_))) => {
                let message = format!("{SERIES} needs elements of one type: leave out prefixItems");
                return Err(schema.error(SERIES, message));
            }
            (Some(Node::Bool(true)), Some(Type::Array(array))) => array.series = true,
            (Some(Node::Bool(true)), _) => {}
            (Some(_), _) => return Err(schema.error(SERIES, format!("{SERIES} must be true or false"))),
        }
        Ok(kind)
    }
}
