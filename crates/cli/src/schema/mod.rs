//! `dunnage schema`: the commands that create, check and analyse schemas.

mod bundle;
mod check;
mod closed;
mod diff;
mod expected;
mod fields;
mod from_codec;
mod held_out;
mod infer;
mod layout;
mod packed;
mod shrink;
mod size;
pub mod table;
mod tables;
mod train;

use crate::failure::Failure;
use clap::{Args, Subcommand};

/// Infer, check, bundle, measure and compare schemas
#[derive(Args)]
pub struct Schema {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Infer(infer::Infer),
    Check(check::Check),
    Bundle(bundle::Bundle),
    Size(size::Size),
    Layout(layout::Show),
    Diff(diff::Diff),
    Shrink(shrink::Shrink),
    Train(train::Train),
}

impl Schema {
    pub fn run(self) -> Result<(), Failure> {
        match self.command {
            Command::Infer(infer) => infer.run(),
            Command::Check(check) => check.run(),
            Command::Bundle(bundle) => bundle.run(),
            Command::Size(size) => size.run(),
            Command::Layout(show) => show.run(),
            Command::Diff(diff) => diff.run(),
            Command::Shrink(shrink) => shrink.run(),
            Command::Train(train) => train.run(),
        }
    }
}
