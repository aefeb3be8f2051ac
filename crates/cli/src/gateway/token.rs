//! `dunnage gateway token`.

use crate::{failure::Failure, output};
use clap::{Args, Subcommand};
use dunnage_gateway::{
    Config, Right, Scope, Until,
    tokens::{self, EditError},
};
use std::{
    collections::BTreeMap,
    fs::File,
    io::{Read, Write},
    path::{Path, PathBuf},
};

/// Create, import, list and revoke tokens: rights to send as devices, to read, or to operate
///
/// The tokens are in the file [access] tokens, as hashes. A running gateway applies a change after `dunnage gateway reload`
/// or SIGHUP.
#[derive(Args)]
pub struct Token {
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

/// Create a token and print it once
#[derive(Args)]
#[group(id = "right", required = true, multiple = true, args = ["device", "read", "operate"])]
struct New {
    /// Allow sending as these devices, or with --read reading them: a device ID pattern; * matches any characters
    #[arg(long, value_name = "PATTERN")]
    device: Option<String>,
    /// Allow reading the API and the page: of all devices, and then also the metrics and the operations, or of those of --device and --tag
    #[arg(long)]
    read: bool,
    /// Allow reading only devices with this tag in the register; may be repeated, and then they have all of them
    #[arg(long, value_name = "KEY=VALUE", value_parser = super::device::tag, requires = "read")]
    tag: Vec<(String, String)>,
    /// Allow reading everything, retrying and discarding what is in the quarantine and in the dead letters, replays, trying
    /// expressions, and changing the register
    #[arg(long, conflicts_with_all = ["device", "read", "tag"])]
    operate: bool,
    /// Expiry: a day (2027-01-31, until its end in UTC) or a time (2027-01-31T08:00:00Z)
    #[arg(long, value_name = "DATE")]
    until: Option<Until>,
    /// Name of the token [default: first digits of its hash]
    #[arg(long)]
    name: Option<String>,
    #[command(flatten)]
    place: Place,
}

/// Create a token for each line of a CSV file, and print them once
///
/// The first line names the columns: name, device (a pattern), read (true) or operate (true), tag.KEY for the tags of a token that reads,
/// until, and token for an existing one. Missing values have the defaults of `new`. Prints CSV with the columns name and token. Creates all tokens or none.
#[derive(Args)]
struct Import {
    /// CSV file; - for standard input
    file: PathBuf,
    #[command(flatten)]
    place: Place,
}

/// List the names and rights of the tokens
#[derive(Args)]
struct List {
    #[command(flatten)]
    place: Place,
}

/// Revoke a token, now or at a given time
///
/// To replace a device's token, create one, revoke the old one with --until, and change it on the device before that time.
#[derive(Args)]
struct Revoke {
    /// Name of the token
    name: String,
    /// Time of expiry, as with `new` [default: now]
    #[arg(long, value_name = "DATE")]
    until: Option<Until>,
    #[command(flatten)]
    place: Place,
}

#[derive(Args)]
pub struct Place {
    /// Configuration file of the gateway
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
}

impl Place {
    pub fn config(&self) -> Result<Config, Failure> {
        Config::load(self.config.as_deref()).map_err(|e| Failure::Failed(e.to_string()))
    }
}

impl Token {
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
        in_future(self.until)?;
        let right = match self.device {
            device if self.read => Right::Read(scope(device, self.tag)?),
            Some(pattern) => Right::Send(pattern),
            None => Right::Operate,
        };
        let path = self.place.config()?.tokens();
        let (token, secret) = tokens::add(&path, self.name.as_deref(), right, self.until).map_err(failure)?;
        let mut output = output::stdout();
        writeln!(output, "{secret}")?;
        output.flush()?;
        // On standard error, because standard output, which has the token, may be redirected to a file.
        let _ = writeln!(
            anstream::stderr(),
            "The token is shown only once. {} has its hash, as {:?}; `dunnage gateway reload` applies it to a running gateway.",
            path.display(),
            token.name
        );
        Ok(())
    }
}

fn scope(device: Option<String>, tags: Vec<(String, String)>) -> Result<Scope, Failure> {
    let given = tags.len();
    let tags: BTreeMap<_, _> = tags.into_iter().collect();
    if tags.len() < given {
        return Err(Failure::Usage("--tag: a device has one value of a key; name each key once".into()));
    }
    Scope::new(device, tags).map_err(|(_, message)| Failure::Usage(message))
}

impl Import {
    fn run(self) -> Result<(), Failure> {
        let path = self.place.config()?.tokens();
        let count = tokens::import(&path, rows(&self.file)?, output::stdout()).map_err(failure)?;
        let _ = writeln!(
            anstream::stderr(),
            "{}, shown only once. {} has their hashes; `dunnage gateway reload` applies them to a running gateway.",
            output::counted(count as u64, "token"),
            path.display(),
        );
        Ok(())
    }
}

/// Opens the file `path`, or standard input for `-`.
pub fn rows(path: &Path) -> Result<Box<dyn Read>, Failure> {
    if path == Path::new("-") {
        return Ok(Box::new(std::io::stdin().lock()));
    }
    let file = File::open(path).map_err(|e| Failure::Failed(format!("{}: {e}", path.display())))?;
    Ok(Box::new(file))
}

impl List {
    fn run(self) -> Result<(), Failure> {
        let tokens = tokens::list(&self.place.config()?.tokens()).map_err(failure)?;
        let name = tokens.iter().map(|token| token.name.len()).max().unwrap_or(0);
        let mut output = output::stdout();
        for token in &tokens {
            writeln!(output, "{:name$}  {}{}", token.name, token.right, end(token.until))?;
        }
        Ok(output.flush()?)
    }
}

impl Revoke {
    fn run(self) -> Result<(), Failure> {
        let path = self.place.config()?.tokens();
        tokens::revoke(&path, &self.name, self.until).map_err(failure)?;
        let what = if self.until.is_some() { "does not know its end" } else { "accepts it" };
        let _ = writeln!(anstream::stderr(), "A running gateway {what} until `dunnage gateway reload`.");
        Ok(())
    }
}

/// Refuses the expiry of something new that has passed.
pub fn in_future(until: Option<Until>) -> Result<(), Failure> {
    match until.filter(Until::has_passed) {
        Some(until) => Err(Failure::Usage(format!("--until: {} has passed", until.text()))),
        None => Ok(()),
    }
}

/// The suffix that shows in a list when a token or key expires or has expired.
pub fn end(until: Option<Until>) -> String {
    match until {
        None => String::new(),
        Some(until) if until.has_passed() => format!(", expired {}", until.text()),
        Some(until) => format!(", until {}", until.text()),
    }
}

pub fn failure(error: EditError) -> Failure {
    match error {
        EditError::Asked(message) => Failure::Usage(message),
        other => Failure::Failed(other.to_string()),
    }
}
