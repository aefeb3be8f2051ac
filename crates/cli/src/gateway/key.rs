//! `dunnage gateway key`.

use super::token::{Place, failure, rows};
use crate::{failure::Failure, output};
use clap::{Args, Subcommand};
use dunnage_gateway::{Until, keys};
use std::{io::Write, path::PathBuf};

/// Make, import, list and revoke the keys of devices that send over DTLS
///
/// The keys are in the file [access] keys, which nobody but the gateway may read: a handshake needs them as they are. A gateway that runs
/// knows a change after `dunnage gateway reload` or SIGHUP.
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

/// Make a key and print it
#[derive(Args)]
struct New {
    /// Its holder may send as these devices: an id, in which * stands for any characters
    #[arg(long, value_name = "PATTERN")]
    device: String,
    /// When it ends: a day (2027-01-31, to its end in UTC) or a moment (2027-01-31T08:00:00Z)
    #[arg(long, value_name = "DATE")]
    until: Option<Until>,
    /// The identity that the device sends; without it, a random one
    #[arg(long)]
    name: Option<String>,
    #[command(flatten)]
    place: Place,
}

/// Add a key for each line of a CSV file, and print them
///
/// The first line names the columns: name, device (a pattern), until, and secret or hex for a key that the device has already. Without one, a key
/// is made. Prints CSV with the columns name and key. All of them are added, or none.
#[derive(Args)]
struct Import {
    /// The file; - for standard input
    file: PathBuf,
    #[command(flatten)]
    place: Place,
}

/// List the keys: their names and rights
#[derive(Args)]
struct List {
    #[command(flatten)]
    place: Place,
}

/// Take a key away, at once or when its time has come
///
/// To give a device another key, make it one of another name, revoke the old one with --until, and change both on the device before that.
/// Sessions that were made with the key end with it.
#[derive(Args)]
struct Revoke {
    /// Its name
    name: String,
    /// When it ends, in place of at once: a day or a moment, as with `new`
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
        let path = self.place.config()?.keys();
        let (name, secret) =
            keys::add(&path, self.name.as_deref(), &self.device, self.until).map_err(failure)?;
        let mut output = output::stdout();
        writeln!(output, "{secret}")?;
        output.flush()?;
        // On standard error, because standard output, which has the key, may be redirected to a file.
        let _ = writeln!(
            anstream::stderr(),
            "The key's bytes are these characters, its identity is {name:?}. {} has both; `dunnage gateway reload` tells a gateway that runs.",
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
            "{count} keys. {} has them; `dunnage gateway reload` tells a gateway that runs.",
            path.display(),
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
        let _ = writeln!(anstream::stderr(), "A gateway that runs takes it until `dunnage gateway reload`.");
        Ok(())
    }
}
