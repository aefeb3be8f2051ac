//! Derives the record of a model, and the rules that convert messages to it.

use crate::{
    Enumeration, Field, FieldType, Integer, List, Mapping, Record,
    names::{self, Names},
    notes,
    rule::{Absent, Plan, Presence, Property, Rule, Width},
};
use dunnage_pson::Value;
use dunnage_schema::{Array, Decimal, Model, NumberText, NumbersText, Object, Pattern, Type};

/// The field number of additional properties. It is the largest that Protobuf writes in two bytes, so that new properties can have smaller
/// ones.
const ADDITIONAL_NUMBER: u32 = 2047;

/// 64 bits hold every number of this many digits.
const MAX_DIGITS: u64 = 19;

/// How a value is carried, and notes about it.
struct Shape {
    kind: FieldType,
    rule: Rule,
    notes: Vec<String>,
}

impl Shape {
    fn new(kind: FieldType, rule: Rule, notes: Vec<String>) -> Self {
        Shape { kind, rule, notes }
    }
}

/// The fields of a record under construction.
#[derive(Default)]
struct Fields {
    names: Names,
    fields: Vec<Field>,
    number: u32,
}

impl Fields {
    fn push(&mut self, name: &str, key: &str, optional: bool, kind: FieldType, notes: Vec<String>) {
        self.number += 1;
        match self.number {
            ADDITIONAL_NUMBER => self.number += 1,
            19_000 => self.number = 20_000, // Protobuf reserves 19000 to 19999
            _ => {}
        }
        self.push_numbered(self.number, name, key, optional, kind, notes);
    }

    fn push_numbered(
        &mut self,
        number: u32,
        name: &str,
        key: &str,
        optional: bool,
        kind: FieldType,
        notes: Vec<String>,
    ) {
        let name = self.names.claim(&names::field(name));
        self.fields.push(Field { name, key: key.to_owned(), number, optional, kind, notes });
    }
}

/// One pass over a model.
pub(crate) struct Derivation {
    mapping: Mapping,
    types: Names,
}

impl Derivation {
    pub(crate) fn new(mapping: Mapping) -> Self {
        Derivation { mapping, types: Names::default() }
    }

    /// Returns the record of a whole message, and the rule that fills it.
    pub(crate) fn message(mut self, model: &Model) -> (Record, Rule) {
        let name = self.types.claim(&names::camel(model.name()));
        if let Type::Object(object) = model.root().carried() {
            let (record, plan) = self.object(name, object);
            return (record, Rule::Object(plan));
        }
        if let Some(value) = constant(model.root()) {
            return (Record { name, fields: Vec::new() }, Rule::Constant(value));
        }
        let (inner, nullable) = strip_null(model.root());
        let shape = match constant(inner) {
            Some(value) => Shape::new(FieldType::Bool, Rule::NullOr(value), notes::null_or()),
            None => self.value(inner, "value"),
        };
        let optional = nullable && !matches!(shape.rule, Rule::NullOr(_));
        let shape = if optional { self.present(shape, "value") } else { shape };
        let mut fields = Fields::default();
        fields.push("value", "", optional, shape.kind, shape.notes);
        let rule =
            if optional { Rule::Nullable(Box::new(shape.rule)) } else { Rule::Cell(Box::new(shape.rule)) };
        (Record { name, fields: fields.fields }, rule)
    }

    fn object(&mut self, name: String, object: &Object) -> (Record, Plan) {
        let mut fields = Fields::default();
        let properties = object.fields.iter().map(|field| self.property(&mut fields, field)).collect();
        let additional = object.additional.is_some().then_some(fields.fields.len());
        if additional.is_some() {
            fields.push_numbered(
                ADDITIONAL_NUMBER,
                "additional",
                "",
                false,
                FieldType::Bytes,
                notes::additional(),
            );
        }
        let plan = Plan { properties, additional, fields: fields.fields.len() };
        (Record { name, fields: fields.fields }, plan)
    }

    /// Adds the fields of one property.
    fn property(&mut self, fields: &mut Fields, field: &dunnage_schema::Field) -> Property {
        let key = &field.name;
        let (inner, nullable) = strip_null(&field.kind);
        let absent = match (field.required, nullable) {
            (true, false) => None,
            (true, true) => Some(Absent::Null),
            (false, _) => Some(Absent::Missing),
        };
        let both = !field.required && nullable;
        let describe =
            |notes: Vec<String>| field.description.iter().cloned().chain(notes).collect::<Vec<_>>();
        let first = fields.fields.len();
        let property = |rule, count, presence| Property {
            key: key.clone(),
            rule,
            fields: (first..first + count).collect(),
            presence,
        };

        if let Some(value) = constant(inner) {
            let Some(absent) = absent else { return property(Rule::Constant(value), 0, Presence::Always) };
            if both {
                fields.push(key, key, true, FieldType::Bool, describe(notes::null_or()));
                return property(Rule::NullOr(value), 1, Presence::Optional(absent));
            }
            fields.push(
                key,
                key,
                false,
                FieldType::Bool,
                describe(notes::flag(&value, absent == Absent::Null)),
            );
            return property(Rule::Constant(value), 1, Presence::Flag(absent));
        }
        let presence = absent.map_or(Presence::Always, Presence::Optional);
        if let (Type::NumbersText(text), Mapping::Float32, false) = (inner, self.mapping, both) {
            let rules = text.parts.iter().map(|(suffix, part)| {
                let shape = number_text(part, self.mapping);
                fields.push(
                    &format!("{key}_{suffix}"),
                    "",
                    absent.is_some(),
                    shape.kind,
                    describe(shape.notes),
                );
                shape.rule
            });
            let rule = Rule::Parts(text.clone(), rules.collect());
            return property(rule, text.parts.len(), presence);
        }
        let mut shape = self.value(inner, key);
        if both {
            shape = self.nullable(shape, key);
        }
        if absent.is_some() {
            shape = self.present(shape, key);
        }
        fields.push(key, key, absent.is_some(), shape.kind, describe(shape.notes));
        property(shape.rule, 1, presence)
    }

    /// Derives the shape of a value that is neither constant nor `null`.
    fn value(&mut self, kind: &Type, key: &str) -> Shape {
        let exact = self.mapping == Mapping::Exact;
        match kind {
            Type::Bool => Shape::new(FieldType::Bool, Rule::Same, Vec::new()),
            Type::Integer(n) => {
                let range = Integer::within(n.min, n.max);
                Shape::new(FieldType::Integer(range), Rule::Integer, notes::integer(range, n.step))
            }
            Type::Decimal(n) if exact || n.places == 0 => {
                let range = Integer::within(n.min, n.max);
                Shape::new(FieldType::Integer(range), Rule::Scaled(n.clone()), notes::scaled(n))
            }
            Type::Decimal(n) => Shape::new(
                FieldType::Float32,
                Rule::FloatDecimal(n.clone(), Width::Binary32),
                notes::decimals(n.places),
            ),
            Type::Float(_) if exact => {
                Shape::new(FieldType::Float64, Rule::Float(Width::Binary64), Vec::new())
            }
            Type::Float(_) => Shape::new(FieldType::Float32, Rule::Float(Width::Binary32), Vec::new()),
            Type::NumberText(text) => number_text(text, self.mapping),
            Type::NumbersText(text) if exact => numbers_text(text),
            Type::TimeText(text) if exact => {
                let (first, last) = text.range();
                let range = Integer::within(first, last);
                Shape::new(FieldType::Integer(range), Rule::Time(text.clone(), range), notes::time(text))
            }
            Type::Text(text) => match text.pattern.as_ref().and_then(digits).filter(|_| exact) {
                Some(number) => number_text(&number, self.mapping),
                None => Shape::new(FieldType::Text, Rule::Same, Vec::new()),
            },
            Type::NumbersText(_) | Type::TimeText(_) => Shape::new(FieldType::Text, Rule::Same, Vec::new()),
            Type::Enum(values) => self.choice(values, key),
            Type::Array(array) => self.array(array, key),
            Type::Object(object) => {
                let name = self.types.claim(&names::camel(key));
                let (record, plan) = self.object(name, object);
                Shape::new(FieldType::Record(record), Rule::Object(plan), Vec::new())
            }
            Type::Nullable(inner) => {
                let shape = self.value(inner, key);
                self.nullable(shape, key)
            }
            Type::Checked(checked) => self.value(&checked.kind, key),
            Type::Known(_, inner) => self.value(inner, key),
            Type::Any
            | Type::Null
            | Type::Const(_)
            | Type::Union(_)
            | Type::Tuple(_)
            | Type::Definition(_) => Shape::new(FieldType::Bytes, Rule::Pson, notes::pson()),
        }
    }

    fn choice(&mut self, values: &[Value], key: &str) -> Shape {
        if self.mapping == Mapping::Float32 {
            // In hand-written definitions, numbers are numbers and names are text.
            if let Some(number) = whole_numbers(values) {
                return number_text(&number, self.mapping);
            }
            if values.iter().all(|v| matches!(v, Value::Text(_))) {
                return Shape::new(FieldType::Text, Rule::Same, notes::one_of(values));
            }
        }
        let mut symbols = Names::default();
        let symbols =
            values.iter().map(|value| symbols.claim(&names::symbol(&notes::plain(value)))).collect();
        let name = self.types.claim(&names::camel(key));
        let kind = FieldType::Enum(Enumeration { name, symbols, aliases: Vec::new() });
        Shape::new(kind, Rule::Choice(values.iter().cloned().map(Some).collect()), notes::one_of(values))
    }

    fn array(&mut self, array: &Array, key: &str) -> Shape {
        let (inner, nullable) = strip_null(&array.items);
        let shape = match constant(inner) {
            // Elements of zero bytes would let a short message claim any number of them.
            Some(_) if !nullable => return Shape::new(FieldType::Bytes, Rule::Pson, notes::pson()),
            Some(value) => Shape::new(FieldType::Bool, Rule::NullOr(value), notes::null_or()),
            None => {
                let shape = self.value(inner, key);
                if nullable { self.nullable(shape, key) } else { shape }
            }
        };
        let shape = if matches!(shape.kind, FieldType::List(_)) { self.cell(shape, key) } else { shape };
        let list = List { item: Box::new(shape.kind), min: array.min, max: array.max };
        Shape::new(FieldType::List(list), Rule::List(Box::new(shape.rule)), shape.notes)
    }

    /// Wraps a shape in a record of one required field.
    fn cell(&mut self, shape: Shape, key: &str) -> Shape {
        let name = self.types.claim(&format!("{}Items", names::camel(key)));
        let mut fields = Fields::default();
        fields.push("items", "", false, shape.kind, Vec::new());
        Shape::new(
            FieldType::Record(Record { name, fields: fields.fields }),
            Rule::Cell(Box::new(shape.rule)),
            shape.notes,
        )
    }

    /// Wraps a shape in a record of one optional field, which is absent for `null`.
    fn nullable(&mut self, shape: Shape, key: &str) -> Shape {
        if matches!(shape.rule, Rule::Pson) {
            return shape; // PSON can hold null itself
        }
        let shape = self.present(shape, key);
        let name = self.types.claim(&format!("{}OrNull", names::camel(key)));
        let mut fields = Fields::default();
        fields.push("value", "", true, shape.kind, Vec::new());
        let kind = FieldType::Record(Record { name, fields: fields.fields });
        Shape::new(kind, Rule::Nullable(Box::new(shape.rule)), shape.notes)
    }

    /// Prepares a shape for an optional field. A list that may be empty becomes a cell, because Protobuf cannot distinguish it from an
    /// absent list.
    fn present(&mut self, shape: Shape, key: &str) -> Shape {
        match &shape.kind {
            FieldType::List(list) if list.min == 0 => self.cell(shape, key),
            _ => shape,
        }
    }
}

fn numbers_text(text: &NumbersText) -> Shape {
    let ranges = text.parts.iter().map(|(_, part)| &part.number);
    let min = ranges.clone().map(|n| n.min).min().unwrap_or(0);
    let max = ranges.map(|n| n.max).max().unwrap_or(0);
    let count = u32::try_from(text.parts.len()).unwrap_or(u32::MAX);
    let item = Box::new(FieldType::Integer(Integer::within(min, max)));
    let list = List { item, min: count, max: Some(count) };
    Shape::new(FieldType::List(list), Rule::NumbersText(text.clone()), notes::numbers(text))
}

fn number_text(text: &NumberText, mapping: Mapping) -> Shape {
    if mapping == Mapping::Exact || text.number.places == 0 {
        let range = Integer::within(text.number.min, text.number.max);
        Shape::new(FieldType::Integer(range), Rule::NumberText(text.clone()), notes::number_text(text))
    } else {
        Shape::new(
            FieldType::Float32,
            Rule::FloatText(text.clone(), Width::Binary32),
            notes::decimals(text.number.places),
        )
    }
}

/// Returns the only value of a type that has just one.
fn constant(kind: &Type) -> Option<Value> {
    match kind.carried() {
        Type::Null => Some(Value::Null),
        Type::Const(value) => Some(value.clone()),
        Type::Nullable(inner) => constant(inner).filter(|value| *value == Value::Null),
        Type::Array(array) if array.max == Some(0) => Some(Value::Array(Vec::new())),
        Type::Object(object) if object.additional.is_none() => {
            let entry = |field: &dunnage_schema::Field| {
                let value = constant(&field.kind).filter(|_| field.required)?;
                Some((field.name.clone(), value))
            };
            object.fields.iter().map(entry).collect::<Option<_>>().map(Value::Map)
        }
        _ => None,
    }
}

/// Returns the type without `null`, and whether it allowed `null`.
pub(crate) fn strip_null(kind: &Type) -> (&Type, bool) {
    match kind.carried() {
        Type::Nullable(inner) => match strip_null(inner).0 {
            inner @ (Type::Null | Type::Any) => (inner, false),
            inner => (inner, *inner != Type::Const(Value::Null)),
        },
        other => (other, false),
    }
}

/// Returns the number whose digits the texts of a pattern are. The number must restore the text: the texts are all digits, and either have
/// a fixed length or never start with 0.
fn digits(pattern: &Pattern) -> Option<NumberText> {
    let segments = pattern.segments.as_ref()?;
    let only_digits = segments.iter().all(|s| s.chars.iter().all(char::is_ascii_digit));
    let fewest: u64 = segments.iter().map(|s| u64::from(s.min)).sum();
    let most: u64 = segments.iter().map(|s| u64::from(s.max)).sum();
    let starts_above_0 = segments.first().is_some_and(|s| s.min > 0 && !s.chars.contains(&'0'));
    if !only_digits || fewest == 0 || most > MAX_DIGITS || !(fewest == most || starts_above_0) {
        return None;
    }
    let min = if starts_above_0 { 10i128.pow(fewest as u32 - 1) } else { 0 };
    let max = 10i128.pow(most as u32) - 1;
    Some(whole_of(min, max, fewest as u32))
}

/// Returns the numbers that the texts of an enumeration represent, if each is a non-negative whole number.
pub(crate) fn whole_numbers(values: &[Value]) -> Option<NumberText> {
    let whole = |value: &Value| match value {
        Value::Text(text) => text.parse::<u32>().ok().filter(|n| n.to_string() == *text).map(i128::from),
        _ => None,
    };
    let numbers = values.iter().map(whole).collect::<Option<Vec<_>>>()?;
    let (min, max) = (numbers.iter().min().copied()?, numbers.iter().max().copied()?);
    Some(whole_of(min, max, 1))
}

/// Returns whole numbers with at least `digits` digits.
fn whole_of(min: i128, max: i128, digits: u32) -> NumberText {
    let (usual, quantum, changes) = (None, None, None);
    NumberText {
        number: Decimal { places: 0, step: 1, min, max, usual, quantum, round: false, changes },
        digits,
    }
}
