//! `dunnage gateway`: runs the gateway until a signal stops it, and has subcommands for a running gateway.

mod check;
mod config;
mod dead_letters;
mod device;
mod key;
mod openapi;
mod output;
mod profile;
mod quarantine;
mod reload;
mod running;
mod status;
mod token;

use crate::{
    failure::{Failure, complain},
    signals,
};
use clap::{Args, Subcommand};
use dunnage_gateway::{Config, Error};
use std::{
    io::ErrorKind,
    path::{Path, PathBuf},
    pin::pin,
};

/// Run the gateway, or query a running one
///
/// Environment variables (DUNNAGE_SECTION_KEY) override the TOML file; unset keys have defaults. SIGHUP reloads profiles,
/// schemas, codecs, secrets, tokens, keys and certificates. SIGTERM and Ctrl-C let requests finish and close the buffer; a second signal ends the process
/// at once. The log goes to standard error.
#[derive(Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct Gateway {
    /// Configuration file
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Subcommand)]
enum Command {
    /// Print the default configuration, with comments
    Config,
    /// Print the OpenAPI document of the HTTP port, which a running gateway serves at /api/openapi.json
    Openapi,
    Check(check::Check),
    Profile(profile::Profile),
    Status(status::Status),
    Quarantine(quarantine::Quarantine),
    DeadLetters(dead_letters::DeadLetters),
    Output(output::Output),
    Device(device::Device),
    Reload(reload::Reload),
    Token(token::Token),
    Key(key::Key),
}

impl Gateway {
    pub fn run(self) -> Result<(), Failure> {
        match self.command {
            None => run(self.config.as_deref()),
            Some(Command::Config) => config::print(),
            Some(Command::Openapi) => openapi::print(),
            Some(Command::Check(command)) => command.run(),
            Some(Command::Profile(command)) => command.run(),
            Some(Command::Status(command)) => command.run(),
            Some(Command::Quarantine(command)) => command.run(),
            Some(Command::DeadLetters(command)) => command.run(),
            Some(Command::Output(command)) => command.run(),
            Some(Command::Device(command)) => command.run(),
            Some(Command::Reload(command)) => command.run(),
            Some(Command::Token(command)) => command.run(),
            Some(Command::Key(command)) => command.run(),
        }
    }
}

fn run(file: Option<&Path>) -> Result<(), Failure> {
    let config = load(file)?;
    dunnage_gateway::log::start(&config.log).map_err(Failure::Failed)?;
    runtime()?.block_on(async {
        let stop = signals::stop()?;
        let mut hangups = signals::Hangups::listen()?;
        let gateway = start(config).await?;
        let mut stop = pin!(stop);
        loop {
            tokio::select! {
                () = stop.as_mut() => break,
                // The gateway logs the result of the reload.
                () = hangups.next() => drop(gateway.reload().await),
            }
        }
        gateway.stop().await;
        Ok(())
    })
}

/// Loads the configuration from `file` and the environment.
fn load(file: Option<&Path>) -> Result<Config, Failure> {
    Config::load(file).map_err(|error| match runtime() {
        Ok(runtime) => runtime.block_on(async { explain(file, &error) }),
        Err(failure) => failure,
    })
}

/// Prints every mistake in the configuration of `file`. `error` is used if the check finds none.
fn explain(file: Option<&Path>, error: &dyn std::error::Error) -> Failure {
    let mistakes = dunnage_gateway::check(file);
    if mistakes.is_empty() {
        return Failure::Failed(error.to_string());
    }
    mistakes.iter().for_each(complain);
    Failure::Reported
}

/// Creates the runtime on which the gateway runs.
pub fn runtime() -> Result<tokio::runtime::Runtime, Failure> {
    tokio::runtime::Runtime::new().map_err(|e| Failure::about("cannot start the runtime", e))
}

/// Starts the gateway. If its address is in use, the error suggests another one.
pub async fn start(config: Config) -> Result<dunnage_gateway::Gateway, Failure> {
    let file = config.file.clone();
    dunnage_gateway::Gateway::start(config).await.map_err(|error| match error {
        Error::Profile(_) | Error::Tokens(_) | Error::Tls(_) | Error::Input(_) | Error::Output(_) => {
            explain(file.as_deref(), &error)
        }
        Error::Listen { address, ref source } if source.kind() == ErrorKind::AddrInUse => {
            Failure::Failed(format!(
                "{address} is in use by another process; choose another address: DUNNAGE_HTTP_LISTEN={}:{}",
                address.ip(),
                address.port().wrapping_add(1).max(1024)
            ))
        }
        other => Failure::Failed(other.to_string()),
    })
}
