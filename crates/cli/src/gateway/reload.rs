//! `dunnage gateway reload`.

use super::running::{Which, list, text};
use crate::{failure::Failure, output};
use clap::Args;
use std::io::Write;

/// Have the running gateway read its profiles, schemas, tokens and keys again
///
/// SIGHUP does the same. A mistake leaves everything as it was, is printed, and makes the exit code 1.
#[derive(Args)]
pub struct Reload {
    #[command(flatten)]
    which: Which,
}

impl Reload {
    pub fn run(self) -> Result<(), Failure> {
        let answer = self.which.post("/reload", &[])?;
        let mut output = output::stdout();
        let profiles = if answer["profiles"] == 1 { "profile" } else { "profiles" };
        let tokens = if answer["tokens"] == 1 { "token" } else { "tokens" };
        let keys = if answer["keys"] == 1 { "key" } else { "keys" };
        let (schemas, count, secrets) = (&answer["schemas"], &answer["tokens"], &answer["keys"]);
        writeln!(
            output,
            "{} {profiles}, {schemas} schemas, {count} {tokens}, {secrets} {keys}",
            answer["profiles"]
        )?;
        for what in list(&answer["needs_restart"]) {
            writeln!(output, "{} has changed, which needs a restart", text(what))?;
        }
        Ok(output.flush()?)
    }
}
