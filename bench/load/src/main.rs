//! Load tests of the gateway, beside a bare probe on the same machine.

mod kill;
mod node;
mod payload;
mod probe;
mod rates;
mod results;
mod server;

use clap::{Parser, Subcommand};
use std::{path::PathBuf, process::ExitCode};

/// The same as in the program.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Whatever stops a measurement.
type Failure = Box<dyn std::error::Error>;

#[derive(Parser)]
#[command(
    about = "Load tests of the gateway, beside a bare probe that stores raw bodies and a service in Node.\n\
                   Without a command: rates, then kill, with their defaults."
)]
struct Arguments {
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Subcommand)]
enum Command {
    /// Requests a second, the servers in turn; writes bench/results/load.jsonl
    Rates(rates::Plan),
    /// kill -9 under load: acknowledged, found, lost
    Kill(kill::Plan),
    /// What the others start in processes of their own
    #[command(hide = true)]
    Serve { server: server::Own, folder: PathBuf },
}

#[tokio::main]
async fn main() -> ExitCode {
    match run(Arguments::parse().command).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(e) => {
            eprintln!("error: {e}");
            ExitCode::FAILURE
        }
    }
}

async fn run(command: Option<Command>) -> Result<(), Failure> {
    match command {
        Some(Command::Rates(plan)) => rates::measure(&plan),
        Some(Command::Kill(plan)) => kill::measure(&plan).await,
        Some(Command::Serve { server, folder }) => server::serve(server, &folder).await,
        None => {
            rates::measure(&Default::default())?;
            println!();
            kill::measure(&Default::default()).await
        }
    }
}
