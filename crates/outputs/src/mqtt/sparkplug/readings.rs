//! The values of a message, as metrics.

use super::{
    datatype::DataType,
    declared::{Declared, Place},
    payload::{Metric, PropertySet, PropertyValue, Value},
};
use crate::{
    Catalog, Message,
    leaves::{LEAVES, POINTER},
    mqtt::{topic::level_of, unit::Units},
};
use serde_json::Value as Json;

/// The name of the metric of a message that is one value.
const WHOLE: &str = "value";

/// A value of a message: anything but an object, or an empty one.
pub struct Reading {
    /// The names of the fields that lead to it.
    pub name: String,
    json: Json,
    declared: Option<Declared>,
    unit: Option<String>,
}

/// Returns the values of `message`, at least one. What `map` has made of it has no schema. An error says why it never has metrics.
pub fn readings(message: &Message, catalog: Option<&dyn Catalog>) -> Result<Vec<Reading>, String> {
    let json: Json = serde_json::from_str(message.payload()).map_err(|e| e.to_string())?;
    let schema = message.schema.as_deref().filter(|_| message.mapped().is_none()).zip(catalog);
    let (place, units) = match schema {
        Some((schema, catalog)) => (Place::root(catalog.versions(schema)), Units::new(catalog.units(schema))),
        None => (Place::root(std::iter::empty()), Units::new(&[])),
    };
    let mut walk = Walk { units, path: Vec::new(), bytes: 0, found: Vec::new() };
    match walk.walk(json, &place) {
        true => Ok(walk.found),
        false => {
            Err(format!("it has more than {LEAVES} fields, or one with a name of more than {POINTER} bytes"))
        }
    }
}

struct Walk<'u> {
    units: Units<'u>,
    path: Vec<String>,
    /// The length of the path as a JSON pointer.
    bytes: usize,
    found: Vec<Reading>,
}

impl Walk<'_> {
    /// Adds the values in `json`, which is at `place`. Returns whether they are within the limits.
    fn walk(&mut self, json: Json, place: &Place<'_>) -> bool {
        // Bytes and numbers that JSON lacks are objects in it.
        let is_folder = json.is_object() && DataType::natural(&json) == DataType::STRING;
        match json {
            Json::Object(fields) if is_folder && !fields.is_empty() => {
                fields.into_iter().all(|(name, json)| {
                    let bytes = self.bytes;
                    self.bytes += 1 + name.len();
                    let place = place.field(&name);
                    self.path.push(name);
                    let is_within = self.bytes <= POINTER && self.walk(json, &place);
                    self.path.pop();
                    self.bytes = bytes;
                    is_within
                })
            }
            json => {
                let levels: Vec<_> = self.path.iter().map(|name| level_of(name)).collect();
                let name = if levels.is_empty() { WHOLE.to_owned() } else { levels.join("/") };
                let unit = self.units.at(&self.path).map(str::to_owned);
                self.found.push(Reading { name, json, declared: place.declared(), unit });
                self.found.len() <= LEAVES
            }
        }
    }
}

impl Reading {
    /// Returns the metric of the value, which was captured at `timestamp`. `known` is the type that the metric has so far.
    pub fn metric(&self, timestamp: u64, known: Option<DataType>) -> Metric {
        let (datatype, value) = self.typed(known);
        Metric {
            properties: self.properties(),
            ..Metric::new(&self.name, timestamp, datatype.number(), value)
        }
    }

    /// Returns the type and the value: in the type that the schema declares, else in the known one, else in that of the JSON.
    fn typed(&self, known: Option<DataType>) -> (DataType, Option<Value>) {
        let declared = self.declared.as_ref().map(|declared| declared.datatype);
        if self.json.is_null() {
            return (declared.or(known).unwrap_or(DataType::STRING), None);
        }
        let as_declared = declared.and_then(|kind| Some((kind, self.as_declared(kind)?)));
        let as_known = || known.and_then(|kind| Some((kind, kind.fit(&self.json)?)));
        if let Some((kind, value)) = as_declared.or_else(as_known) {
            return (kind, Some(value));
        }
        let natural = DataType::natural(&self.json);
        (natural, Some(natural.fit(&self.json).unwrap_or_else(|| self.text())))
    }

    fn as_declared(&self, kind: DataType) -> Option<Value> {
        match (kind, &self.json) {
            // The schema says that this text is a number.
            (DataType::DOUBLE, Json::String(text)) => {
                text.parse().ok().filter(|number: &f64| number.is_finite()).map(Value::Double)
            }
            // The schema says that it may be a text, too.
            (DataType::STRING, json) if !json.is_string() => Some(self.text()),
            (kind, json) => kind.fit(json),
        }
    }

    fn text(&self) -> Value {
        Value::String(self.json.to_string())
    }

    /// Returns the unit and the range, with the names that Ignition has for them.
    fn properties(&self) -> Option<PropertySet> {
        let mut set = PropertySet::default();
        if let Some(unit) = &self.unit {
            set.push("engUnit", PropertyValue::String(unit.clone()));
        }
        let bounds = self.declared.as_ref().map_or((None, None), |declared| (declared.low, declared.high));
        for (key, bound) in [("engLow", bounds.0), ("engHigh", bounds.1)] {
            if let Some(bound) = bound {
                set.push(key, PropertyValue::Double(bound));
            }
        }
        (!set.keys.is_empty()).then_some(set)
    }
}
