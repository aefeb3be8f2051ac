//! `dunnage schema check`: shows the fields of a schema, and validates a message.

use super::{
    fields::{Field, fields},
    packed::Packed,
    table,
};
use crate::{
    failure::{Failure, complain},
    input::{self, Source},
    output::{self, printable},
};
use clap::Args;
use comfy_table::{Attribute, Cell};
use dunnage_formats::{Json, json_offset};
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
/// An error in the schema is reported with the keyword and its JSON pointer, an invalid message with the JSON pointer of
/// each offending value. In both cases the exit code is 1.
#[derive(Args)]
pub struct Check {
    /// A JSON Schema file, the name of a bundled schema, or - for standard input
    #[arg(value_name = "SCHEMA")]
    schema: String,
    #[command(flatten)]
    schemas: input::Schemas,
    /// JSON message to validate; - for standard input
    #[arg(value_name = "FILE")]
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
    /// The first of the violations.
    #[serde(skip_serializing_if = "Option::is_none")]
    violation: Option<Fault<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    violations: Vec<Fault<'a>>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    warnings: &'a [String],
}

#[derive(Serialize, Clone, Copy)]
struct Fault<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    keyword: Option<&'a str>,
    pointer: &'a str,
    /// Offset of the value in the message, in bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    offset: Option<usize>,
    message: &'a str,
}

impl Check {
    pub fn run(self) -> Result<(), Failure> {
        let text = self.schemas.text(&self.schema)?;
        let model = match self.schemas.compile(&self.schema, &text) {
            Ok(model) => model,
            Err(error) => return self.schema_error(&error),
        };
        let packed = match Layout::new(&model) {
            Ok(layout) => Packed::of(&layout),
            Err(error) => return self.schema_error(&error),
        };
        let warnings = dunnage_schema::warnings(&text);
        for warning in &warnings {
            complain(format_args!("{}: warning: {warning}", self.schema));
        }
        let message = self.message.clone().map(Source::from);
        let violations = message.as_ref().map(|source| validate(&model, source)).transpose()?;
        if self.json {
            self.print_json(&model, packed, violations.as_deref(), &warnings)?;
        } else {
            let is_valid = violations.as_ref().is_some_and(Vec::is_empty);
            print_text(&model, &packed, message.as_ref().filter(|_| is_valid))?;
        }
        match (message, violations) {
            (Some(source), Some(violations)) if !violations.is_empty() => {
                for Found { violation, offset } in violations {
                    let joint = if violation.pointer().is_empty() { " at" } else { "," };
                    let place = offset.map(|offset| format!("{joint} byte {offset}")).unwrap_or_default();
                    complain(format_args!("{source}: {violation}{place}"));
                }
                Err(Failure::Reported)
            }
            _ => Ok(()),
        }
    }

    fn print_json(
        &self,
        model: &Model,
        packed: Packed,
        violations: Option<&[Found]>,
        warnings: &[String],
    ) -> Result<(), Failure> {
        let faults = violations.unwrap_or_default().iter().map(|found| Fault {
            keyword: None,
            pointer: found.violation.pointer(),
            offset: found.offset,
            message: found.violation.message(),
        });
        let faults: Vec<Fault<'_>> = faults.collect();
        print(&Report {
            name: Some(model.name()),
            packed: Some(packed),
            fields: Some(fields(model)),
            valid: violations.map(<[_]>::is_empty),
            violation: faults.first().copied(),
            violations: faults,
            warnings,
            error: None,
        })
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

/// A violation of the schema by a message.
struct Found {
    violation: Violation,
    /// Offset of the offending value in the message's text, in bytes.
    offset: Option<usize>,
}

/// Prints the table of fields, and which message is valid.
fn print_text(model: &Model, packed: &Packed, valid: Option<&Source>) -> Result<(), Failure> {
    let mut output = output::stdout();
    table::write(&mut output, &COLUMNS, rows(model))?;
    writeln!(output, "\n{}", packed.line())?;
    if let Some(source) = valid {
        writeln!(output, "\n{source} is valid")?;
    }
    Ok(output.flush()?)
}

/// Reads the JSON message and validates it against `model`. Returns all violations.
fn validate(model: &Model, source: &Source) -> Result<Vec<Found>, Failure> {
    let text = source.message(false)?;
    let message = Json.decode_sample(&text);
    let message = message.map_err(|error| {
        source.blame(input::json_failure(
            error,
            &text,
            "`dunnage convert --lines --from json --to packed --schema` checks many",
        ))
    })?;
    let found = |violation: Violation| {
        let offset = json_offset(&text, violation.pointer());
        Found { violation, offset }
    };
    Ok(model.violations(&message).into_iter().map(found).collect())
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
            Cell::new(printable(&field.field)).add_attribute(Attribute::Bold),
            Cell::new(field.kind),
            Cell::new(field.places.map_or(String::new(), |places| places.to_string())),
            Cell::new(if field.required { "yes" } else { "no" }),
            Cell::new(field.values.lines().map(printable).collect::<Vec<_>>().join("\n")),
        ]
    })
}
