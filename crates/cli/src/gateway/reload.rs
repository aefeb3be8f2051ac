//! `dunnage gateway reload`.

use super::running::{Which, list, text};
use crate::{failure::Failure, output};
use clap::Args;
use std::io::Write;

/// Make the running gateway reload its profiles, schemas, codecs, tokens, keys, secrets and certificates
///
/// SIGHUP does the same. If there is a mistake, prints it and keeps the old configuration; the exit code is 1.
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
            writeln!(output, "{} has changed and needs a restart", text(what))?;
        }
        for layout in list(&answer["gone_layouts"]) {
            writeln!(
                output,
                "{} is no longer loaded, but stored messages use it: devices that still send it are rejected. Keep its file next to the new one",
                text(layout)
            )?;
        }
        Ok(output.flush()?)
    }
}
