//! The savings of changes to a schema: each is measured on the layout that it gives, and on messages that were seen.

use crate::{Layout, Value, other_slot};
use dunnage_schema::{
    Model, SchemaError,
    shrink::{self, Cost},
    with_keyword,
};
use std::cmp::Reverse;

/// The sizes of messages.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Sizes {
    /// The bits of the largest message that the schema allows; `None` if its size is unbounded, or if it is not plain.
    pub largest: Option<u64>,
    /// The bytes of the largest message that was seen.
    pub seen: usize,
    /// The bytes of all messages that were seen.
    pub total: usize,
}

impl Sizes {
    /// Measures messages. Returns `None` if one of them cannot be encoded.
    fn of(schema: &str, messages: &[Value]) -> Result<Option<Sizes>, SchemaError> {
        let layout = Layout::untrained(&Model::compile(schema)?);
        let largest = layout.max_bytes().and(layout.root().bits().max);
        let around = 8 * (u64::from(layout.has_slot_byte()) + u64::from(layout.model().check()));
        let mut sizes = Sizes { largest: largest.map(|bits| bits + around), seen: 0, total: 0 };
        let mut bytes = Vec::new();
        for message in messages {
            bytes.clear();
            if layout.encode(message, &mut bytes).is_err() {
                return Ok(None);
            }
            sizes.seen = sizes.seen.max(bytes.len());
            sizes.total += bytes.len();
        }
        Ok(Some(sizes))
    }

    /// Returns whether every message that the schema allows has at most `bytes` bytes.
    pub fn fit(&self, bytes: u64) -> bool {
        self.largest.is_some_and(|bits| bits.div_ceil(8) <= bytes)
    }

    /// Returns by which sizes are compared: those of the largest message, and if there is none, of all that were seen.
    fn rank(&self) -> (u64, usize) {
        (self.largest.unwrap_or(u64::MAX), self.total)
    }
}

/// A change, and the sizes of the messages with it.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Saving {
    /// The change.
    pub change: shrink::Change,
    /// The sizes with it.
    pub sizes: Sizes,
}

/// The answer to a proposed change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Decision {
    /// Make it.
    Take,
    /// Do not make it.
    Leave,
    /// Make no further change.
    Stop,
}

/// Returns the sizes of the messages of `schema`, and the changes that make them smaller, the best first.
///
/// # Errors
/// The schema does not compile, or does not allow one of the messages.
///
/// ```
/// use dunnage_packed::{Value, savings};
///
/// let schema = r#"{"type": "object", "properties": {"state": {"type": "string", "maxLength": 9}}, "required": ["state"], "additionalProperties": false}"#;
/// let message = |n: usize| Value::Map(vec![("state".into(), ["open", "closed"][n % 2].into())]);
/// let messages: Vec<Value> = (0..40).map(message).collect();
///
/// let (before, savings) = savings(schema, &messages)?;
/// assert_eq!(savings[0].change.line, r#""state": { "type": "string", "enum": ["closed", "open"] }"#);
/// assert_eq!((before.seen, savings[0].sizes.seen), (7, 2)); // bytes of the largest message
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn savings(schema: &str, messages: &[Value]) -> Result<(Sizes, Vec<Saving>), SchemaError> {
    let not_encoded = || SchemaError::of_messages("it does not carry one of the messages");
    let before = Sizes::of(schema, messages)?.ok_or_else(not_encoded)?;
    let mut savings = Vec::new();
    for change in shrink::changes(schema, messages)? {
        if let Some(sizes) = Sizes::of(&change.schema, messages)?
            && sizes.rank() < before.rank()
        {
            savings.push(Saving { change, sizes });
        }
    }
    savings.sort_by_key(|saving| (saving.sizes.rank(), saving.change.cost));
    Ok((before, savings))
}

/// Applies changes: those of the lowest [`Cost`] first, and of these the best first. `wants` decides about each, with the sizes before it; one that it
/// leaves is not proposed again. Returns the schema, which has another slot if it has changed, and its sizes.
///
/// # Errors
/// As for [`savings`].
///
/// ```
/// use dunnage_packed::{Decision, Sizes, Value, shrunk};
/// use dunnage_schema::shrink::Cost;
///
/// let schema = r#"{"type": "object", "properties": {"state": {"type": "string", "maxLength": 9}}, "required": ["state"], "additionalProperties": false}"#;
/// let message = |n: usize| Value::Map(vec![("state".into(), ["open", "closed"][n % 2].into())]);
/// let messages: Vec<Value> = (0..40).map(message).collect();
///
/// // Changes until each message fits 4 bytes, and rounds nothing.
/// let (schema, sizes) = shrunk(schema, &messages, |sizes: &Sizes, saving| match sizes.fit(4) || saving.change.cost == Cost::Decimals {
///     true => Decision::Stop,
///     false => Decision::Take,
/// })?;
/// assert!(sizes.fit(4) && schema.contains("x-dunnage-slot"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn shrunk(
    schema: &str,
    messages: &[Value],
    mut wants: impl FnMut(&Sizes, &Saving) -> Decision,
) -> Result<(String, Sizes), SchemaError> {
    let (mut changed, mut left) = (None, Vec::new());
    let after = loop {
        let (before, savings) = savings(changed.as_deref().unwrap_or(schema), messages)?;
        let is_open =
            |saving: &Saving| !left.contains(&(saving.change.field.clone(), saving.change.what.clone()));
        let best = savings.into_iter().filter(is_open).min_by_key(|saving| saving.change.cost);
        match best.map(|best| (wants(&before, &best), best)) {
            Some((Decision::Take, best)) => changed = Some(best.change.schema),
            Some((Decision::Leave, best)) => left.push((best.change.field, best.change.what)),
            Some((Decision::Stop, _)) | None => break before,
        }
    };
    let Some(changed) = changed else { return Ok((schema.to_owned(), after)) };
    Ok((with_other_slot(&changed, schema)?, after))
}

/// Returns `changed` with another slot than that of `schema`.
fn with_other_slot(changed: &str, schema: &str) -> Result<String, SchemaError> {
    let slot = other_slot(&Layout::untrained(&Model::compile(changed)?), Model::compile(schema)?.slot());
    with_keyword(changed, "x-dunnage-slot", slot.into())
}

/// A schema that was changed for a limit.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Fitted {
    /// The schema, with another slot if it has changed.
    pub schema: String,
    /// The changes that were made, each with the sizes after it.
    pub made: Vec<Saving>,
    /// The sizes with all changes.
    pub sizes: Sizes,
}

/// Applies the changes with which every message fits `bytes` bytes. One of a high [`Cost`] is made only if those of a lower one are not enough,
/// and none rounds. If even all are not enough, all are made.
///
/// # Errors
/// As for [`savings`].
pub fn fitted(schema: &str, messages: &[Value], bytes: u64) -> Result<Fitted, SchemaError> {
    let mut made = Vec::new();
    let wants = |before: &Sizes, saving: &Saving| match &saving.change {
        change if before.fit(bytes) || change.cost == Cost::Decimals => Decision::Stop,
        change => {
            made.push(change.clone());
            Decision::Take
        }
    };
    let (_, sizes) = shrunk(schema, messages, wants)?;
    if sizes.fit(bytes) {
        made = needed(schema, messages, bytes, made)?;
    }
    let mut fitted = Fitted { schema: schema.to_owned(), made: Vec::new(), sizes };
    for change in shrink::remade(schema, messages, &made)?.unwrap_or(made) {
        if let Some(sizes) = Sizes::of(&change.schema, messages)? {
            (fitted.schema, fitted.sizes) = (change.schema.clone(), sizes);
            fitted.made.push(Saving { change, sizes });
        }
    }
    if !fitted.made.is_empty() {
        fitted.schema = with_other_slot(&fitted.schema, schema)?;
    }
    Ok(fitted)
}

/// Returns the changes without those that the others make superfluous. Those of the highest cost are tried first, then those that save least.
fn needed(
    schema: &str,
    messages: &[Value],
    bytes: u64,
    mut made: Vec<shrink::Change>,
) -> Result<Vec<shrink::Change>, SchemaError> {
    let mut dearest: Vec<shrink::Change> = made.iter().rev().cloned().collect();
    dearest.sort_by_key(|change| Reverse(change.cost));
    for change in dearest {
        let mut fewer = made.clone();
        fewer.retain(|kept| (&kept.pointer, &kept.what) != (&change.pointer, &change.what));
        let changed = match shrink::remade(schema, messages, &fewer)? {
            Some(remade) => remade.last().map_or(schema.to_owned(), |last| last.schema.clone()),
            None => continue,
        };
        if Sizes::of(&changed, messages)?.is_some_and(|sizes| sizes.fit(bytes)) {
            made = fewer;
        }
    }
    Ok(made)
}

#[cfg(test)]
mod tests {
    use super::*;

    const HIVE: &str = r#"{"x-dunnage-slot":30,"type":"object","additionalProperties":false,"required":["state","w","at"],"properties":{
        "state":{"type":"string","maxLength":50},"w":{"type":"number","multipleOf":0.01,"minimum":-1000,"maximum":1000},
        "at":{"type":"string","maxLength":50}}}"#;

    fn messages() -> Vec<Value> {
        let message = |n: usize| {
            let text = |text: &str| Value::from(text);
            Value::Map(vec![
                ("state".into(), text(["normal", "swarm", "robbed", "tipped"][n % 4])),
                ("w".into(), Value::F64(20.0 + n as f64 / 100.0)),
                ("at".into(), text(&format!("2026-03-29T12:{:02}:00+02:00", n % 60))),
            ])
        };
        (0..40).map(message).collect()
    }

    #[test]
    fn the_best_change_is_first_and_its_size_is_that_of_its_schema() {
        let (before, savings) = savings(HIVE, &messages()).unwrap();
        let fields: Vec<&str> = savings.iter().map(|saving| saving.change.field.as_str()).collect();
        assert_eq!(
            (fields[0], savings[0].change.line.as_str()),
            ("state", r#""state": { "type": "string", "enum": ["normal", "robbed", "swarm", "tipped"] }"#)
        );
        assert!(fields.contains(&"at") && fields.contains(&"w"), "{fields:?}");
        for saving in &savings {
            let layout = Layout::untrained(&Model::compile(&saving.change.schema).unwrap());
            assert_eq!(saving.sizes.largest.map(|bits| bits.div_ceil(8)), layout.max_bytes());
            assert!(saving.sizes.rank() < before.rank());
        }
    }

    const VESSEL: &str = r#"{"type":"object","additionalProperties":false,"required":["id","state","n"],"properties":{
        "id":{"type":"string","maxLength":50},"state":{"type":"string","maxLength":9},"n":{"type":"integer","minimum":0,"maximum":1000}}}"#;

    fn vessels() -> Vec<Value> {
        let message = |n: usize| {
            Value::Map(vec![
                ("id".into(), Value::from(["vessel-0042", "vessel-0043"][n % 2])),
                ("state".into(), Value::from(["open", "closed"][n % 2])),
                ("n".into(), Value::U64(400 + (7 * n as u64) % 40)),
            ])
        };
        (0..40).map(message).collect()
    }

    #[test]
    fn changes_that_later_messages_hardly_break_come_first() {
        let mut made = Vec::new();
        let all = |_: &Sizes, saving: &Saving| {
            made.push((saving.change.field.clone(), saving.change.cost));
            Decision::Take
        };
        shrunk(VESSEL, &vessels(), all).unwrap();
        let made: Vec<_> = made.iter().map(|(field, cost)| (field.as_str(), *cost)).collect();
        let expected = [
            ("state", Cost::OtherForms),
            ("n", Cost::FarNumbers),
            ("id", Cost::OtherDevices),
            ("n", Cost::UnseenValues),
        ];
        assert_eq!(made, expected);
    }

    /// Each state was seen once. Remarks of several words stay texts.
    #[test]
    fn words_that_were_seen_once_become_an_enumeration_if_the_link_needs_it() {
        let schema = r#"{"type":"object","additionalProperties":false,"required":["state","note"],"properties":{
            "state":{"type":"string","maxLength":20},"note":{"type":"string","maxLength":20}}}"#;
        let message = |state: &str, note: &str| {
            Value::Map(vec![("state".into(), state.into()), ("note".into(), note.into())])
        };
        let messages =
            [message("off", "on its way"), message("low", "as before"), message("fault", "no fan")];
        let fitted = fitted(schema, &messages, 90).unwrap();
        let made: Vec<_> = fitted.made.iter().map(|saving| &saving.change).collect();
        assert_eq!((made.len(), made[0].field.as_str(), made[0].cost), (1, "state", Cost::UnseenValues));
        assert!(fitted.schema.contains("\"enum\""), "{}", fitted.schema);
    }

    /// A message of 40 bytes has no room for an identifier of 50 characters, but for all else as it is.
    #[test]
    fn a_change_that_others_make_superfluous_is_not_made() {
        let fields = |bytes| {
            let fitted = fitted(VESSEL, &vessels(), bytes).unwrap();
            let made = fitted.made.iter().map(|saving| saving.change.field.clone()).collect::<Vec<_>>();
            assert_eq!(fitted.made.last().map_or(fitted.sizes, |last| last.sizes), fitted.sizes);
            for message in vessels() {
                assert_eq!(Model::compile(&fitted.schema).unwrap().validate(&message), Ok(()));
            }
            (made.join(" "), fitted.sizes.fit(bytes), fitted.schema == VESSEL)
        };
        assert_eq!(fields(500), (String::new(), true, true));
        assert_eq!(fields(40), ("id".into(), true, false));
        assert_eq!(fields(3), ("state id".into(), true, false));
        assert_eq!(fields(2), ("state id n".into(), true, false));
        assert_eq!(fields(0), ("state n id n".into(), false, false));
    }

    #[test]
    fn changes_are_made_until_the_message_fits_and_its_slot_is_another() {
        let fits = |sizes: &Sizes, saving: &Saving| match sizes.fit(9) || saving.change.cost == Cost::Decimals
        {
            true => Decision::Stop,
            false => Decision::Take,
        };
        let (schema, sizes) = shrunk(HIVE, &messages(), fits).unwrap();
        let model = Model::compile(&schema).unwrap();
        assert!(sizes.fit(9), "{sizes:?} {schema}");
        assert_ne!(model.slot(), 30);
        for message in messages() {
            assert_eq!(model.validate(&message), Ok(()));
        }
        let (same, _) = shrunk(HIVE, &messages(), |_, _| Decision::Leave).unwrap();
        assert_eq!(same, HIVE);
        // A schema that does not name its slot has the slot 1, which the changed one must not have.
        let unnamed = HIVE.replacen(r#""x-dunnage-slot":30,"#, "", 1);
        let (schema, _) = shrunk(&unnamed, &messages(), fits).unwrap();
        assert_ne!(Model::compile(&schema).unwrap().slot(), 1);
        let other = Value::Map(vec![("state".into(), Value::from("calm"))]);
        assert!(savings(HIVE, &[other]).is_err());
        let (coarse, _) = shrunk(HIVE, &messages(), |_, saving| match saving.change.cost == Cost::Decimals {
            true => Decision::Take,
            false => Decision::Leave,
        })
        .unwrap();
        assert!(coarse.contains("\"x-dunnage-round\": true"), "{coarse}");
    }
}
