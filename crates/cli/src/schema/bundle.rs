//! `dunnage schema bundle`: writes a schema and the files that it refers to as one schema.

use crate::{failure::Failure, input};
use clap::Args;
use std::io::{self, Write};

/// Write a schema and the files that it refers to as one schema
///
/// Searches for the files only in the folders of --schema-dir, and uses those of --schema-map. Puts them under $defs, each with an
/// $id, so that the result is self-contained.
#[derive(Args)]
pub struct Bundle {
    /// A JSON Schema file
    #[arg(value_name = "SCHEMA")]
    schema: String,
    #[command(flatten)]
    schemas: input::Schemas,
}

impl Bundle {
    pub fn run(self) -> Result<(), Failure> {
        let text = self.schemas.text(&self.schema)?;
        self.schemas
            .compile(&self.schema, &text)
            .map_err(|e| Failure::about(&self.schema, input::schema_reason(&e)))?;
        let mut output = io::stdout().lock();
        output.write_all(text.as_bytes())?;
        if !text.ends_with('\n') {
            output.write_all(b"\n")?;
        }
        Ok(output.flush()?)
    }
}
