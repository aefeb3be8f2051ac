//! The row of a message: a line for `COPY`.

use super::{place::Place, table::Ready, value};
use crate::{Message, origin};
use dunnage_base::clock;
use dunnage_codegen::sql::{Column, Provenance, Source};
use serde::de::{Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;
use std::{borrow::Cow, fmt};

/// Appends the line of `message` to `out`. An error names the column that cannot hold its value.
pub fn write(ready: &Ready, message: &Message, out: &mut Vec<u8>) -> Result<(), String> {
    let whole: &RawValue =
        serde_json::from_str(&message.json).map_err(|e| format!("the JSON is invalid: {e}"))?;
    let mut fields = vec![None; ready.table.columns.len()];
    let rest = match ready.is_typed {
        true => take(whole, &ready.places, &mut fields).map_err(|e| format!("the JSON is invalid: {e}"))?,
        false => None,
    };
    for (at, (column, kind)) in ready.table.columns.iter().zip(&ready.kinds).enumerate() {
        if at > 0 {
            out.push(b'\t');
        }
        let text: Option<Cow<'_, str>> = match &column.source {
            Source::Provenance(provenance) => self::provenance(*provenance, message),
            Source::Rest => rest.as_deref().map(Cow::Borrowed),
            Source::Message => Some(Cow::Borrowed(whole.get())),
            Source::Field(_) => match fields[at] {
                Some(json) => value::text(kind, json).map_err(|e| named(column, &e))?,
                None => None,
            },
        };
        value::copy(text.as_deref(), out).map_err(|e| named(column, e))?;
    }
    out.push(b'\n');
    Ok(())
}

fn named(column: &Column, reason: &str) -> String {
    format!("column {:?} ({}): {reason}", column.name, column.kind.name())
}

fn provenance(provenance: Provenance, message: &Message) -> Option<Cow<'_, str>> {
    let borrowed = |text: &'_ str| Some(Cow::Owned(text.to_owned()));
    match provenance {
        Provenance::Name => Some(Cow::Borrowed(&*message.stable_id)),
        Provenance::Device => Some(Cow::Borrowed(&*message.device)),
        Provenance::DeviceName => message.device_name().map(Cow::Borrowed),
        Provenance::Tags => message.tags_json().map(Cow::Owned),
        Provenance::ReceivedAt => Some(Cow::Owned(clock::rfc3339_micros(message.received_at))),
        Provenance::SentAt => {
            origin::sent_at(message.origin.as_deref()?).map(|sent| Cow::Owned(clock::rfc3339_micros(sent)))
        }
        Provenance::Schema => message.schema.as_deref().map(Cow::Borrowed),
        Provenance::Link => message.link.as_deref().map(Cow::Borrowed),
        Provenance::Bytes => borrowed(&message.raw.len().to_string()),
        Provenance::Origin => message.origin.as_deref().map(Cow::Borrowed),
    }
}

/// Takes the values that have a column. Returns the fields that have none, as an object, or the value itself if it is not the object that
/// the columns are for.
fn take<'j>(
    json: &'j RawValue,
    place: &Place,
    columns: &mut [Option<&'j str>],
) -> serde_json::Result<Option<String>> {
    let fields = match place {
        Place::Column(at) => {
            columns[*at] = Some(json.get()).filter(|json| *json != "null");
            return Ok(None);
        }
        Place::Object(_) if json.get() == "null" => return Ok(None),
        Place::Object(_) if !json.get().starts_with('{') => return Ok(Some(json.get().to_owned())),
        Place::Object(fields) => fields,
    };
    let mut rest = String::new();
    for (key, value) in entries(json)? {
        let left = match fields.get(&*key) {
            Some(place) => take(value, place, columns)?,
            None => Some(value.get().to_owned()),
        };
        if let Some(left) = left {
            rest.push(if rest.is_empty() { '{' } else { ',' });
            rest.push_str(&serde_json::to_string(&*key)?);
            rest.push(':');
            rest.push_str(&left);
        }
    }
    if rest.is_empty() {
        return Ok(None);
    }
    rest.push('}');
    Ok(Some(rest))
}

/// Returns the fields of an object.
fn entries(json: &RawValue) -> serde_json::Result<Vec<(Cow<'_, str>, &RawValue)>> {
    struct Entries;
    impl<'de> Visitor<'de> for Entries {
        type Value = Vec<(Cow<'de, str>, &'de RawValue)>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("an object")
        }

        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
            let mut entries = Vec::new();
            while let Some((key, value)) = map.next_entry::<Key<'de>, &'de RawValue>()? {
                entries.push((key.0, value));
            }
            Ok(entries)
        }
    }
    serde_json::Deserializer::from_str(json.get()).deserialize_map(Entries)
}

/// A key, copied only if it has escapes.
#[derive(serde::Deserialize)]
struct Key<'a>(#[serde(borrow)] Cow<'a, str>);
