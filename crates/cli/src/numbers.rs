//! The argument for numbers in text that no value holds exactly.

use clap::{Args, ValueEnum};
use dunnage_formats::{Altered, Error};

#[derive(Args)]
pub struct Numbers {
    /// Numbers in JSON, SenML, CSV, XML and YAML whose digits neither 64 bits nor a binary64 keep: exact rejects them, nearest rounds
    /// them, lenient also reads NaN and infinities in JSON as null
    #[arg(long = "numbers", value_name = "CHOICE", value_enum, default_value = "exact")]
    choice: Choice,
}

#[derive(Clone, Copy, ValueEnum)]
enum Choice {
    Exact,
    Nearest,
    Lenient,
}

impl Numbers {
    /// Returns how a format reads them; `altered` counts.
    pub fn of<'a>(&self, altered: &'a Altered) -> dunnage_formats::Numbers<'a> {
        match self.choice {
            Choice::Exact => dunnage_formats::Numbers::Exact,
            Choice::Nearest => dunnage_formats::Numbers::Nearest(altered),
            Choice::Lenient => dunnage_formats::Numbers::Lenient(altered),
        }
    }
}

/// Returns the text of `error`, with the choice that reads the number at fault.
pub fn with_choice(error: &Error) -> String {
    match error.numbers() {
        Some("lenient") => format!("{error}; --numbers lenient reads it as null"),
        Some(choice) => format!("{error}; --numbers {choice} reads the nearest binary64"),
        None => error.to_string(),
    }
}
