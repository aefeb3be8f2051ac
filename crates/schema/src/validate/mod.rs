//! Validates messages against a model.
//!
//! Nested choices and recursive definitions can multiply the work, so that a validation counts its steps and the schemas that it is inside,
//! and stops at a limit. The text of a violation is made only if the caller reads it. A valid scalar or object is checked without
//! allocation.

mod assertion;
mod describe;
mod difference;
mod every;
mod scalar;
mod unique;

use crate::{Array, Checked, Model, Object, Tuple, Type, Violation, kinds::noun, same};
use describe::Brief;
use dunnage_pson::Value;
use std::cell::Cell;

/// The most steps of a validation. Checking one value against one type is a step; nested choices could otherwise take years.
const MAX_STEPS: u32 = 1 << 24;

/// The most schemas inside one another, from the message to a value in it. Each uses a part of the stack.
const MAX_INSIDE: u32 = 1000;

impl Model {
    /// Checks `message` against the schema. The error names the first value that breaks it, and how.
    ///
    /// # Errors
    /// The first violation, with the JSON pointer of the value.
    ///
    /// ```
    /// # use dunnage_pson::Value;
    /// # use dunnage_schema::Model;
    /// let model = Model::compile(r#"{"type": "array", "items": {"type": "integer", "maximum": 100}}"#)?;
    /// let violation = model.validate(&Value::Array(vec![7u64.into(), 101u64.into()])).unwrap_err();
    /// assert_eq!((violation.pointer(), violation.message()), ("/1", "101 is above the maximum 100"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn validate(&self, message: &Value) -> Result<(), Violation> {
        let check = Check::new(&self.definitions, true);
        let result = check.value(&self.root, message);
        if check.is_spent() {
            let message = format!(
                "checking the message takes more than {MAX_STEPS} steps, or {MAX_INSIDE} schemas inside one another"
            );
            return Err(Violation::new(message));
        }
        result
    }

    /// Whether `kind`, a type of this model, allows `value`. False if the check exceeds a limit.
    pub fn allows(&self, kind: &Type, value: &Value) -> bool {
        allows(&self.definitions, kind, value)
    }
}

/// Whether `kind` allows `value`. `definitions` are those of its model.
pub(crate) fn allows(definitions: &[Type], kind: &Type, value: &Value) -> bool {
    let check = Check::new(definitions, false);
    check.value(kind, value).is_ok() && !check.is_spent()
}

/// Checks `v` against a type that refers to no definition. The error is the first violation.
pub(crate) fn value(kind: &Type, v: &Value) -> Result<(), Violation> {
    Check::new(&[], true).value(kind, v)
}

/// How many comparisons of names or values count as one step.
const COMPARED: usize = 8;

/// The state of one validation.
struct Check<'m> {
    definitions: &'m [Type],
    /// Whether the caller reads the violations. Otherwise their text stays empty.
    explain: Cell<bool>,
    /// The number of steps so far.
    steps: Cell<u32>,
    /// The number of schemas that the current one is inside.
    inside: Cell<u32>,
}

impl<'m> Check<'m> {
    fn new(definitions: &'m [Type], explain: bool) -> Self {
        Check { definitions, explain: Cell::new(explain), steps: Cell::new(0), inside: Cell::new(0) }
    }

    fn is_spent(&self) -> bool {
        self.steps.get() > MAX_STEPS
    }

    fn fail(&self, message: impl FnOnce() -> String) -> Result<(), Violation> {
        Err(self.violation(message))
    }

    fn violation(&self, message: impl FnOnce() -> String) -> Violation {
        Violation::new(if self.explain.get() { message() } else { String::new() })
    }

    /// Moves `violation` to the value under `token`.
    fn under(&self, violation: Violation, token: impl FnOnce() -> String) -> Violation {
        if self.explain.get() { violation.under(&token()) } else { violation }
    }

    /// Whether the type allows the value. Makes no text for a violation.
    fn allows(&self, kind: &Type, v: &Value) -> bool {
        let explain = self.explain.replace(false);
        let result = self.value(kind, v);
        self.explain.set(explain);
        result.is_ok()
    }

    /// Counts the steps of `compared` comparisons of names or values.
    fn charge(&self, compared: usize) {
        let steps = u32::try_from(compared / COMPARED).unwrap_or(u32::MAX);
        self.steps.set(self.steps.get().saturating_add(steps));
    }

    fn value(&self, kind: &Type, v: &Value) -> Result<(), Violation> {
        if !self.enter() {
            return self.fail(String::new);
        }
        let result = self.cases(kind, v);
        self.leave();
        result
    }

    /// Enters a schema and counts a step. Returns false if a limit is reached.
    fn enter(&self) -> bool {
        self.charge(COMPARED);
        if self.inside.get() == MAX_INSIDE {
            self.steps.set(u32::MAX);
        }
        let may = !self.is_spent();
        self.inside.set(self.inside.get() + u32::from(may));
        may
    }

    fn leave(&self) {
        self.inside.set(self.inside.get().saturating_sub(1));
    }

    /// Returns the violation by a field that the object does not have.
    fn unknown(&self, object: &Object, key: &str) -> Violation {
        let names = object.fields.iter().map(|field| field.name.as_str());
        self.violation(|| describe::unknown(key, names)).of_field()
    }

    fn cases(&self, kind: &Type, v: &Value) -> Result<(), Violation> {
        match (kind, v) {
            (Type::Any, _) | (Type::Null, Value::Null) | (Type::Bool, Value::Bool(_)) => Ok(()),
            (Type::Nullable(_), Value::Null) => Ok(()),
            (Type::Nullable(inner) | Type::Known(_, inner), _) => self.value(inner, v),
            (Type::Integer(integer), Value::U64(_) | Value::I64(_) | Value::F64(_)) => self.whole(integer, v),
            (Type::Decimal(decimal), Value::U64(_) | Value::I64(_) | Value::F64(_)) => {
                self.decimal(decimal, v)
            }
            (Type::Float(float), Value::U64(_) | Value::I64(_) | Value::F64(_)) => self.binary(float, v),
            (Type::Text(text), Value::Text(t)) => self.plain(text, t),
            (Type::NumberText(number), Value::Text(t)) => self.number_text(number, t),
            (Type::NumbersText(numbers), Value::Text(t)) => self.numbers_text(numbers, t),
            (Type::TimeText(time), Value::Text(t)) => self.time_text(time, t),
            (Type::Enum(values), _) => {
                self.charge(values.len());
                if values.iter().any(|one| same(one, v)) { Ok(()) } else { self.not_listed(values, v) }
            }
            (Type::Const(only), _) if same(only, v) => Ok(()),
            (Type::Const(only), _) => self.differs(only, v),
            (Type::Array(array), Value::Array(items)) => self.elements(array, items),
            (Type::Tuple(tuple), Value::Array(items)) => self.tuple(tuple, items),
            (Type::Object(object), Value::Map(entries)) => self.fields(object, entries),
            (Type::Union(kinds), _) => self.union(kinds, v),
            (Type::Checked(checked), _) => self.checked(checked, v),
            (Type::Definition(at), _) => match self.definitions.get(*at) {
                Some(kind) => self.value(kind, v),
                None => self.fail(|| format!("there is no definition {at}")),
            },
            _ => self.fail(|| format!("{} is not {}", Brief(v), noun(kind))),
        }
    }

    fn union(&self, kinds: &[Type], v: &Value) -> Result<(), Violation> {
        if kinds.iter().any(|kind| self.allows(kind, v)) {
            return Ok(());
        }
        if !self.explain.get() {
            return self.fail(String::new);
        }
        // If only one member fits the kind of the value, its violation is the most useful one.
        let is_meant = |kind: &&Type| {
            describe::is_about(kind, v, self.definitions) && !describe::has_other_constant(kind, v)
        };
        let mut about = kinds.iter().filter(is_meant);
        match (about.next(), about.next()) {
            (Some(only), None) => self.value(only, v),
            (None, _) if !kinds.iter().any(|kind| describe::is_about(kind, v, self.definitions)) => {
                self.fail(|| format!("{} is none of {}", Brief(v), describe::nouns(kinds)))
            }
            _ => self.fail(|| format!("{} is none of the {} kinds allowed", Brief(v), kinds.len())),
        }
    }

    fn checked(&self, checked: &Checked, v: &Value) -> Result<(), Violation> {
        self.value(&checked.kind, v)?;
        checked.assertions.iter().try_for_each(|assertion| self.assertion(&checked.kind, assertion, v))
    }

    fn count(&self, count: usize, min: u32, max: Option<u32>) -> Result<(), Violation> {
        if count < min as usize {
            return self.fail(|| format!("the array has {count} elements; the minimum is {min}"));
        }
        match max.filter(|max| count > *max as usize) {
            Some(max) => self.fail(|| format!("the array has {count} elements; the maximum is {max}")),
            None => Ok(()),
        }
    }

    fn elements(&self, array: &Array, items: &[Value]) -> Result<(), Violation> {
        self.count(items.len(), array.min, array.max)?;
        for (i, item) in items.iter().enumerate() {
            self.value(&array.items, item).map_err(|violation| self.under(violation, || i.to_string()))?;
        }
        Ok(())
    }

    fn tuple(&self, tuple: &Tuple, items: &[Value]) -> Result<(), Violation> {
        self.count(items.len(), tuple.min, tuple.max)?;
        for (i, item) in items.iter().enumerate() {
            let result = match tuple.items.get(i).or(tuple.rest.as_deref()) {
                Some(kind) => self.value(kind, item),
                None => self.fail(|| format!("there is no element {i}")),
            };
            result.map_err(|violation| self.under(violation, || i.to_string()))?;
        }
        Ok(())
    }

    fn fields(&self, object: &Object, entries: &[(String, Value)]) -> Result<(), Violation> {
        // Most messages have their fields in the schema's order, so look there first.
        let mut next = 0;
        let mut required = object.fields.iter().filter(|field| field.required).count();
        for (key, v) in entries {
            let at = match object.fields.get(next) {
                Some(field) if field.name == *key => Some(next),
                _ => {
                    self.charge(object.fields.len());
                    object.fields.iter().position(|field| field.name == *key)
                }
            };
            let result = match (at.map(|at| &object.fields[at]), &object.additional) {
                (Some(field), _) => {
                    required = required.saturating_sub(usize::from(field.required));
                    self.value(&field.kind, v)
                }
                (None, Some(additional)) => self.value(additional, v),
                (None, None) => Err(self.unknown(object, key)),
            };
            next = at.map_or(next, |at| at + 1);
            result.map_err(|violation| self.under(violation, || key.clone()))?;
        }
        if required == 0 {
            return Ok(());
        }
        let missing = |name: &str| entries.iter().all(|(key, _)| key != name);
        let field = object.fields.iter().find(|field| field.required && missing(&field.name));
        let name = field.map(|field| field.name.as_str()).unwrap_or_default();
        self.fail(|| format!("the field {name:?} is missing"))
    }
}
