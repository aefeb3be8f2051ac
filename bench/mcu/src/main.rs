//! Measures the device library, and peers, on microcontrollers: cycles, stack, flash and RAM, by running firmware in simulators.

mod results;

use clap::{Parser, Subcommand};
use std::process::ExitCode;

/// Whatever stops a measurement.
type Failure = Box<dyn std::error::Error + Send + Sync>;

#[derive(Parser)]
#[command(about = "Measures the device library on microcontrollers.\nWithout a command: everything.")]
struct Arguments {
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Subcommand)]
enum Command {
    /// Cycles, stack, flash and RAM on the ATmega328P
    Avr,
}

fn main() -> ExitCode {
    match run(Arguments::parse().command) {
        Ok(()) => ExitCode::SUCCESS,
        Err(e) => {
            eprintln!("error: {e}");
            ExitCode::FAILURE
        }
    }
}

fn run(command: Option<Command>) -> Result<(), Failure> {
    match command {
        Some(Command::Avr) | None => Err("nothing is measured yet".into()),
    }
}
