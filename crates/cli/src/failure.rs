//! The errors and exit codes of commands.

use crate::output::printable;
use anstyle::{AnsiColor, Style};
use std::{fmt, io, io::Write, process::ExitCode};

/// The red of errors, on terminals.
pub const RED: Style = AnsiColor::Red.on_default();

/// Why a command stops.
#[derive(Debug)]
pub enum Failure {
    /// The reader of our output has closed it. This is not an error. Exit code 0.
    BrokenPipe,
    /// The arguments contradict each other or are incomplete. Exit code 2.
    Usage(String),
    /// The command failed. Exit code 1.
    Failed(String),
    /// The command failed, and the reason has already been printed. Exit code 1.
    Reported,
}

impl Failure {
    /// A failure that names what `error` is about: `what: error`.
    pub fn about(what: impl fmt::Display, error: impl fmt::Display) -> Failure {
        Failure::Failed(format!("{what}: {error}"))
    }

    /// Prints the failure to stderr, if it has a message, and returns the exit code.
    pub fn report(&self) -> ExitCode {
        match self {
            Failure::BrokenPipe => ExitCode::SUCCESS,
            Failure::Usage(message) => {
                complain(message);
                ExitCode::from(2)
            }
            Failure::Failed(message) => {
                complain(message);
                ExitCode::FAILURE
            }
            Failure::Reported => ExitCode::FAILURE,
        }
    }
}

/// Prints `dunnage: message` to stderr, as one line.
pub fn complain(message: impl fmt::Display) {
    // Keys, titles and file names come from others.
    let message = printable(&message.to_string().replace(['\n', '\r'], " "));
    // If stderr is closed, the message cannot be shown.
    let _ = writeln!(anstream::stderr(), "{RED}dunnage:{RED:#} {message}");
}

/// An error of writing to stdout. Other I/O errors go through [`Failure::about`], which names the file.
impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::BrokenPipe => Failure::BrokenPipe,
            _ => Failure::about("standard output", error),
        }
    }
}

/// Formats the error as `kind: message at byte N`.
impl From<dunnage_formats::Error> for Failure {
    fn from(error: dunnage_formats::Error) -> Self {
        Failure::Failed(error.to_string())
    }
}
