//! A TOML document that knows the places of its keys, and reports all mistakes at once.
//!
//! Serde stops at the first error. [`Document::read`] removes the key that caused it and tries again, until the rest is valid.

use crate::kind;
use serde::de::DeserializeOwned;
use std::{borrow::Cow, collections::HashMap, ops::Range};
use toml::{
    Spanned,
    de::{DeArray, DeTable, DeValue, Deserializer},
};

/// A mistake in a document.
#[derive(Debug, PartialEq, Eq)]
pub struct Wrong {
    /// Its offset, in bytes.
    pub at: Option<usize>,
    /// The key: `http.listen`, `profile[2].schema`; empty for text that is not TOML.
    pub key: String,
    /// The cause.
    pub message: String,
}

/// A TOML document.
pub struct Document<'t> {
    text: &'t str,
    /// The document without the keys that were wrong.
    table: Spanned<DeTable<'t>>,
    numbers: Numbers,
}

/// The number, from 1, of each table within its array, by its offset. Removing a table must not renumber the others.
type Numbers = HashMap<usize, usize>;

impl<'t> Document<'t> {
    /// Deserializes `text`. Returns all mistakes; the keys that have them are left out of the document and of the value. If a mistake
    /// belongs to no key, the value is the default.
    pub fn read<T: DeserializeOwned + Default>(text: &'t str) -> (Document<'t>, T, Vec<Wrong>) {
        let (table, errors) = DeTable::parse_recoverable(text);
        let mut document = Document { text, numbers: numbers(table.get_ref()), table };
        let at = |error: &toml::de::Error| error.span().map(|span| span.start);
        let mut wrong: Vec<_> = errors
            .iter()
            .map(|error| Wrong { at: at(error), key: String::new(), message: error.message().into() })
            .collect();
        let lines: Vec<_> = wrong.iter().filter_map(|wrong| Some(document.place(wrong.at?).0)).collect();
        loop {
            let error = match T::deserialize(Deserializer::from(document.table.clone())) {
                Ok(read) => return (document, read, wrong),
                Err(error) => error,
            };
            let missing =
                error.message().strip_prefix("missing field `").and_then(|rest| rest.strip_suffix('`'));
            let values = missing.and_then(|key| document.values::<T>(&error.span()?, key));
            let key =
                error.span().and_then(|span| remove(document.table.get_mut(), &document.numbers, &span, ""));
            let gone = key.is_some();
            // Do not report errors that follow from a line that is not TOML.
            let follows = at(&error).is_some_and(|at| lines.contains(&document.place(at).0));
            let key = key.unwrap_or_default();
            // The table now lacks a kind or key that was removed because it was wrong. Do not report that as well.
            let within = format!("{key}.");
            let lacks =
                wrong.iter().filter_map(|earlier| earlier.key.strip_prefix(&within)).any(|left_out| {
                    error.message().ends_with(kind::NONE)
                        || missing.is_some_and(|missing| missing == left_out)
                });
            if !follows && !lacks {
                let message = explain(error.message()) + &values.unwrap_or_default();
                wrong.push(Wrong { at: at(&error), key, message });
            }
            if !gone {
                return (document, T::default(), wrong);
            }
        }
    }

    /// Returns which values the missing `key` of the table at `span` may have, if they are few enough to have names.
    fn values<T: DeserializeOwned>(&self, span: &Range<usize>, key: &str) -> Option<String> {
        let mut table = self.table.clone();
        if !insert(table.get_mut(), span, key) {
            return None;
        }
        // The error of a value that cannot be names those that can.
        let error = T::deserialize(Deserializer::from(table)).err()?;
        let known = error.message().strip_prefix("unknown variant ``, expected ")?;
        let known: Vec<_> = known.split('`').skip(1).step_by(2).collect();
        Some(format!("; it may be: {}", known.join(", ")))
    }

    /// Returns line and column, from 1, of the byte `at`.
    pub fn place(&self, at: usize) -> (usize, usize) {
        let before = self.text.get(..at).unwrap_or(self.text);
        let line = before.rsplit('\n').next().unwrap_or_default();
        (before.matches('\n').count() + 1, line.chars().count() + 1)
    }

    /// Returns the name of the key at the end of `path`, and the offset of the deepest part of the path that exists. Numeric steps count
    /// the tables of an array from 0; names count them from 1.
    pub fn find(&self, path: &[&str]) -> (String, Option<usize>) {
        let mut table = self.table.get_ref();
        let (mut found, mut names) = (None, Vec::new());
        let mut steps = path.iter().peekable();
        while let Some(step) = steps.next() {
            names.push((*step).to_owned());
            let Some((key, value)) = table.iter().find(|(key, _)| key.get_ref() == step) else { break };
            found = Some(key.span().start);
            let mut value = value;
            if let (DeValue::Array(items), Some(index)) = (value.get_ref(), steps.peek()) {
                let Some(item) = index.parse().ok().and_then(|index: usize| items.get(index)) else { break };
                let start = item.span().start;
                found = Some(start);
                *names.last_mut().unwrap_or(&mut String::new()) += &self.number(start);
                value = item;
                steps.next();
            }
            let DeValue::Table(next) = value.get_ref() else { break };
            table = next;
        }
        names.extend(steps.filter(|step| step.parse::<usize>().is_err()).map(|step| (*step).to_owned()));
        (names.join("."), found)
    }

    fn number(&self, start: usize) -> String {
        self.numbers.get(&start).map_or_else(String::new, |number| format!("[{number}]"))
    }
}

fn numbers(table: &DeTable<'_>) -> Numbers {
    let arrays = table.values().filter_map(|value| match value.get_ref() {
        DeValue::Array(items) => Some(items),
        _ => None,
    });
    arrays.flat_map(|items| items.iter().enumerate()).map(|(at, item)| (item.span().start, at + 1)).collect()
}

/// Inserts an empty text as `key` into the table at `span` within `table`. Returns whether there is one.
fn insert(table: &mut DeTable<'_>, span: &Range<usize>, key: &str) -> bool {
    table.iter_mut().any(|(_, value)| insert_into(value, span, key))
}

/// Does the same in a value.
fn insert_into(value: &mut Spanned<DeValue<'_>>, span: &Range<usize>, key: &str) -> bool {
    let is_it = value.span() == *span;
    match value.get_mut() {
        DeValue::Table(table) if is_it => {
            let text = Spanned::new(span.clone(), DeValue::String(Cow::Borrowed("")));
            table.insert(Spanned::new(span.clone(), Cow::Owned(key.to_owned())), text);
            true
        }
        DeValue::Table(table) => insert(table, span, key),
        DeValue::Array(items) => items.iter_mut().any(|item| insert_into(item, span, key)),
        _ => false,
    }
}

/// Removes the item at `span` from `table`: a wrong key, a key with a wrong value, or a table that lacks something. Returns its name.
fn remove(table: &mut DeTable<'_>, numbers: &Numbers, span: &Range<usize>, path: &str) -> Option<String> {
    let mut hit = None;
    for (key, value) in table.iter_mut() {
        let name =
            if path.is_empty() { key.get_ref().to_string() } else { format!("{path}.{}", key.get_ref()) };
        let within = |outer: &Range<usize>| outer.start <= span.start && span.end <= outer.end;
        let whole = value.span();
        let inside = match value.get_mut() {
            DeValue::Table(inner) => remove(inner, numbers, span, &name),
            DeValue::Array(items) => remove_item(items, numbers, span, &name),
            _ => None,
        };
        if inside.is_some() {
            return inside;
        }
        if key.span() == *span || within(&whole) {
            hit = Some((key.clone(), name));
        }
    }
    let (key, name) = hit?;
    table.remove(&key);
    Some(name)
}

/// Does the same in an array of tables.
fn remove_item(
    items: &mut DeArray<'_>,
    numbers: &Numbers,
    span: &Range<usize>,
    path: &str,
) -> Option<String> {
    let mut hit = None;
    for (index, item) in items.iter_mut().enumerate() {
        let whole = item.span();
        let number = numbers.get(&whole.start).copied().unwrap_or(index + 1);
        let name = format!("{path}[{number}]");
        let DeValue::Table(inner) = item.get_mut() else { continue };
        let inside = remove(inner, numbers, span, &name);
        if inside.is_some() {
            return inside;
        }
        if whole == *span {
            hit = Some((index, name));
        }
    }
    let (index, name) = hit?;
    let others =
        std::mem::replace(items, DeArray::new()).into_iter().enumerate().filter(|(at, _)| *at != index);
    *items = others.map(|(_, item)| item).collect();
    Some(name)
}

/// Rewrites a message of serde for the author of the document.
fn explain(message: &str) -> String {
    let mut quoted = message.split('`').skip(1).step_by(2);
    let first = quoted.next().unwrap_or_default();
    if message.starts_with("unknown field") {
        let known: Vec<_> = quoted.collect();
        return match nearest(first, &known) {
            Some(near) => format!("unknown key; did you mean {near:?}?"),
            None => format!("unknown key; expected one of: {}", known.join(", ")),
        };
    }
    if message.starts_with("missing field") {
        return format!("{first:?} is missing");
    }
    if message.starts_with("unknown variant") {
        let known: Vec<_> = quoted.collect();
        return format!("{first:?} is not one of: {}", known.join(", "));
    }
    ["usize", "u64", "u32", "u16", "u8"].iter().fold(message.to_owned(), |message, number| {
        message.replace(&format!("expected {number}"), "expected a whole number")
    })
}

/// Returns the word among `known` that `word` was probably meant to be.
pub fn nearest<'k>(word: &str, known: &[&'k str]) -> Option<&'k str> {
    if let Some(longer) = known.iter().find(|other| other.starts_with(word)) {
        return Some(longer);
    }
    let near = known.iter().map(|other| (strsim::damerau_levenshtein(word, other), *other)).min()?;
    (near.0 <= (word.len() / 3).max(1)).then_some(near.1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::Deserialize;

    #[derive(Debug, Default, Deserialize)]
    struct Config {
        #[serde(default)]
        output: Vec<Output>,
    }

    #[derive(Debug, Deserialize)]
    struct Output {
        #[serde(rename = "files")]
        _files: Files,
    }

    #[derive(Debug, Deserialize)]
    struct Files {
        #[serde(rename = "path")]
        _path: String,
        #[serde(rename = "kind")]
        _kind: Kind,
    }

    #[derive(Debug, Deserialize)]
    #[serde(rename_all = "lowercase")]
    enum Kind {
        Csv,
        Parquet,
    }

    fn mistakes(text: &str) -> Vec<String> {
        let (_, config, wrong) = Document::read::<Config>(text);
        assert!(config.output.len() < 2);
        wrong.into_iter().map(|wrong| format!("{}: {}", wrong.key, wrong.message)).collect()
    }

    #[test]
    fn a_missing_key_has_the_values_that_it_may_have() {
        assert!(mistakes("[[output]]\n[output.files]\npath = 'x'\nkind = 'csv'").is_empty());
        let missing = "output[1].files: \"kind\" is missing; it may be: csv, parquet";
        assert_eq!(mistakes("[[output]]\n[output.files]\npath = 'x'"), [missing]);
        assert_eq!(mistakes("[[output]]\nfiles = { path = 'x' }"), [missing]);
        // A text may be anything.
        assert_eq!(
            mistakes("[[output]]\n[output.files]\nkind = 'parquet'"),
            ["output[1].files: \"path\" is missing"]
        );
    }
}
