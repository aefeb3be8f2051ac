//! Measures every format on the messages of the corpus, other formats through their libraries, reads of a single value, and dunnage-pson and
//! dunnage-packed against their peers. Prints the reads and the ratios, and writes `bench/results/host.jsonl`.

mod formats;
mod measurements;
mod other_formats;
mod peers;
mod reads;
mod table;
mod versions;

use clap::Parser;
use dunnage_bench_host::corpus::message_sets;
use dunnage_bench_record::{Record, results, write};
use measurements::Times;
use std::{
    env,
    error::Error,
    ffi::OsString,
    process::{Command, Stdio},
    time::Duration,
};

/// The same allocator as in the program `dunnage`.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Measures every format on the messages of bench/corpus, and our codecs against their peers
#[derive(Parser)]
struct Arguments {
    /// Measure for half a second per message, and leave out the peers
    #[arg(long)]
    quick: bool,
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments = Arguments::parse();
    let budget = if arguments.quick { Duration::from_millis(500) } else { Duration::from_secs(5) };
    let sets = message_sets()?;
    let mut records = formats::measure(&sets, budget)?;
    records.extend(other_formats::measure(&sets, budget / 2)?);
    records.extend(reads::measure(&sets, budget / 2)?);
    records.extend(allocations()?);
    if !arguments.quick {
        run(cargo().args(["bench", "--package", "dunnage-bench-host"]))?;
        records.extend(peers::measured(&codecs()?)?);
    }
    write(&results().join("host.jsonl"), &records)?;
    println!("{} results in bench/results/host.jsonl", records.len());
    Ok(())
}

/// Runs the program that counts memory.
fn allocations() -> Result<Vec<Record>, Box<dyn Error>> {
    output("allocations")?.lines().map(|line| Ok(serde_json::from_str(line)?)).collect()
}

/// Runs the program that measures the serde codecs.
fn codecs() -> Result<Times, Box<dyn Error>> {
    let mut times = Times::default();
    for _ in 0..5 {
        times.add(&output("codecs")?)?;
    }
    Ok(times)
}

/// Returns what another program of this package prints.
fn output(program: &str) -> Result<String, Box<dyn Error>> {
    let arguments = ["run", "--release", "--quiet", "--package", "dunnage-bench-host", "--bin", program];
    run(cargo().args(arguments).stdout(Stdio::piped()))
}

fn cargo() -> Command {
    Command::new(env::var_os("CARGO").unwrap_or_else(|| OsString::from("cargo")))
}

/// Runs a command and returns its standard output. Fails if the command does.
fn run(command: &mut Command) -> Result<String, Box<dyn Error>> {
    let output = command.spawn()?.wait_with_output()?;
    match output.status.success() {
        true => Ok(String::from_utf8(output.stdout)?),
        false => Err(format!("{command:?}: {}", output.status).into()),
    }
}
