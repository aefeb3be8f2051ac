//! Measures the device library, and peers, on microcontrollers: cycles, stack, flash and RAM, by running firmware in simulators.

mod avr;
mod avr_table;
mod budget;
mod generate;
mod layout;
mod payloads;
mod report;
mod results;
mod shape;
mod toolchain;

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
    Avr {
        /// Only the firmware with these payloads; nothing is then written to the results
        payloads: Vec<String>,
        /// With each of the four sets of compiler options, instead of only -Os -flto
        #[arg(long)]
        all: bool,
    },
    /// Fails when cycles, stack, flash or RAM on the ATmega328P drifted from c/tests/budget.txt
    Budget {
        /// Writes what is measured as the new budget
        #[arg(long)]
        accept: bool,
    },
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
        Some(Command::Avr { payloads, all }) => measure_avr(&payloads, all),
        Some(Command::Budget { accept }) => {
            let rows = measured_avr(&payloads::groups()?, &avr::OPTIONS[..1])?;
            if accept { budget::accept(&rows) } else { budget::check(&rows) }
        }
        None => measure_avr(&[], true),
    }
}

fn measure_avr(names: &[String], all: bool) -> Result<(), Failure> {
    let mut groups = payloads::groups()?;
    groups.extend(payloads::dropped()?);
    let groups = payloads::only(groups, names);
    let options = if all { &avr::OPTIONS[..] } else { &avr::OPTIONS[..1] };
    let rows = measured_avr(&groups, options)?;
    if names.is_empty() {
        results::replace(&rows)?;
        println!("\n{} results in bench/results/mcu.jsonl", rows.len());
    }
    Ok(())
}

/// Measures and prints; fails at the end when anything went wrong.
fn measured_avr(groups: &[payloads::Group], options: &[&str]) -> Result<Vec<results::Row>, Failure> {
    let avr = avr::Avr::new()?;
    let mut rows = Vec::new();
    let mut failures = Vec::new();
    for options in options {
        let measured = avr::measure(&avr, groups, options)?;
        avr_table::print(&measured.rows, options);
        rows.extend(measured.rows);
        failures.extend(measured.failures);
    }
    if failures.is_empty() {
        return Ok(rows);
    }
    Err(failures.iter().map(|failure| format!("\n{failure}")).collect::<String>().into())
}
