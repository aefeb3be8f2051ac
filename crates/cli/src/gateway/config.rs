//! `dunnage gateway config`.

use crate::failure::Failure;
use dunnage_gateway::Config;
use std::io::{self, Write};

/// Prints the default configuration with comments.
pub fn print() -> Result<(), Failure> {
    let mut output = io::stdout().lock();
    output.write_all(Config::commented_default().as_bytes())?;
    Ok(output.flush()?)
}
