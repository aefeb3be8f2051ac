//! `dunnage gateway check`.

use crate::{failure::Failure, output};
use clap::Args;
use std::{io::Write, path::PathBuf};

/// Report every mistake in a configuration
///
/// Prints one line per mistake, with file, line, column and key. Checks the TOML, its keys and values, the schemas,
/// definitions and tokens that it names, and the environment. Starts nothing and opens no connection. The exit code is 1 if
/// there are mistakes.
///
/// A slot must keep the layout that stored messages have. `reload` also compares it with the layouts of the running gateway, and
/// can therefore refuse a schema in which this command finds no mistake.
#[derive(Args)]
pub struct Check {
    /// Configuration file
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
}

impl Check {
    pub fn run(self) -> Result<(), Failure> {
        let runtime = super::runtime()?;
        let mistakes = runtime.block_on(async { dunnage_gateway::check(self.config.as_deref()) });
        let mut output = output::stdout();
        for mistake in &mistakes {
            writeln!(output, "{mistake}")?;
        }
        let count = mistakes.len();
        writeln!(output, "{count} {}", if count == 1 { "mistake" } else { "mistakes" })?;
        output.flush()?;
        if count == 0 { Ok(()) } else { Err(Failure::Reported) }
    }
}
