//! `string`: plain text, or one of the notations for numbers.

use super::{Compiler, MAX_PATTERNS, Schema, keywords, notation};
use crate::{Pattern, SchemaError, Text, Type, parse::Node, validate};

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
        let is_time =
            matches!(&kind, Type::TimeText(time) if validate::is_date_time(&time.write(time.range().0)));
        if is_date_time(schema) && !is_time {
            return Err(
                schema.error("format", format!("{keyword} does not make texts of the format date-time"))
            );
        }
        Ok(kind)
    }

    fn text(&mut self, schema: &Schema<'a>) -> Result<Text, SchemaError> {
        let pattern = match schema.get("pattern") {
            None => None,
            Some(Node::Text(source)) => Some(self.pattern(schema, "pattern", source)?),
            Some(_) => return Err(schema.error("pattern", "pattern must be a string")),
        };
        let min_length = schema.count("minLength")?.unwrap_or(0);
        let longest = pattern.as_ref().and_then(Pattern::longest);
        let max_length = schema.count("maxLength")?;
        if max_length.is_some_and(|max| min_length > max) {
            return Err(schema.error("minLength", "minLength is above maxLength"));
        }
        if longest.is_some_and(|longest| min_length > longest) {
            return Err(
                schema.error("minLength", "minLength is above the longest text that the pattern allows")
            );
        }
        let max_length = match (max_length, longest) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        };
        Ok(Text { min_length, max_length, pattern, date_time: is_date_time(schema) })
    }

    /// The expression of `keyword`, compiled once.
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
        let pattern = Pattern::new(source).map_err(|reason| {
            schema.error(keyword, format!("the pattern {source:?} does not compile: {reason}"))
        })?;
        self.patterns.insert(source.to_owned(), pattern.clone());
        Ok(pattern)
    }
}

/// Whether text is to be a time, a keyword that becomes part of the type.
pub(super) fn is_date_time(schema: &Schema<'_>) -> bool {
    schema.node.text("format") == Some("date-time")
}
