//! Load tests of the gateway, beside a bare probe on the same machine.

mod kill;
mod payload;
mod probe;
mod rates;
mod server;

use clap::{Parser, Subcommand};
use std::{path::PathBuf, process::ExitCode};

/// Whatever stops a measurement.
type Failure = Box<dyn std::error::Error>;

#[derive(Parser)]
#[command(about = "Load tests of the gateway, beside a bare probe that stores raw bodies")]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Requests a second, gateway and probe in turn; writes bench/results/load.jsonl
    Rates(rates::Plan),
    /// kill -9 under load: acknowledged, found, lost
    Kill(kill::Plan),
    /// What the other two start in processes of their own
    #[command(hide = true)]
    Serve { server: server::Server, folder: PathBuf },
}

#[tokio::main]
async fn main() -> ExitCode {
    let done = match Arguments::parse().command {
        Command::Rates(plan) => rates::measure(&plan),
        Command::Kill(plan) => kill::measure(&plan).await,
        Command::Serve { server, folder } => server::serve(server, &folder).await,
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(e) => {
            eprintln!("error: {e}");
            ExitCode::FAILURE
        }
    }
}
