//! `dunnage schema`: what is made of a schema, and where a schema comes from.

mod check;
mod fields;
mod infer;

use crate::failure::Failure;
use clap::{Args, Subcommand};

/// Infer and check schemas
#[derive(Args)]
pub struct Schema {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Infer(infer::Infer),
    Check(check::Check),
}

impl Schema {
    pub fn run(self) -> Result<(), Failure> {
        match self.command {
            Command::Infer(infer) => infer.run(),
            Command::Check(check) => check.run(),
        }
    }
}
