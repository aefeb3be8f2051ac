//! Compares two schemas field by field, and determines whether every message that was valid still is.
//!
//! The comparison works on the keywords and tries no messages. It is conservative: a change whose effect is unknown counts as one that may
//! break old messages.

mod fields;
mod number;
mod text;

use crate::{Array, Checked, Float, Model, Tuple, Type};
use dunnage_pson::Value;
use number::range;
use std::{collections::HashSet, fmt};

/// A difference between two schemas.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Change {
    /// The field: `position.latitude`, `readings[].value`, `counters.*`; `$` is the message itself.
    pub field: String,
    /// The change: `range widened from 0 to 50, to -10 to 60`.
    pub text: String,
    /// Whether every value that was valid is known to be still valid.
    pub keeps: bool,
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.field, self.text)
    }
}

/// Returns the differences between two schemas, in the order of the new one. The fields that an object has lost come before its other
/// changes. Returns an empty list if only annotations or the slot differ.
///
/// If every change has [`Change::keeps`], every message that obeys `old` obeys `new`. Otherwise some messages may not. This follows from
/// the keywords; no messages are tried.
///
/// ```
/// use dunnage_schema::{Model, diff};
/// let old = Model::compile(r#"{"type":"integer","minimum":0,"maximum":50}"#)?;
/// let new = Model::compile(r#"{"type":"integer","minimum":-10,"maximum":60}"#)?;
/// assert_eq!(diff(&old, &new)[0].to_string(), "$: range widened from 0 to 50, to -10 to 60");
/// assert!(diff(&old, &new)[0].keeps && !diff(&new, &old)[0].keeps);
/// # Ok::<(), dunnage_schema::SchemaError>(())
/// ```
pub fn diff(old: &Model, new: &Model) -> Vec<Change> {
    let mut walk = Walk { old, new, definitions: HashSet::new(), changes: Vec::new() };
    if old.check != new.check {
        walk.note("", true, format!("check was of {} bytes, now of {}", old.check, new.check));
    }
    walk.kinds("", &old.root, &new.root);
    walk.changes
}

/// The state of a comparison.
struct Walk<'a> {
    old: &'a Model,
    new: &'a Model,
    /// The pairs of definitions that are compared already, or are being compared.
    definitions: HashSet<(usize, usize)>,
    changes: Vec<Change>,
}

impl<'a> Walk<'a> {
    fn note(&mut self, path: &str, keeps: bool, text: impl Into<String>) {
        let field = if path.is_empty() { "$" } else { path };
        self.changes.push(Change { field: field.to_owned(), text: text.into(), keeps });
    }

    fn kinds(&mut self, path: &str, old: &'a Type, new: &'a Type) {
        match (old, new) {
            (Type::Checked(old), Type::Checked(new)) => self.checked(path, old, new),
            (Type::Checked(old), new) => {
                self.note(path, true, "other constraints removed");
                self.kinds(path, &old.kind, new);
            }
            (old, Type::Checked(new)) => {
                self.note(path, false, "other constraints added");
                self.kinds(path, old, &new.kind);
            }
            (Type::Known(was, old), Type::Known(is, new)) => {
                if was != is {
                    self.note(path, true, format!("known as {is}, not {was}"));
                }
                self.kinds(path, old, new);
            }
            (Type::Known(_, old), new) => {
                self.note(path, true, "no longer known to the receiver");
                self.kinds(path, old, new);
            }
            (old, Type::Known(_, new)) => {
                self.note(path, true, "known to the receiver now");
                self.kinds(path, old, new);
            }
            (Type::Nullable(old), Type::Nullable(new)) => self.kinds(path, old, new),
            (Type::Nullable(inner), new) if same_kind(inner, new) => {
                self.note(path, false, "null is no longer allowed");
                self.kinds(path, inner, new);
            }
            (old, Type::Nullable(inner)) if same_kind(old, inner) => {
                self.note(path, true, "null is allowed now");
                self.kinds(path, old, inner);
            }
            _ => self.plain(path, old, new),
        }
    }

    /// Compares types that wrap no other type.
    fn plain(&mut self, path: &str, old: &'a Type, new: &'a Type) {
        match (old, new) {
            (Type::Any, Type::Any) | (Type::Null, Type::Null) | (Type::Bool, Type::Bool) => {}
            (Type::Integer(old), Type::Integer(new)) => self.integer(path, old, new),
            (Type::Decimal(old), Type::Decimal(new)) => self.decimal(path, old, new),
            (Type::Float(old), Type::Float(new)) => self.float(path, old, new),
            (Type::Text(old), Type::Text(new)) => self.text(path, old, new),
            (Type::NumberText(old), Type::NumberText(new)) => self.number_text(path, old, new),
            (Type::NumbersText(old), Type::NumbersText(new)) => self.numbers_text(path, old, new),
            (Type::TimeText(old), Type::TimeText(new)) => self.time_text(path, old, new),
            (Type::Enum(old), Type::Enum(new)) => self.choices(path, old, new),
            (Type::Const(old), Type::Const(new)) if old == new => {}
            (Type::Array(old), Type::Array(new)) => self.array(path, old, new),
            (Type::Tuple(old), Type::Tuple(new)) => self.tuple(path, old, new),
            (Type::Object(old), Type::Object(new)) => self.object(path, old, new),
            (Type::Union(old), Type::Union(new)) => self.union(path, old, new),
            (Type::Definition(old), Type::Definition(new)) => self.definition(path, *old, *new),
            _ => {
                let text = format!("was {}, now {}", name(old), name(new));
                let keeps = self.contains(new, old);
                self.note(path, keeps, text);
            }
        }
    }

    /// Whether every value of `old` is known to be a value of `new`, a type of another kind.
    fn contains(&mut self, new: &'a Type, old: &'a Type) -> bool {
        match (old, new) {
            (_, Type::Any) => true,
            // Following definitions into each other for each pair of choices could take years.
            (Type::Definition(old), Type::Definition(new)) => {
                old == new && self.old.definitions == self.new.definitions
            }
            (Type::Checked(old), new) if !matches!(new, Type::Checked(_)) => self.contains(new, &old.kind),
            (Type::Null, new) => self.new.allows(new, &Value::Null),
            (Type::Const(value), new) => self.new.allows(new, value),
            (Type::Enum(values), new) => values.iter().all(|value| self.new.allows(new, value)),
            (Type::Bool, new) => [true, false].into_iter().all(|b| self.new.allows(new, &Value::Bool(b))),
            (Type::Nullable(inner), new) => self.new.allows(new, &Value::Null) && self.contains(new, inner),
            (old, Type::Nullable(new)) => self.contains(new, old),
            (Type::Union(old), new) => old.iter().all(|old| self.contains(new, old)),
            (old, Type::Union(new)) => new.iter().any(|new| self.contains(new, old)),
            (old, new) if same_kind(old, new) => {
                let before = std::mem::take(&mut self.changes);
                self.kinds("", old, new);
                std::mem::replace(&mut self.changes, before).iter().all(|change| change.keeps)
            }
            (old, Type::Text(new)) => text::any_text_of(old, new),
            (old, new) => number::any_number_of(old, new),
        }
    }

    fn checked(&mut self, path: &str, old: &'a Checked, new: &'a Checked) {
        // A condition on a union depends on all of its types, and the index of a definition means nothing without the definitions.
        let is_same_union = !matches!(new.kind, Type::Union(_)) || old.kind == new.kind;
        if old.assertions != new.assertions || !is_same_union || self.old.definitions != self.new.definitions
        {
            let keeps = new.assertions.is_empty();
            self.note(path, keeps, "other constraints, or the types they apply to, changed");
        }
        self.kinds(path, &old.kind, &new.kind);
    }

    fn float(&mut self, path: &str, old: &Float, new: &Float) {
        if old != new {
            let below = new.min.is_none_or(|new| old.min.is_some_and(|old| old >= new));
            let above = new.max.is_none_or(|new| old.max.is_some_and(|old| old <= new));
            let show = |float: &Float| {
                let bound = |bound: Option<f64>| bound.map_or("any".to_owned(), |bound| bound.to_string());
                format!("{} to {}", bound(float.min), bound(float.max))
            };
            self.note(path, below && above, format!("range was {}, now {}", show(old), show(new)));
        }
    }

    fn array(&mut self, path: &str, old: &'a Array, new: &'a Array) {
        self.counts(path, "elements", (old.min, old.max), (new.min, new.max));
        if old.series != new.series {
            self.note(path, true, if new.series { "a series now" } else { "no longer a series" });
        }
        self.kinds(&element(path), &old.items, &new.items);
    }

    fn tuple(&mut self, path: &str, old: &'a Tuple, new: &'a Tuple) {
        self.counts(path, "elements", (old.min, old.max), (new.min, new.max));
        if old.items.len() != new.items.len() {
            let text = format!(
                "{} first elements have types of their own, now {}",
                old.items.len(),
                new.items.len()
            );
            self.note(path, false, text);
        }
        for (at, (old, new)) in old.items.iter().zip(&new.items).enumerate() {
            let root = if path.is_empty() { "$" } else { path };
            self.kinds(&format!("{root}[{at}]"), old, new);
        }
        match (&old.rest, &new.rest) {
            (Some(old), Some(new)) => self.kinds(&element(path), old, new),
            (None, Some(_)) => self.note(path, true, "further elements are allowed now"),
            (Some(_), None) => self.note(path, false, "further elements are no longer allowed"),
            (None, None) => {}
        }
    }

    /// Compares lengths of text or of arrays.
    fn counts(&mut self, path: &str, noun: &str, old: (u32, Option<u32>), new: (u32, Option<u32>)) {
        if old != new {
            let keeps = new.0 <= old.0 && new.1.is_none_or(|new| old.1.is_some_and(|old| old <= new));
            let wide = |(min, max): (u32, Option<u32>)| (min.into(), max.map_or(i128::MAX, i128::from));
            self.note(path, keeps, format!("{noun}: {}", range(wide(old), wide(new), 0)));
        }
    }

    fn union(&mut self, path: &str, old: &'a [Type], new: &'a [Type]) {
        if old.len() != new.len() {
            let keeps = old.iter().all(|old| new.iter().any(|new| self.contains(new, old)));
            return self.note(path, keeps, format!("one of {} types, now of {}", old.len(), new.len()));
        }
        for (old, new) in old.iter().zip(new) {
            self.kinds(path, old, new);
        }
    }

    fn definition(&mut self, path: &str, old: usize, new: usize) {
        if self.definitions.insert((old, new))
            && let (Some(old), Some(new)) = (self.old.definitions.get(old), self.new.definitions.get(new))
        {
            self.kinds(path, old, new);
        }
    }
}

/// Returns the path of an array's elements.
fn element(path: &str) -> String {
    format!("{}[]", if path.is_empty() { "$" } else { path })
}

fn same_kind(a: &Type, b: &Type) -> bool {
    std::mem::discriminant(a) == std::mem::discriminant(b)
}

/// Describes a type for people.
fn name(kind: &Type) -> String {
    match kind {
        Type::Any => "anything",
        Type::Null => "null",
        Type::Bool => "a boolean",
        Type::Integer(_) => "an integer",
        Type::Decimal(_) => "a decimal",
        Type::Float(_) => "a float",
        Type::Text(_) => "text",
        Type::NumberText(_) => "a number in text",
        Type::NumbersText(_) => "numbers in text",
        Type::TimeText(_) => "a time in text",
        Type::Enum(values) => return format!("one of {} values", values.len()),
        Type::Const(value) => return format!("always {}", fields::json(value)),
        Type::Array(_) => "an array",
        Type::Tuple(_) => "an array with types of its own for the first elements",
        Type::Object(_) => "an object",
        Type::Union(kinds) => return format!("one of {} types", kinds.len()),
        Type::Nullable(inner) => return format!("{} or null", name(inner)),
        Type::Definition(_) => "a definition that refers to itself",
        Type::Checked(checked) => return name(&checked.kind),
        Type::Known(_, inner) => return name(inner),
    }
    .to_owned()
}
