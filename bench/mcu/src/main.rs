//! Measures the device library, and peers, on microcontrollers: cycles, stack, flash and RAM, by running firmware in simulators.

mod arm;
mod avr;
mod board;
mod budget;
#[allow(dead_code)]
mod generate;
mod layout;
mod lx106;
mod measure;
mod payloads;
mod qemu;
mod report;
mod results;
mod riscv;
mod shape;
mod summary;
mod toolchain;

use board::Board;
use clap::{Parser, Subcommand};
use measure::Measured;
use payloads::Group;
use results::Row;
use shape::Floats;
use std::{
    process::ExitCode,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
};

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
    /// Instructions, stack, flash and RAM on Cortex-M0+, M3, M4 and RISC-V; flash on Xtensa lx106
    Qemu {
        /// Only the firmware with these payloads; nothing is then written to the results
        payloads: Vec<String>,
    },
    /// Fails when cycles or instructions, stack, flash or RAM drifted from c/tests/budget.txt
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
        Some(Command::Avr { payloads, all }) => measure_and_keep(&avr_jobs(all)?, &payloads),
        Some(Command::Qemu { payloads }) => measure_and_keep(&qemu_jobs(), &payloads),
        Some(Command::Budget { accept }) => {
            let mut jobs = avr_jobs(false)?;
            jobs.extend(qemu_jobs().into_iter().filter(|job| job.options == REFERENCE_OPTIONS));
            // The budget's lines do not tell the policy for floats.
            jobs.retain(|job| job.board.floats() == Floats::Single);
            let rows = measured(&jobs, &payloads::groups()?)?;
            if accept { budget::accept(&rows) } else { budget::check(&rows) }
        }
        None => {
            let mut jobs = avr_jobs(true)?;
            jobs.extend(qemu_jobs());
            measure_and_keep(&jobs, &[])
        }
    }
}

/// A board, and options to measure it with.
struct Job {
    board: Box<dyn Board>,
    options: &'static str,
}

/// The sets of compiler options that are measured.
const OPTIONS: [&str; 4] = [REFERENCE_OPTIONS, "-Os", "-O2 -flto", "-O2"];

/// Those of the goals and the budget.
const REFERENCE_OPTIONS: &str = "-Os -flto";

fn avr_jobs(all: bool) -> Result<Vec<Job>, Failure> {
    let options = if all { &OPTIONS[..] } else { &OPTIONS[..1] };
    options.iter().map(|options| Ok(Job { board: Box::new(avr::Avr::new()?), options })).collect()
}

fn qemu_jobs() -> Vec<Job> {
    let mut jobs = Vec::new();
    for options in OPTIONS {
        jobs.extend(arm::boards().map(|board| Job { board: Box::new(board), options }));
        jobs.extend(riscv::boards().map(|board| Job { board: Box::new(board), options }));
        jobs.extend(lx106::boards().map(|board| Job { board: Box::new(board), options }));
    }
    jobs
}

fn measure_and_keep(jobs: &[Job], names: &[String]) -> Result<(), Failure> {
    let mut groups = payloads::groups()?;
    groups.extend(payloads::dropped()?);
    let rows = measured(jobs, &payloads::only(groups, names))?;
    if names.is_empty() {
        results::replace(&rows)?;
        println!("\n{} results in bench/results/mcu.jsonl", rows.len());
    }
    Ok(())
}

/// Measures two boards at a time, and prints; fails at the end when anything went wrong.
fn measured(jobs: &[Job], groups: &[Group]) -> Result<Vec<Row>, Failure> {
    let next = AtomicUsize::new(0);
    let results: Vec<Mutex<Option<Result<Measured, Failure>>>> =
        jobs.iter().map(|_| Mutex::default()).collect();
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while let Some((job, result)) =
                    jobs.iter().zip(&results).nth(next.fetch_add(1, Ordering::Relaxed))
                {
                    let measured = measure::measure(&*job.board, groups, job.options);
                    *result.lock().unwrap_or_else(PoisonError::into_inner) = Some(measured);
                }
            });
        }
    });
    let mut rows = Vec::new();
    let mut failures = Vec::new();
    for (job, result) in jobs.iter().zip(results) {
        let result = result.into_inner().unwrap_or_else(PoisonError::into_inner);
        let measured = result.ok_or("a board was not measured")??;
        summary::print(&measured.rows, &*job.board, job.options);
        rows.extend(measured.rows);
        failures.extend(measured.failures);
    }
    if failures.is_empty() {
        return Ok(rows);
    }
    Err(failures.iter().map(|failure| format!("\n{failure}")).collect::<String>().into())
}
