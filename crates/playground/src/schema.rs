//! The schema: as the user typed it, or inferred from the messages.

use crate::{
    limits::{MISTAKES, NOTES, SCHEMA_BYTES, SCHEMA_WEIGHT, sentence},
    messages::Messages,
    mistake::{Mistake, Text},
};
use dunnage_formats::{Format, Json, Kind, json_offset};
use dunnage_packed::{Layout, with_slot};
use dunnage_schema::{Model, Options, SchemaError, has_keywords, infer};
use serde::Serialize;
use utoipa::ToSchema;

/// The title of an inferred schema.
const TITLE: &str = "Message";

/// A schema that compiles.
pub struct Compiled {
    pub model: Model,
    pub layout: Layout,
}

/// An inferred schema, with its guesses.
#[derive(Debug, Default, Serialize, ToSchema)]
pub struct Inferred {
    /// The schema's text.
    pub schema: String,
    /// The guesses, in the order of the schema, up to 200.
    pub notes: Vec<Note>,
}

/// A guess.
#[derive(Debug, Serialize, ToSchema)]
pub struct Note {
    /// The field: `position.latitude`, `readings[].value`; `$` is the message itself.
    pub field: String,
    /// The observation and the conclusion.
    pub text: String,
}

/// Compiles a schema that the user typed. It can refer to nothing outside of itself.
pub fn compile(source: &str) -> Result<Compiled, Mistake> {
    if source.len() > SCHEMA_BYTES {
        let detail = format!("the schema has {} bytes; at most {SCHEMA_BYTES} are read", source.len());
        return Err(Mistake::new(Text::Schema, source, SCHEMA_BYTES, "limit", &detail));
    }
    let options = Options { max_weight: SCHEMA_WEIGHT, ..Options::default() };
    let compiled = Model::compile_with(source, options).and_then(|model| Ok((Layout::new(&model)?, model)));
    let (layout, model) = compiled.map_err(|error| mistake(source, &error))?;
    if !has_keywords(source) {
        let detail = "this is not a schema: it has no JSON Schema keyword";
        return Err(Mistake::new(Text::Schema, source, 0, "schema", detail).at(""));
    }
    Ok(Compiled { model, layout })
}

fn mistake(source: &str, error: &SchemaError) -> Mistake {
    // Text that is not JSON has a place of its own.
    if let Err(json) = Json.decode(source.as_bytes())
        && matches!(json.kind(), Kind::Malformed | Kind::Truncated)
    {
        return Mistake::of_json(Text::Schema, source, 0, &json);
    }
    let offset = json_offset(source.as_bytes(), error.pointer()).unwrap_or_default();
    Mistake::new(Text::Schema, source, offset, "schema", error.message()).at(error.pointer())
}

/// Infers a schema from the messages in `source`.
pub fn of_messages(source: &str, messages: &Messages<'_>) -> Result<Inferred, Mistake> {
    let found = &messages.found;
    let texts: Vec<&str> = found.iter().map(|message| &*message.text).collect();
    let inferred = infer(&texts, Some(TITLE)).map_err(|error| {
        let sample = error.sample().and_then(|index| found.get(index));
        let (index, start) = sample.map(|found| (found.index, found.start)).unzip();
        let detail = error.message();
        let mistake = Mistake::new(Text::Messages, source, start.unwrap_or_default(), "schema", detail);
        Mistake { message: index, ..mistake }
    })?;
    let schema = with_slot(&inferred.schema).map_err(|error| mistake(&inferred.schema, &error))?;
    if schema.len() > SCHEMA_BYTES {
        let detail = format!(
            "the schema inferred from them has {} bytes; at most {SCHEMA_BYTES} are shown",
            schema.len()
        );
        return Err(Mistake::new(Text::Messages, source, 0, "limit", &detail));
    }
    let notes = inferred.notes.into_iter().take(NOTES);
    let notes = notes.map(|note| Note { field: sentence(&note.field), text: sentence(&note.text) }).collect();
    Ok(Inferred { schema, notes })
}

/// Returns which of the messages that could be read break the schema, with the mistakes of the first that do.
pub fn violations(source: &str, model: &Model, messages: &Messages<'_>) -> (Vec<bool>, Vec<Mistake>) {
    let (mut broken, mut mistakes) = (Vec::with_capacity(messages.found.len()), Vec::new());
    for found in &messages.found {
        let violation = model.validate(&found.message.value).err();
        broken.push(violation.is_some());
        let Some(violation) = violation.filter(|_| mistakes.len() < MISTAKES) else { continue };
        let at = messages.offset_of(found, violation.pointer());
        let mistake = Mistake::new(Text::Messages, source, at, "schema", violation.message());
        mistakes.push(mistake.of_message(found.index).at(violation.pointer()));
    }
    (broken, mistakes)
}
