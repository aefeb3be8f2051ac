//! The values that a schema names, each of which is a sensor.

use crate::mqtt::unit::Units;
use dunnage_schema::{
    Model, Object, Type,
    parts::{self, Definitions, Part},
    pointer::escape,
};

/// Most sensors of a schema, and deepest level of their values.
const SENSORS: usize = 200;
const DEPTH: usize = 8;

/// A value of a schema's messages.
#[derive(Debug, PartialEq)]
pub struct Sensor {
    /// The names of the fields that lead to it.
    pub path: Vec<String>,
    pub kind: Kind,
    /// Its unit, if it is a number.
    pub unit: Option<String>,
}

/// The values that a sensor can have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Number,
    /// A text, or also others.
    Text,
    /// Anything else, of which the schema may list the values.
    Other,
}

impl Sensor {
    /// Returns its JSON pointer.
    pub fn pointer(&self) -> String {
        self.path.iter().map(|name| format!("/{}", escape(name))).collect()
    }
}

/// Returns the sensors of all versions of a schema. Elements of arrays have none.
pub fn sensors<'m>(versions: impl Iterator<Item = &'m Model>, units: &[(String, String)]) -> Vec<Sensor> {
    let (units, mut sensors) = (Units::new(units), Vec::new());
    for model in versions {
        walk(model, &parts::root(model), &mut Vec::new(), &units, &mut sensors);
    }
    sensors
}

fn walk<'m>(
    model: &'m Model,
    part: &Part<'m>,
    path: &mut Vec<String>,
    units: &Units<'_>,
    sensors: &mut Vec<Sensor>,
) {
    if sensors.len() >= SENSORS || path.len() > DEPTH {
        return;
    }
    for kind in part {
        let Type::Object(Object { fields, .. }) = kind else { continue };
        for field in fields {
            let child = parts::child(model, part, &field.name, Definitions::Followed);
            path.push(field.name.clone());
            walk(model, &child, path, units, sensors);
            path.pop();
        }
    }
    if let Some(kind) = kind(part)
        && !sensors.iter().any(|known| known.path == *path)
    {
        let unit = units.at(path).filter(|_| kind == Kind::Number).map(str::to_owned);
        sensors.push(Sensor { path: path.clone(), kind, unit });
    }
}

/// Returns the kind of the values of `part`; `None` if they may be objects, arrays, or anything.
fn kind(part: &Part<'_>) -> Option<Kind> {
    let of = |kind: &&Type| match kind {
        Type::NumberText(_) => Some(Kind::Number),
        kind if kind.is_number() => Some(Kind::Number),
        kind if kind.is_text() => Some(Kind::Text),
        Type::Bool | Type::Enum(_) | Type::Const(_) => Some(Kind::Other),
        _ => None,
    };
    let part: Vec<_> = part.iter().filter(|kind| !matches!(kind, Type::Null)).collect();
    let kinds: Vec<Kind> = part.iter().copied().map(of).collect::<Option<_>>()?;
    let first = *kinds.first()?;
    Some(match kinds.iter().all(|kind| *kind == first) {
        true => first,
        false if kinds.contains(&Kind::Text) => Kind::Text,
        false => Kind::Other,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_value_that_a_schema_names_is_a_sensor() {
        let text = r##"{"type": "object", "properties": {
            "t": {"type": ["number", "null"], "x-dunnage-unit": "°C"},
            "wind": {"type": "object", "properties": {"gust/": {"$ref": "#/$defs/speed"}, "to": {"enum": ["N", "S"]}}},
            "on": {"type": "boolean"}, "list": {"type": "array", "items": {"type": "integer"}}, "any": {},
            "fixed": {"const": 7},
            "mixed": {"type": ["string", "integer"], "x-dunnage-unit": "V"},
            "next": {"$ref": "#"}},
            "$defs": {"speed": {"type": "integer", "x-dunnage-unit": "m/s"}}}"##;
        let model = Model::compile(text).unwrap();
        let sensors = sensors([&model, &model].into_iter(), &dunnage_schema::units(text));
        let text = |sensor: &Sensor| {
            let unit = sensor.unit.as_deref().unwrap_or_default();
            format!("{} {:?} {unit}", sensor.pointer(), sensor.kind)
        };
        let first: Vec<_> =
            sensors.iter().filter(|sensor| !sensor.path.contains(&"next".into())).map(text).collect();
        let expected = [
            "/t Number °C",
            "/wind/gust~1 Number m/s",
            "/wind/to Other ",
            "/on Other ",
            "/fixed Other ",
            "/mixed Text ",
        ];
        assert_eq!(first, expected);
        assert!(sensors.len() <= SENSORS && sensors.iter().all(|sensor| sensor.path.len() <= DEPTH));
        assert!(sensors.iter().any(|sensor| sensor.pointer() == "/next/next/on"));
    }
}
