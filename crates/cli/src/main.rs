//! The `dunnage` command: compare, plan, convert and inspect messages, check schemas, write definitions, run the gateway.

mod bench;
mod codec;
mod compare;
mod convert;
mod demo;
#[cfg(test)]
mod documents;
mod failure;
mod fit;
mod gateway;
mod generate;
mod input;
mod inspect;
mod known;
mod link_id;
mod manual;
#[cfg(unix)]
mod modem;
mod network;
mod numbers;
mod output;
mod plan;
mod play;
mod proto;
mod schema;
mod sequences;
mod several;
mod signals;
mod simulate;

use clap::{Parser, Subcommand};
use failure::Failure;
use std::{
    io::{self, Write},
    process::ExitCode,
};

/// The gateway allocates many small objects per message on one thread and frees them on another. With the allocator of glibc,
/// that takes a tenth more processor time.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Telemetry for links that carry 160, 30 or 19 bytes.
///
/// Commands are filters: they read standard input or the given file and write standard output.
/// The exit code is 0 on success, 1 on failure and 2 on wrong usage.
/// Colours appear only on terminals, and not if NO_COLOR is set.
#[derive(Parser)]
#[command(name = "dunnage", version, arg_required_else_help = true, disable_help_subcommand = true)]
#[command(max_term_width = 100)]
struct Dunnage {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Compare(compare::Compare),
    Bench(bench::Bench),
    Plan(plan::Plan),
    Play(play::Play),
    Simulate(simulate::Simulate),
    Convert(convert::Convert),
    Inspect(inspect::Inspect),
    Schema(schema::Schema),
    Generate(generate::Generate),
    Codec(codec::Codec),
    Gateway(gateway::Gateway),
    #[cfg(unix)]
    Modem(modem::Modem),
    Demo(demo::Demo),
    Completions(manual::Completions),
    Man(manual::Man),
}

impl Command {
    fn run(self) -> Result<(), Failure> {
        match self {
            Command::Compare(command) => command.run(),
            Command::Bench(command) => command.run(),
            Command::Plan(command) => command.run(),
            Command::Play(command) => command.run(),
            Command::Simulate(command) => command.run(),
            Command::Convert(command) => command.run(),
            Command::Inspect(command) => command.run(),
            Command::Schema(command) => command.run(),
            Command::Generate(command) => command.run(),
            Command::Codec(command) => command.run(),
            Command::Gateway(command) => command.run(),
            #[cfg(unix)]
            Command::Modem(command) => command.run(),
            Command::Demo(command) => command.run(),
            Command::Completions(command) => command.run(),
            Command::Man(command) => command.run(),
        }
    }
}

fn main() -> ExitCode {
    if let Some(code) = dunnage_playground::work_if_asked().or_else(dunnage_expression::work_if_asked) {
        return code;
    }
    let result = match Dunnage::try_parse() {
        Ok(dunnage) => dunnage.command.run(),
        // The help and the version are output like any other: a full disk is a failure.
        Err(help) if !help.use_stderr() => {
            help.print().and_then(|()| io::stdout().flush()).map_err(Failure::from)
        }
        Err(wrong_usage) => wrong_usage.exit(),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.report(),
    }
}
