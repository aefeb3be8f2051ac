//! `dunnage gateway key`.

use super::token::{Place, failure, rows};
use crate::{failure::Failure, output};
use clap::{Args, Subcommand};
use dunnage_gateway::{Until, keys};
use std::{io::Write, path::PathBuf};

/// Create, import, list and revoke the keys of devices that send over DTLS
///
/// The keys are in the file [access] keys, which only the gateway may read: a handshake needs them in plain text. A running
/// gateway applies a change after `dunnage gateway reload` or SIGHUP.
#[derive(Args)]
pub struct Key {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    New(New),
    Import(Import),
    List(List),
    Revoke(Revoke),
}

/// Create a key and print it
#[derive(Args)]
struct New {
    /// Allow sending as these devices: a device ID pattern; * matches any characters
    #[arg(long, value_name = "PATTERN")]
    device: String,
    /// Expiry: a day (2027-01-31, until its end in UTC) or a time (2027-01-31T08:00:00Z)
    #[arg(long, value_name = "DATE")]
    until: Option<Until>,
    /// Identity that the device sends [default: random]
    #[arg(long)]
    name: Option<String>,
    #[command(flatten)]
    place: Place,
}

/// Add a key for each line of a CSV file, and print them
///
/// The first line names the columns: name, device (a pattern), until, and secret or hex for a key that the device already
/// has. Other keys are created. Prints CSV with the columns name and key. Adds all keys or none.
#[derive(Args)]
struct Import {
    /// CSV file; - for standard input
    file: PathBuf,
    #[command(flatten)]
    place: Place,
}

/// List the names and rights of the keys
#[derive(Args)]
struct List {
    #[command(flatten)]
    place: Place,
}

/// Revoke a key, now or at a given time
///
/// To replace a device's key, create one with another name, revoke the old one with --until, and change both on the device
/// before that time. Sessions that use a key end with it.
#[derive(Args)]
struct Revoke {
    /// Name of the key
    name: String,
    /// Time of expiry, as with `new` [default: now]
    #[arg(long, value_name = "DATE")]
    until: Option<Until>,
    #[command(flatten)]
    place: Place,
}

impl Key {
    pub fn run(self) -> Result<(), Failure> {
        match self.command {
            Command::New(new) => new.run(),
            Command::Import(import) => import.run(),
            Command::List(list) => list.run(),
            Command::Revoke(revoke) => revoke.run(),
        }
    }
}

impl New {
    fn run(self) -> Result<(), Failure> {
        super::token::in_future(self.until)?;
        let path = self.place.config()?.keys();
        let (name, secret) =
            keys::add(&path, self.name.as_deref(), &self.device, self.until).map_err(failure)?;
        let mut output = output::stdout();
        writeln!(output, "{secret}")?;
        output.flush()?;
        // On standard error, because standard output, which has the key, may be redirected to a file.
        let _ = writeln!(
            anstream::stderr(),
            "The key's bytes are these characters, its identity is {name:?}. {} has both; `dunnage gateway reload` applies it to a running gateway.",
            path.display(),
        );
        Ok(())
    }
}

impl Import {
    fn run(self) -> Result<(), Failure> {
        let path = self.place.config()?.keys();
        let count = keys::import(&path, rows(&self.file)?, output::stdout()).map_err(failure)?;
        let _ = writeln!(
            anstream::stderr(),
            "{}: {} imported; `dunnage gateway reload` applies the file to a running gateway.",
            path.display(),
            if count == 1 { "1 key".to_owned() } else { format!("{count} keys") },
        );
        Ok(())
    }
}

impl List {
    fn run(self) -> Result<(), Failure> {
        let keys = keys::list(&self.place.config()?.keys()).map_err(failure)?;
        let width = keys.iter().map(|key| key.name.len()).max().unwrap_or(0);
        let mut output = output::stdout();
        for key in &keys {
            let end = super::token::end(key.until);
            writeln!(output, "{:width$}  send as {}{end}", key.name, key.device)?;
        }
        Ok(output.flush()?)
    }
}

impl Revoke {
    fn run(self) -> Result<(), Failure> {
        let path = self.place.config()?.keys();
        keys::revoke(&path, &self.name, self.until).map_err(failure)?;
        let _ = writeln!(anstream::stderr(), "A running gateway accepts it until `dunnage gateway reload`.");
        Ok(())
    }
}
