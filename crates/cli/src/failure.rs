//! How a command ends when it does not end well.

use anstyle::{AnsiColor, Style};
use std::{fmt, io, io::Write, process::ExitCode};

/// The red of errors, on terminals.
pub const RED: Style = AnsiColor::Red.on_default();

/// Why a command stops.
#[derive(Debug)]
pub enum Failure {
    /// Whatever read our output has gone; that is its right. Exit code 0.
    BrokenPipe,
    /// The arguments do not make sense together. Exit code 2.
    Usage(String),
    /// It did not work. Exit code 1.
    Failed(String),
    /// It did not work, and the reason has been printed already. Exit code 1.
    Reported,
}

impl Failure {
    /// A failure with the context that `error` lacks: `what: error`.
    pub fn about(what: impl fmt::Display, error: impl fmt::Display) -> Failure {
        Failure::Failed(format!("{what}: {error}"))
    }

    /// Prints the failure to stderr, if there is anything to say, and gives the exit code.
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
    let message = message.to_string().replace(['\n', '\r'], " ");
    // When stderr is closed there is nobody left to tell.
    let _ = writeln!(anstream::stderr(), "{RED}dunnage:{RED:#} {message}");
}

/// Of writing to stdout. Other input and output goes through [`Failure::about`], which names the file.
impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::BrokenPipe => Failure::BrokenPipe,
            _ => Failure::about("standard output", error),
        }
    }
}

/// `kind: message at byte N`.
impl From<dunnage_formats::Error> for Failure {
    fn from(error: dunnage_formats::Error) -> Self {
        Failure::Failed(error.to_string())
    }
}
