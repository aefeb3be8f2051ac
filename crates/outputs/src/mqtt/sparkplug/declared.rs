//! What a schema declares about the values at one place: their data type and their range.

use super::datatype::DataType;
use crate::records::declared::is_rfc_3339;
use dunnage_pson::Value;
use dunnage_schema::{
    Decimal, Model, TextFormat, Type,
    parts::{self, Definitions, Part},
};

/// The same place in all versions of a schema.
pub struct Place<'m>(Vec<(&'m Model, Part<'m>)>);

/// What a schema declares about the values at a place.
#[derive(Debug, Clone, PartialEq)]
pub struct Declared {
    pub datatype: DataType,
    /// The bounds of the numbers, if the schema has them.
    pub low: Option<f64>,
    pub high: Option<f64>,
}

/// The values of a type.
#[derive(Debug, Clone, PartialEq)]
enum Kind {
    Boolean,
    /// Whole numbers between these two.
    Integer(i128, i128),
    Double,
    Time,
    Text,
    Array(Box<Kind>),
}

impl<'m> Place<'m> {
    /// Returns the place of whole messages.
    pub fn root(versions: impl Iterator<Item = &'m Model>) -> Place<'m> {
        Place(versions.map(|model| (model, parts::root(model))).collect())
    }

    /// Returns the place of a field.
    pub fn field(&self, name: &str) -> Place<'m> {
        let child = |(model, part): &(&'m Model, Part<'m>)| {
            (*model, parts::child(model, part, name, Definitions::Followed))
        };
        Place(self.0.iter().map(child).collect())
    }

    /// Returns what the schema declares about the values here that are no objects; `None` if that is nothing.
    pub fn declared(&self) -> Option<Declared> {
        let all = self.0.iter().flat_map(|(model, part)| part.iter().map(|kind| (*model, *kind)));
        let (mut found, mut low, mut high) = (None, Some(f64::INFINITY), Some(f64::NEG_INFINITY));
        for (model, kind) in all.filter(|(_, kind)| !matches!(kind, Type::Null | Type::Object(_))) {
            let of = kind_of(model, kind)?;
            let (least, most) = bounds(kind);
            low = low.zip(least).map(|(low, least)| low.min(least));
            high = high.zip(most).map(|(high, most)| high.max(most));
            found = Some(match found {
                None => of,
                Some(before) => with(before, of),
            });
        }
        let datatype = datatype(&found?)?;
        Some(Declared { datatype, low, high })
    }
}

fn kind_of(model: &Model, kind: &Type) -> Option<Kind> {
    Some(match kind {
        Type::Bool => Kind::Boolean,
        Type::Integer(integer) => Kind::Integer(integer.min, integer.max),
        Type::Decimal(_) | Type::Float(_) | Type::NumberText(_) => Kind::Double,
        Type::Text(text) if text.format == Some(TextFormat::DateTime) => Kind::Time,
        Type::TimeText(time) if is_rfc_3339(time) => Kind::Time,
        text if text.is_text() => Kind::Text,
        Type::Enum(values) => {
            let known = values.iter().filter(|value| **value != Value::Null);
            known.map(of_value).reduce(|one, other| Some(with(one?, other?)))??
        }
        Type::Const(value) => of_value(value)?,
        Type::Array(array) => {
            let items = parts::of(model, &array.items, Definitions::LeftAlone);
            let kinds = items.iter().map(|kind| kind_of(model, kind));
            Kind::Array(Box::new(kinds.reduce(|one, other| Some(with(one?, other?)))??))
        }
        _ => return None,
    })
}

fn of_value(value: &Value) -> Option<Kind> {
    Some(match value {
        Value::Bool(_) => Kind::Boolean,
        Value::I64(integer) => Kind::Integer((*integer).into(), (*integer).into()),
        Value::U64(integer) => Kind::Integer((*integer).into(), (*integer).into()),
        Value::F64(_) => Kind::Double,
        Value::Text(_) => Kind::Text,
        Value::Null | Value::Bytes(_) | Value::Array(_) | Value::Map(_) => return None,
    })
}

/// Returns the kind that has the values of both.
fn with(one: Kind, other: Kind) -> Kind {
    match (one, other) {
        (one, other) if one == other => one,
        (Kind::Integer(min, max), Kind::Integer(low, high)) => Kind::Integer(min.min(low), max.max(high)),
        (Kind::Integer(..), Kind::Double) | (Kind::Double, Kind::Integer(..)) => Kind::Double,
        _ => Kind::Text,
    }
}

fn datatype(kind: &Kind) -> Option<DataType> {
    Some(match kind {
        Kind::Boolean => DataType::BOOLEAN,
        Kind::Integer(min, max) => DataType::integer(*min, *max),
        Kind::Double => DataType::DOUBLE,
        Kind::Time => DataType::DATE_TIME,
        Kind::Text => DataType::STRING,
        Kind::Array(items) => return datatype(items)?.array(),
    })
}

/// Returns the bounds of a number as the schema states them.
fn bounds(kind: &Type) -> (Option<f64>, Option<f64>) {
    match kind {
        Type::Integer(integer) => {
            let low = (integer.min > i64::MIN.into()).then_some(integer.min as f64);
            (low, (integer.max < i64::MAX.into()).then_some(integer.max as f64))
        }
        Type::Decimal(decimal) => decimal_bounds(decimal),
        Type::NumberText(text) => decimal_bounds(&text.number),
        Type::Float(float) => (float.min, float.max),
        _ => (None, None),
    }
}

/// Without bounds of its own, a decimal has the first and the last multiple of its step within 64 bits.
fn decimal_bounds(decimal: &Decimal) -> (Option<f64>, Option<f64>) {
    let scale = 10f64.powi(decimal.places as i32);
    let step = i128::from(decimal.step);
    let low = (decimal.min - step >= i64::MIN.into()).then(|| decimal.min as f64 / scale);
    (low, (decimal.max + step <= i64::MAX.into()).then(|| decimal.max as f64 / scale))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn declared(schemas: &[&str], name: &str) -> Option<(u32, Option<f64>, Option<f64>)> {
        let models: Vec<_> = schemas.iter().map(|schema| Model::compile(schema).unwrap()).collect();
        let declared = Place::root(models.iter()).field(name).declared()?;
        Some((declared.datatype.number(), declared.low, declared.high))
    }

    #[test]
    fn each_field_has_the_type_and_the_range_of_its_schema() {
        let schema = r#"{"type":"object","properties":{
            "n":{"type":"integer"},"byte":{"type":"integer","minimum":0,"maximum":200},
            "t":{"type":"number"},"d":{"type":"number","multipleOf":0.1,"minimum":-40,"maximum":85},
            "free":{"type":"number","multipleOf":0.1},"f":{"type":"number","minimum":0},
            "ok":{"type":["boolean","null"]},"at":{"type":"string","format":"date-time"},"s":{"type":"string"},
            "text":{"type":"string","x-dunnage-number":{"multipleOf":0.1,"minimum":0,"maximum":360}},
            "either":{"type":["integer","number"]},"mixed":{"type":["integer","string"]},
            "level":{"enum":[1,2.5]},"state":{"enum":["on","off",null]},"v":{"const":300},
            "list":{"type":"array","items":{"type":"integer","minimum":-5,"maximum":5}},
            "texts":{"type":"array","items":{"type":"string"}},
            "rows":{"type":"array","items":{"type":"object"}},
            "any":{},"nothing":{"type":"null"},"part":{"type":"object"}}}"#;
        let expected = [
            ("n", Some((4, None, None))),
            ("byte", Some((5, Some(0.0), Some(200.0)))),
            ("t", Some((10, None, None))),
            ("d", Some((10, Some(-40.0), Some(85.0)))),
            ("free", Some((10, None, None))),
            ("f", Some((10, Some(0.0), None))),
            ("ok", Some((11, None, None))),
            ("at", Some((13, None, None))),
            ("s", Some((12, None, None))),
            ("text", Some((10, Some(0.0), Some(360.0)))),
            ("either", Some((10, None, None))),
            ("mixed", Some((12, None, None))),
            ("level", Some((10, None, None))),
            ("state", Some((12, None, None))),
            ("v", Some((6, None, None))),
            ("list", Some((22, None, None))),
            ("texts", Some((33, None, None))),
            ("rows", None),
            ("any", None),
            ("nothing", None),
            ("part", None),
            ("unknown", None),
        ];
        for (name, expected) in expected {
            assert_eq!(declared(&[schema], name), expected, "{name}");
        }
    }

    #[test]
    fn versions_of_a_schema_share_a_type_and_a_range() {
        let of = |more: &str| {
            format!(
                r#"{{"type":"object","properties":{{"n":{{"type":"integer"{more}}},"m":{{"type":"integer"}}}}}}"#
            )
        };
        let (one, two) = (of(r#","minimum":0,"maximum":9"#), of(r#","minimum":-9,"maximum":3"#));
        assert_eq!(declared(&[&one, &two], "n"), Some((1, Some(-9.0), Some(9.0))));
        assert_eq!(declared(&[&one, &of("")], "n"), Some((4, None, None)));
        let text = one.replace("integer", "string").replace(r#","minimum":0,"maximum":9"#, "");
        assert_eq!(declared(&[&one, &text], "n"), Some((12, None, None)));
    }
}
