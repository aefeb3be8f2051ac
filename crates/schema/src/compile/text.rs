//! Compiles `string`: plain text, or text in one of the notations for numbers and times.

use super::{Compiler, MAX_PATTERNS, Schema, keywords, notation};
use crate::{Pattern, SchemaError, Text, TextFormat, Type, parse::Node};

impl<'a> Compiler<'a> {
    pub(super) fn string(&mut self, schema: &Schema<'a>) -> Result<Type, SchemaError> {
        let mut ours = keywords::NOTATIONS.into_iter().filter(|keyword| schema.get(keyword).is_some());
        let Some(keyword) = ours.next() else { return self.text(schema).map(Type::Text) };
        let also = ["minLength", "maxLength", "pattern"].into_iter().find(|k| schema.get(k).is_some());
        if let Some(other) = ours.next().or(also) {
            return Err(
                schema.error(other, format!("{other} beside {keyword}, which fixes the notation alone"))
            );
        }
        let kind = notation::compile(schema, keyword)?;
        let of_format = |format: TextFormat| match &kind {
            Type::TimeText(time) => format == TextFormat::DateTime && format.is(&time.write(time.range().0)),
            _ => false,
        };
        if let Some(format) = asserted_format(schema).filter(|format| !of_format(*format)) {
            let message = format!("{keyword} does not make texts of the format {}", format.name());
            return Err(schema.error("format", message));
        }
        Ok(kind)
    }

    fn text(&mut self, schema: &Schema<'a>) -> Result<Text, SchemaError> {
        let pattern = match schema.get("pattern") {
            None => None,
            Some(Node::Text(source)) => Some(self.pattern(schema, "pattern", source)?),
            Some(_) => return Err(schema.error("pattern", "pattern must be a string")),
        };
        let asserted = asserted_format(schema).map(TextFormat::lengths).unwrap_or_default();
        let min_length = schema.count("minLength")?.unwrap_or(0).max(asserted.0);
        let of_pattern = pattern.as_ref().and_then(Pattern::longest);
        let longest = of_pattern.into_iter().chain(asserted.1).min();
        let max_length = schema.count("maxLength")?;
        if max_length.is_some_and(|max| min_length > max) {
            return Err(schema.error("minLength", "minLength is above maxLength"));
        }
        if longest.is_some_and(|longest| min_length > longest) {
            return Err(schema
                .error("minLength", "minLength is above the longest text that pattern and format allow"));
        }
        let max_length = match (max_length, longest) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        };
        let format = format(schema);
        let asserts_format = asserted_format(schema).is_some();
        Ok(Text { min_length, max_length, pattern, format, asserts_format })
    }

    /// Returns the regular expression under `keyword`. Each distinct expression is compiled once.
    pub(super) fn pattern(
        &mut self,
        schema: &Schema<'a>,
        keyword: &str,
        source: &str,
    ) -> Result<Pattern, SchemaError> {
        if let Some(pattern) = self.patterns.get(source) {
            return Ok(pattern.clone());
        }
        if self.patterns.len() == MAX_PATTERNS {
            return Err(schema.error(keyword, format!("more than {MAX_PATTERNS} different patterns")));
        }
        let (pattern, bytes) = Pattern::measured(source).map_err(|reason| {
            schema.error(keyword, format!("the pattern {source:?} does not compile: {reason}"))
        })?;
        self.budget.take_pattern(bytes);
        self.patterns.insert(source.to_owned(), pattern.clone());
        Ok(pattern)
    }
}

/// Returns the format of the schema's text, if it is a known one.
pub(super) fn format(schema: &Schema<'_>) -> Option<TextFormat> {
    TextFormat::named(schema.node.text("format")?)
}

/// Returns the format that the schema's text must have, if the options assert formats.
pub(super) fn asserted_format(schema: &Schema<'_>) -> Option<TextFormat> {
    format(schema).filter(|_| schema.assert_formats)
}
