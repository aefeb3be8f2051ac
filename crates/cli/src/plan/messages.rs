//! The messages to plan for: files, or the examples of the schema.

use crate::{
    failure::Failure,
    input::{self, Source},
};
use dunnage_formats::Json;
use dunnage_plan::Message;
use dunnage_schema::Model;
use std::path::PathBuf;

/// Reads the messages in `files`, or the schema's examples if there are none. Errors name the message, and the pointer of a value that the
/// schema does not allow.
pub fn read(
    schema: &str,
    schema_text: &str,
    model: &Model,
    files: &[PathBuf],
) -> Result<Vec<Message>, Failure> {
    let mut messages = Vec::new();
    if files.is_empty() {
        for (index, example) in input::schema_examples(schema, schema_text)?.into_iter().enumerate() {
            messages.push(Message::new(format!("{schema}#/examples/{index}"), example)?);
        }
        if messages.is_empty() {
            let reason = format!("schema {schema} has no examples: give messages with --message FILE");
            return Err(Failure::Usage(reason));
        }
    }
    for path in files {
        let source = Source::from(path.clone());
        let bytes = source.message(false)?;
        let message = Json.decode_sample(&bytes);
        let message = message.map_err(|error| {
            source.blame(input::json_failure(
                error,
                &bytes,
                "give each its own --message FILE (`split -l 1` makes files of lines)",
            ))
        })?;
        messages.push(Message::new(source.to_string(), message)?);
    }
    for message in &messages {
        if let Err(violation) = model.validate(&message.value) {
            return Err(Failure::about(&message.name, format!("the schema does not allow it: {violation}")));
        }
    }
    Ok(messages)
}
