//! The messages, and their sizes in every format.

use crate::{
    compare::Comparison,
    failure::Failure,
    input::{self, Source},
};
use dunnage_formats::{Format, Json};
use dunnage_packed::Layout;
use dunnage_schema::Model;
use std::path::PathBuf;

/// A message of the fleet.
pub struct Message {
    /// Its file, or its place among the schema's examples.
    pub name: String,
    /// It as compact JSON.
    pub text: Vec<u8>,
}

/// Reads the messages in `files`, or the schema's examples if there are none.
pub fn messages(schema: &str, schema_text: &str, files: &[PathBuf]) -> Result<Vec<Message>, Failure> {
    let mut messages = Vec::new();
    if files.is_empty() {
        for (index, example) in input::schema_examples(schema, schema_text)?.iter().enumerate() {
            let mut text = Vec::new();
            Json.encode(example, &mut text)?;
            messages.push(Message { name: format!("{schema}#/examples/{index}"), text });
        }
        if messages.is_empty() {
            let reason = format!("schema {schema} has no examples: give messages with --message FILE");
            return Err(Failure::Usage(reason));
        }
    }
    for path in files {
        let source = Source::from(path.clone());
        let bytes = source.message(false)?;
        let message = Json.decode(&bytes);
        let message = message.map_err(|error| {
            source.blame(input::json_failure(error, &bytes, "give each its own --message FILE"))
        })?;
        let mut text = Vec::new();
        Json.encode(&message, &mut text)?;
        messages.push(Message { name: source.to_string(), text });
    }
    Ok(messages)
}

/// The formats that carry all messages, smallest first, and those that do not.
pub struct Sizes {
    pub formats: Vec<FormatSizes>,
    /// Formats that cannot carry some message, each with the reason.
    pub refused: Vec<(String, String)>,
}

/// The sizes of the messages in one format.
pub struct FormatSizes {
    /// For example `protobuf` or `protobuf (float32)`.
    pub format: String,
    /// The bytes of each message.
    pub bytes: Vec<usize>,
    /// Whether every message decodes to the same value.
    pub lossless: bool,
    /// The bytes of the largest message that the schema allows, where they can be computed.
    pub schema_max: Option<usize>,
}

impl Sizes {
    /// Encodes the messages. Errors name the message, and the pointer of a value that the schema does not
    /// allow.
    pub fn measure(model: &Model, messages: &[Message]) -> Result<Sizes, Failure> {
        let packed_max = Layout::untrained(model).max_bytes().and_then(|bytes| usize::try_from(bytes).ok());
        let mut formats: Vec<FormatSizes> = Vec::new();
        let mut refused: Vec<(String, String)> = Vec::new();
        for message in messages {
            let value = Json.decode(&message.text)?;
            if let Err(violation) = model.validate(&value) {
                return Err(Failure::about(
                    &message.name,
                    format!("the schema does not allow it: {violation}"),
                ));
            }
            let comparison = Comparison::measure(&message.text, Some(model), Vec::new())?;
            for row in &comparison.rows {
                match &row.outcome {
                    Ok(outcome) => {
                        let known = formats.iter_mut().find(|known| known.format == row.format);
                        if let Some(known) = known {
                            known.bytes.push(outcome.bytes);
                            known.lossless &= outcome.lossless;
                        } else {
                            let schema_max = packed_max.filter(|_| row.format.starts_with("packed"));
                            let (format, bytes) = (row.format.clone(), vec![outcome.bytes]);
                            formats.push(FormatSizes {
                                format,
                                bytes,
                                lossless: outcome.lossless,
                                schema_max,
                            });
                        }
                    }
                    Err(error) => {
                        if refused.iter().all(|(format, _)| *format != row.format) {
                            refused.push((row.format.clone(), format!("{}: {error}", message.name)));
                        }
                    }
                }
            }
        }
        formats.retain(|sizes| refused.iter().all(|(format, _)| *format != sizes.format));
        formats.sort_by(|a, b| a.mean().total_cmp(&b.mean()).then_with(|| b.lossless.cmp(&a.lossless)));
        Ok(Sizes { formats, refused })
    }

    /// The sizes in the format of this name.
    pub fn of(&self, format: &str) -> Option<&FormatSizes> {
        self.formats.iter().find(|sizes| sizes.format == format)
    }
}

impl FormatSizes {
    /// The mean of the messages, in bytes.
    pub fn mean(&self) -> f64 {
        self.bytes.iter().sum::<usize>() as f64 / self.bytes.len().max(1) as f64
    }

    /// The largest of the messages, in bytes.
    pub fn largest(&self) -> usize {
        self.bytes.iter().copied().max().unwrap_or(0)
    }
}
