//! `dunnage gateway openapi`.

use crate::{failure::Failure, output};
use std::io::Write;

/// Prints the OpenAPI document.
pub fn print() -> Result<(), Failure> {
    let mut output = output::stdout();
    writeln!(output, "{}", dunnage_gateway::openapi())?;
    Ok(output.flush()?)
}
