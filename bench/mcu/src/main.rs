//! Measures the device library and its peers on microcontrollers: cycles, stack, flash and RAM. Simulators run the firmware.

mod arm;
mod avr;
mod board;
mod budget;
mod csv;
mod debian;
mod docs;
mod energy;
mod figures;
mod generate;
mod generated;
mod goals;
mod json;
mod layout;
mod library;
mod lx106;
mod measure;
mod message;
mod modes;
mod nanopb;
mod payloads;
mod qemu;
mod reference;
mod registry;
mod report;
mod results;
mod riscv;
mod shape;
mod sizes;
mod sketch;
mod sketch_read;
mod source;
mod suite;
mod summary;
mod tables;
mod toolchain;
mod trace;
mod zlib;

use board::Board;
use clap::{Parser, Subcommand};
use figures::Figures;
use library::Library;
use measure::Measured;
use payloads::Group;
use rayon::prelude::*;
use shape::Floats;
use std::{path::PathBuf, process::ExitCode};

/// An error that stops a measurement.
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
        /// Measure only the firmware with these payloads, and do not write results
        payloads: Vec<String>,
        /// Use each of the four sets of compiler options, instead of only -Os -flto
        #[arg(long)]
        all: bool,
    },
    /// Instructions, stack, flash and RAM on Cortex-M0+, M3, M4, RISC-V and Xtensa lx106
    Qemu {
        /// Measure only the firmware with these payloads, and do not write results
        payloads: Vec<String>,
    },
    /// The peers, on every board
    Peers {
        /// Measure only the firmware with these payloads, and do not write results
        payloads: Vec<String>,
    },
    /// Code of `dunnage generate c` and of nanopb, on every simulated board
    Generated,
    /// Code of `dunnage generate c --modes`, on every simulated board, beside its goals
    Modes,
    /// Struct+Zlib with miniz and zlib on RISC-V and Xtensa lx106
    Zlib,
    /// The tables of the PSON paper beside ours; writes bench/results/pson-paper.jsonl
    PsonPaper {
        /// Use only the compiler options -Os -flto, instead of four sets
        #[arg(long)]
        quick: bool,
    },
    /// JSON against MessagePack and PSON on every target; writes bench/results/mcu-json.jsonl and mcu-json.csv
    McuJson {
        /// JSON files with messages of your own
        files: Vec<PathBuf>,
        /// Use only the compiler options -Os -flto, instead of four sets
        #[arg(long)]
        quick: bool,
    },
    /// Writes an Arduino sketch that measures JSON, MessagePack, CBOR, PSON and packed on a board: see bench/board
    Sketch {
        /// The new folder of the sketch
        folder: PathBuf,
        /// JSON files with messages of your own, in place of the PSON paper's ten
        files: Vec<PathBuf>,
        /// The formats to measure; all of them need 32 KB of flash and 2 KB of RAM for a small message
        #[arg(long, value_delimiter = ',', default_values = sketch::FORMATS, value_parser = sketch::FORMATS)]
        formats: Vec<String>,
        /// Store fractions as binary32, as an Arduino UNO does
        #[arg(long)]
        single: bool,
    },
    /// Stores the CSV that a board printed in bench/results/board.jsonl, and shows it beside the simulated targets
    SketchRead {
        /// The CSV, as it came from the serial line
        csv: PathBuf,
        /// The board, as it is to be called: "ESP32 DevKit, 240 MHz"
        #[arg(long)]
        board: String,
        /// A power analyzer's trace of the same run, as CSV; adds the energy of each call
        #[arg(long)]
        trace: Option<PathBuf>,
        /// The supply in volts, for a trace without a voltage
        #[arg(long, requires = "trace")]
        volts: Option<f64>,
        /// Only print
        #[arg(long)]
        print_only: bool,
    },
    /// Prints the figures of bench/results/mcu.jsonl beside those of other libraries: per payload, energy, goals
    Tables {
        /// Prints only the essential figures of a target, such as atmega328p, as CSV
        #[arg(long, value_name = "TARGET")]
        csv: Option<String>,
    },
    /// Writes the footprint tables in c/README.md from bench/results/mcu.jsonl
    Docs,
    /// Fails when cycles, stack, flash or RAM on the ATmega328P differ from c/tests/budget.txt
    Budget {
        /// Write the measured figures of all boards as the new budget
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
    let ours = Library::ours()?;
    let _lock = toolchain::lock()?;
    match command {
        Some(Command::Avr { payloads, all }) => {
            let options = if all { &OPTIONS[..] } else { &OPTIONS[..1] };
            measure_and_save(&avr_jobs(&ours, options)?, &payloads)
        }
        Some(Command::Qemu { payloads }) => measure_and_save(&qemu_jobs(&ours, &OPTIONS)?, &payloads),
        Some(Command::Peers { payloads }) => measure_and_save(&peer_jobs()?, &payloads),
        Some(Command::Budget { accept }) => budget(&ours, accept),
        None => all(&ours),
        Some(Command::Generated) => generated(),
        Some(Command::Modes) => modes(),
        Some(Command::Zlib) => {
            let rows = zlib::measure(&simulated_boards()?)?;
            results::write(zlib::SUITE, &rows)?;
            zlib::print(&rows)
        }
        Some(Command::PsonPaper { quick }) => suite::paper::run(option_sets(quick)),
        Some(Command::McuJson { files, quick }) => suite::json::run(option_sets(quick), &files),
        Some(Command::Sketch { folder, files, formats, single }) => {
            sketch::write(&folder, &files, &formats, if single { Floats::Single } else { Floats::Lossless })
        }
        Some(Command::SketchRead { csv, board, trace, volts, print_only }) => {
            let pulses = trace.map(|trace| trace::read(&trace, volts)).transpose()?;
            sketch_read::run(&csv, &board, pulses.as_deref(), print_only)
        }
        Some(Command::Tables { csv: None }) => print_tables(),
        Some(Command::Tables { csv: Some(target) }) => {
            let rows = reference::beside_results()?;
            let counts = if target == avr::TARGET { "cycles" } else { "instructions" };
            csv::summary(&Figures::new(&rows), &all_payloads()?, &target, counts, &mut std::io::stdout())
        }
        Some(Command::Docs) => docs::write(&Figures::new(&reference::beside_results()?)),
    }
}

/// Compares the costs with the budget, or makes them the budget.
fn budget(ours: &Library, accept: bool) -> Result<(), Failure> {
    let mut jobs = avr_jobs(ours, &OPTIONS[..1])?;
    if accept {
        jobs.extend(qemu_jobs(ours, &OPTIONS[..1])?);
        // The lines of the budget do not contain the policy for floats.
        jobs.retain(|job| job.board.floats() == Floats::Single);
    }
    let Measured { mut rows, failures } = measure_jobs(&jobs, &payloads::groups()?)?;
    combine_failures(&failures)?;
    rows.extend(modes::measure(&avr::Avr::new()?, &modes::subject()?)?);
    if accept { budget::accept(&rows) } else { budget::check(&rows) }
}

/// Measures all libraries on all boards, and generated code.
fn all(ours: &Library) -> Result<(), Failure> {
    let mut jobs = avr_jobs(ours, &OPTIONS)?;
    jobs.extend(qemu_jobs(ours, &OPTIONS)?);
    match peer_jobs() {
        Ok(peers) => jobs.extend(peers),
        Err(error) => eprintln!("peers omitted: downloading their sources failed: {error}"),
    }
    for job in &mut jobs {
        job.paper_only = job.options != REFERENCE_OPTIONS;
    }
    let outcome = measure_and_save(&jobs, &[]);
    print_tables()?;
    outcome.and(generated())
}

/// Measures generated code, prints the figures and saves them.
fn generated() -> Result<(), Failure> {
    let measured: Vec<_> = simulated_boards()?.par_iter().map(|board| generated::measure(&**board)).collect();
    let rows = measured.into_iter().collect::<Result<Vec<_>, _>>()?.concat();
    generated::print(&rows);
    results::write("mcu-generated", &rows)
}

/// Returns each simulated board once.
fn simulated_boards() -> Result<Vec<Box<dyn Board>>, Failure> {
    let mut boards: Vec<Box<dyn Board>> = vec![Box::new(avr::Avr::new()?)];
    boards.extend(arm::boards().map(|board| Box::new(board) as Box<dyn Board>));
    boards.extend(riscv::boards().map(|board| Box::new(board) as Box<dyn Board>));
    boards.extend(lx106::boards()?.map(|board| Box::new(board) as Box<dyn Board>));
    boards.retain(|board| board.floats() == Floats::Single);
    Ok(boards)
}

/// Measures the code of modes 1 and 2, prints the figures and saves them.
fn modes() -> Result<(), Failure> {
    let subject = modes::subject()?;
    let measured: Vec<_> =
        simulated_boards()?.par_iter().map(|board| modes::measure(&**board, &subject)).collect();
    let rows = measured.into_iter().collect::<Result<Vec<_>, _>>()?.concat();
    modes::print(&rows);
    results::write(modes::SUITE, &rows)
}

fn all_payloads() -> Result<Vec<Group>, Failure> {
    let mut groups = payloads::groups()?;
    groups.extend(payloads::user_payloads()?);
    Ok(groups)
}

/// Prints all measured and quoted figures.
fn print_tables() -> Result<(), Failure> {
    let rows = reference::beside_results()?;
    let figures = Figures::new(&rows);
    let groups = all_payloads()?;
    tables::print(&figures, &rows, &groups);
    energy::print(&energy::Figures::load()?, &figures, &groups);
    goals::print(&figures);
    println!("\nAll figures: bench/results/mcu.jsonl and bench/results/mcu.csv");
    Ok(())
}

/// A board, and what to measure on it.
struct Job {
    board: Box<dyn Board>,
    options: &'static str,
    library: Library,
    /// Whether only the paper's payloads are measured, to save time.
    paper_only: bool,
}

impl Job {
    fn new(board: impl Board + 'static, library: &Library, options: &'static str) -> Job {
        Job { board: Box::new(board), options, library: library.clone(), paper_only: false }
    }
}

/// The sets of compiler options that are measured.
const OPTIONS: [&str; 4] = [REFERENCE_OPTIONS, "-Os", "-O2 -flto", "-O2"];

/// The sets of compiler options of a quick or a long run.
fn option_sets(quick: bool) -> &'static [&'static str] {
    if quick { &OPTIONS[..1] } else { &OPTIONS }
}

/// The options of the goals and the budget.
const REFERENCE_OPTIONS: &str = "-Os -flto";

fn avr_jobs(library: &Library, options: &[&'static str]) -> Result<Vec<Job>, Failure> {
    options.iter().map(|options| Ok(Job::new(avr::Avr::new()?, library, options))).collect()
}

fn qemu_jobs(library: &Library, options: &[&'static str]) -> Result<Vec<Job>, Failure> {
    let mut jobs = Vec::new();
    for options in options {
        jobs.extend(arm::boards().map(|board| Job::new(board, library, options)));
        jobs.extend(riscv::boards().map(|board| Job::new(board, library, options)));
        jobs.extend(lx106::boards()?.map(|board| Job::new(board, library, options)));
    }
    Ok(jobs)
}

/// The jobs of the peers, on every board, with the reference options.
fn peer_jobs() -> Result<Vec<Job>, Failure> {
    let mut jobs = Vec::new();
    // The others are compared in the suites pson-paper and mcu-json.
    for peer in Library::peers()?.into_iter().filter(|peer| peer.style != library::Style::Heap) {
        jobs.extend(avr_jobs(&peer, &OPTIONS[..1])?);
        jobs.extend(qemu_jobs(&peer, &OPTIONS[..1])?);
    }
    jobs.retain(|job| job.board.floats() == Floats::Single);
    Ok(jobs)
}

fn measure_and_save(jobs: &[Job], names: &[String]) -> Result<(), Failure> {
    let Measured { rows, failures } = measure_jobs(jobs, &payloads::only(all_payloads()?, names))?;
    if names.is_empty() {
        println!("\n{} results in bench/results/mcu.jsonl", rows.len());
        results::replace(rows)?;
        csv::write(&reference::beside_results()?, &results::path("mcu").with_extension("csv"))?;
    }
    combine_failures(&failures)
}

/// Combines all failures into one error. Succeeds without failures.
fn combine_failures(failures: &[Failure]) -> Result<(), Failure> {
    if failures.is_empty() {
        return Ok(());
    }
    Err(failures.iter().map(|failure| format!("\n{failure}")).collect::<String>().into())
}

/// Runs all jobs and prints their figures.
fn measure_jobs(jobs: &[Job], groups: &[Group]) -> Result<Measured, Failure> {
    let paper: Vec<Group> =
        groups.iter().filter(|group| group.name == payloads::PAPER_GROUP).cloned().collect();
    let measure = |job: &Job| {
        let groups = if job.paper_only { &paper } else { groups };
        measure::measure(&*job.board, &job.library, groups, job.options)
    };
    let results: Vec<_> = jobs.par_iter().map(measure).collect();
    let mut all = Measured::default();
    for (job, measured) in jobs.iter().zip(results) {
        let measured = measured?;
        summary::print(&measured.rows, &*job.board, &job.library, job.options);
        all.rows.extend(measured.rows);
        all.failures.extend(measured.failures);
    }
    Ok(all)
}
