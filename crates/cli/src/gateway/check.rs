//! `dunnage gateway check`.

use crate::{failure::Failure, output};
use clap::Args;
use std::{io::Write, path::PathBuf};

/// Say what is wrong with a configuration, all of it
///
/// Every mistake is a line with file, line, column and key: in the TOML, its keys and values, the schemas, definitions and
/// tokens it names, and the environment. Nothing is started and nobody connected to. Exits with 1 when there are mistakes.
#[derive(Args)]
pub struct Check {
    /// The configuration
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
