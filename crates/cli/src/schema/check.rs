//! `dunnage schema check`: what a schema says, and whether a message obeys it.

use super::{
    fields::{Field, fields},
    packed::Packed,
    table,
};
use crate::{
    failure::{Failure, complain},
    input, output,
};
use clap::Args;
use comfy_table::{Attribute, Cell};
use dunnage_formats::{Id, Mapping, json_offset};
use dunnage_packed::Layout;
use dunnage_schema::{Model, SchemaError, Violation};
use serde::Serialize;
use std::{
    io::{self, Write},
    path::PathBuf,
};

const COLUMNS: [table::Column; 5] = [
    table::text("field"),
    table::text("type"),
    table::number("places"),
    table::text("required"),
    table::text("values"),
];

/// Compile a schema and show its fields; with a message, validate it
///
/// An error in the schema names the keyword and its JSON pointer; a message that breaks the schema is
/// reported with the JSON pointer of the offending value. Either way the exit code is 1.
#[derive(Args)]
pub struct Check {
    /// A JSON Schema file, or the name of a bundled schema
    #[arg(value_name = "SCHEMA")]
    schema: String,
    /// A message to validate, as JSON; - is standard input
    #[arg(value_name = "MESSAGE.json")]
    message: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// The report of `--json`.
#[derive(Serialize, Default)]
struct Report<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    fields: Option<Vec<Field>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    packed: Option<Packed>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<Fault<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    valid: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    violation: Option<Fault<'a>>,
}

#[derive(Serialize)]
struct Fault<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    keyword: Option<&'a str>,
    pointer: &'a str,
    /// Of the value in the message, in bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    offset: Option<usize>,
    message: &'a str,
}

impl Check {
    pub fn run(self) -> Result<(), Failure> {
        let text = input::schema_text(&self.schema)?;
        let model = match Model::compile(&text) {
            Ok(model) => model,
            Err(error) => return self.schema_error(&error),
        };
        let packed = Packed::of(&Layout::new(&model));
        let checked = self.message.as_ref().map(|path| validate(&model, path)).transpose()?;
        let violation = checked.as_ref().and_then(|checked| checked.violation.as_ref());
        let offset = checked.as_ref().and_then(|checked| checked.offset);
        if self.json {
            print(&Report {
                name: Some(&model.name),
                packed: Some(packed),
                fields: Some(fields(&model)),
                valid: checked.as_ref().map(|checked| checked.violation.is_none()),
                violation: violation.map(|v| Fault {
                    keyword: None,
                    pointer: v.pointer(),
                    offset,
                    message: v.message(),
                }),
                error: None,
            })?;
        } else {
            let mut output = output::stdout();
            table::write(&mut output, &COLUMNS, rows(&model))?;
            writeln!(output, "\n{}", packed.line())?;
            if let (Some(path), Some(Checked { violation: None, .. })) = (&self.message, &checked) {
                writeln!(output, "\n{} is valid", path.display())?;
            }
            output.flush()?;
        }
        match (violation, &self.message) {
            (None, _) | (_, None) => Ok(()),
            (Some(violation), Some(path)) => {
                let joint = if violation.pointer().is_empty() { " at" } else { "," };
                let place = offset.map(|offset| format!("{joint} byte {offset}")).unwrap_or_default();
                complain(format_args!("{}: {violation}{place}", path.display()));
                Err(Failure::Reported)
            }
        }
    }

    fn schema_error(&self, error: &SchemaError) -> Result<(), Failure> {
        if self.json {
            let keyword = Some(error.keyword()).filter(|keyword| !keyword.is_empty());
            let fault = Fault { keyword, pointer: error.pointer(), offset: None, message: error.message() };
            print(&Report { error: Some(fault), ..Report::default() })?;
        }
        Err(Failure::about(&self.schema, input::schema_reason(error)))
    }
}

/// A message that was held against a schema.
struct Checked {
    /// How it breaks the schema.
    violation: Option<Violation>,
    /// Where the value that does begins in the message's text.
    offset: Option<usize>,
}

/// Reads the JSON message in `path` and holds it against `model`.
fn validate(model: &Model, path: &std::path::Path) -> Result<Checked, Failure> {
    let text = input::message_file(path)?;
    let message =
        Id::Json.open(None, Mapping::Exact)?.decode(&text).map_err(|e| Failure::about(path.display(), e))?;
    let violation = model.validate(&message).err();
    let offset = violation.as_ref().and_then(|violation| json_offset(&text, violation.pointer()));
    Ok(Checked { violation, offset })
}

fn print(report: &Report<'_>) -> Result<(), Failure> {
    let mut output = io::stdout().lock();
    serde_json::to_writer(&mut output, report).map_err(io::Error::from)?;
    writeln!(output)?;
    Ok(output.flush()?)
}

fn rows(model: &Model) -> impl Iterator<Item = [Cell; 5]> {
    fields(model).into_iter().map(|field| {
        [
            Cell::new(&field.field).add_attribute(Attribute::Bold),
            Cell::new(field.kind),
            Cell::new(field.places.map_or(String::new(), |places| places.to_string())),
            Cell::new(if field.required { "yes" } else { "no" }),
            Cell::new(&field.values),
        ]
    })
}
