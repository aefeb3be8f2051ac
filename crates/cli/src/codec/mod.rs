//! `dunnage codec`: runs the JavaScript with which vendors decode the messages of their devices.

pub mod check;
pub mod difference;
pub mod examples;
mod run;

use crate::failure::Failure;
use clap::{Args, Subcommand};

/// Check and run vendors' JavaScript codecs
#[derive(Args)]
pub struct Codec {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Check(check::Check),
    Run(run::Run),
}

impl Codec {
    pub fn run(self) -> Result<(), Failure> {
        match self.command {
            Command::Check(check) => check.run(),
            Command::Run(run) => run.run(),
        }
    }
}
