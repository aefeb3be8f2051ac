//! Load tests of the gateway, compared with a minimal probe on the same machine.

mod attacks;
mod burst;
mod catch_up;
mod channel;
mod coap;
mod container;
mod datagrams;
mod deltas;
mod dtls;
mod fleet;
mod hostile;
mod inputs;
mod kill;
mod locust;
mod mqtt;
mod nested;
mod nginx;
mod node;
mod outputs;
mod paper;
mod payload;
mod probe;
mod rates;
mod register;
mod report;
mod results;
mod server;
mod testbed;
mod tokens;
mod turns;
mod usage;

use clap::{Parser, Subcommand};
use report::Report;
use std::{path::PathBuf, process::ExitCode};

/// The same allocator as in the program `dunnage`.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// An error that stops a measurement.
type Failure = Box<dyn std::error::Error>;

#[derive(Parser)]
#[command(
    about = "Load tests of the gateway, compared with a minimal probe that stores raw bodies and a Node service.\n\
                   Without a command: rates, inputs, fleet, burst and kill, with their defaults."
)]
#[command(args_conflicts_with_subcommands = true)]
struct Arguments {
    /// Without a command: short runs of rates, fleet, burst and kill, which do not change the README
    #[arg(long)]
    quick: bool,
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Subcommand)]
enum Command {
    /// Requests per second of the servers in turn; writes bench/results/load.jsonl
    Rates(rates::Plan),
    /// Messages per second through each input, compared with mosquitto and libcoap where they do the same; idle MQTT clients
    Inputs(inputs::Plan),
    /// The paper's tables 3 to 6: Locust's devices against 1, 2 and 4 replicas
    Fleet(fleet::Plan),
    /// Devices that are released at one moment, against replicas; processor time and memory of each replica
    Burst(burst::Plan),
    /// The paper's tables 1, 2 and 7, and nested messages; writes bench/results/container.jsonl
    Container,
    /// kill -9 under load: acknowledged, found, lost
    Kill(kill::Plan),
    /// Ingest while an output is behind by a million messages, and the gateway's memory
    CatchUp(catch_up::Plan),
    /// Messages per second of each output, rows in PostgreSQL compared with a Node service, and the cost of a filter and a map
    Outputs(outputs::Plan),
    /// Messages per second as deltas, compared with plain packed
    Deltas(deltas::Plan),
    /// Messages per second with a register of devices, compared with none
    Register(register::Plan),
    /// Mutated frames through each input, and how long a well-behaved client waits meanwhile
    Hostile(hostile::Plan),
    /// Attacks on other clients, on the buffer and on memory, and whether the gateway withstands them
    Attack(attacks::Plan),
    /// Start and reload with a million tokens and a million keys, and how long a client waits meanwhile
    Tokens(tokens::Plan),
    /// Runs a server for the other commands, which start it as a process
    #[command(hide = true)]
    Serve { server: server::BuiltInServer, folder: PathBuf },
}

fn main() -> ExitCode {
    // The gateways that it serves evaluate expressions.
    dunnage_expression::work_if_asked().unwrap_or_else(measure)
}

#[tokio::main]
async fn measure() -> ExitCode {
    // Ten thousand clients need as many open files here and in the servers, which inherit the limit.
    if let Err(e) = rlimit::increase_nofile_limit(u64::MAX) {
        eprintln!("cannot raise the limit of open files: {e}");
    }
    match run(Arguments::parse()).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(e) => {
            eprintln!("error: {e}");
            ExitCode::FAILURE
        }
    }
}

async fn run(arguments: Arguments) -> Result<(), Failure> {
    let report = &mut Report::default();
    match arguments.command {
        Some(Command::Rates(plan)) => rates::measure(&plan, report),
        Some(Command::Inputs(plan)) => inputs::measure(&plan, report).await,
        Some(Command::Fleet(plan)) => fleet::measure(&plan, report),
        Some(Command::Burst(plan)) => burst::measure(&plan, report),
        Some(Command::Container) => container::measure(nested::sizes()?, report),
        Some(Command::Kill(plan)) => kill::measure(&plan, report).await,
        Some(Command::CatchUp(plan)) => catch_up::measure(&plan).await,
        Some(Command::Outputs(plan)) => outputs::measure(&plan, report).await,
        Some(Command::Deltas(plan)) => deltas::measure(&plan, report),
        Some(Command::Register(plan)) => register::measure(&plan, report),
        Some(Command::Hostile(plan)) => hostile::measure(&plan, report).await,
        Some(Command::Attack(plan)) => attacks::measure(&plan, report).await,
        Some(Command::Tokens(plan)) => tokens::measure(&plan, report).await,
        Some(Command::Serve { server, folder }) => server::serve(server, &folder).await,
        None if arguments.quick => quick(report).await,
        None => all(report).await,
    }
}

/// Runs all measurements with their defaults, and writes the tables into the README.
async fn all(report: &mut Report) -> Result<(), Failure> {
    results::clear()?;
    report.line(&machine());
    rates::measure(&Default::default(), report)?;
    report.line("");
    inputs::measure(&Default::default(), report).await?;
    report.line("");
    fleet::measure(&Default::default(), report)?;
    report.line("");
    burst::measure(&Default::default(), report)?;
    report.line("");
    kill::measure(&Default::default(), report).await?;
    report.save("last run")
}

/// Runs the measurements for the papers' tables, in about four minutes.
async fn quick(report: &mut Report) -> Result<(), Failure> {
    results::clear()?;
    report.line(&machine());
    rates::measure(&rates::Plan::quick(), report)?;
    report.line("");
    fleet::measure(&fleet::Plan::quick(), report)?;
    report.line("");
    burst::measure(&burst::Plan::quick(), report)?;
    report.line("");
    kill::measure(&kill::Plan::quick(), report).await
}

/// A sentence about the processor and the load of this machine, on which the figures depend.
fn machine() -> String {
    let read = |path| std::fs::read_to_string(path).unwrap_or_default();
    let cpuinfo = read("/proc/cpuinfo");
    let model = cpuinfo.lines().find_map(|line| line.strip_prefix("model name")?.split_once(": "));
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let load = read("/proc/loadavg");
    format!(
        "Servers and load generators on the same {cores} cores ({}); load average at the start: {}.\n",
        model.map_or("an unknown processor", |(_, model)| model),
        load.split(' ').next().unwrap_or_default()
    )
}
