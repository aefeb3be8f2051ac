//! The messages to plan for: files, or the examples of the schema.

use crate::{
    failure::Failure,
    input::{self, Source},
    several,
};
use clap::Args;
use dunnage_formats::Json;
use dunnage_plan::Message;
use dunnage_schema::Model;
use std::path::PathBuf;

/// Where the messages are.
#[derive(Args)]
pub struct Files {
    /// File with one JSON message, or - for standard input; repeatable, all equally frequent [default: the
    /// schema's examples]
    #[arg(long, value_name = "FILE", num_args = 1..)]
    message: Vec<PathBuf>,
    /// File with one JSON message per line, or CSV with a header, or - for standard input; all messages are
    /// equally frequent
    #[arg(long, value_name = "FILE")]
    messages: Option<PathBuf>,
}

impl Files {
    /// Reads the messages, or takes the schema's examples if there is no file. Errors name the message, and the pointer of a value that
    /// the schema does not allow.
    pub fn read(&self, schema: &str, schema_text: &str, model: &Model) -> Result<Vec<Message>, Failure> {
        let mut messages = Vec::new();
        for path in &self.message {
            let source = Source::from(path.clone());
            let bytes = source.message(false)?;
            let message = Json.decode_sample(&bytes).map_err(|error| {
                source.blame(input::json_failure(error, &bytes, "--messages FILE reads one per line"))
            })?;
            messages.push(Message::new(source.to_string(), message)?);
        }
        if let Some(path) = &self.messages {
            let source = Source::from(path.clone());
            several::each(&source, &source.all()?, |place, text| {
                let message = Json.decode_sample(text).map_err(|error| Failure::about(&place, error))?;
                messages.push(Message::new(place, message)?);
                Ok(())
            })?;
        } else if messages.is_empty() {
            messages = examples(schema, schema_text)?;
        }
        if messages.is_empty() {
            let reason = format!("schema {schema} has no examples: give messages with --messages FILE");
            return Err(Failure::Usage(reason));
        }
        for message in &messages {
            if let Err(violation) = model.validate(&message.value) {
                let reason = format!("the schema does not allow it: {violation}");
                return Err(Failure::about(&message.name, reason));
            }
        }
        Ok(messages)
    }
}

/// The examples of a schema.
fn examples(schema: &str, text: &str) -> Result<Vec<Message>, Failure> {
    let named = |(index, example)| Message::new(format!("{schema}#/examples/{index}"), example);
    let examples = input::schema_examples(schema, text)?.into_iter().enumerate().map(named);
    Ok(examples.collect::<Result<_, _>>()?)
}
