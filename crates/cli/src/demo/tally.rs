//! The results of the fleet's reports.

use super::{input::Input, report::Report};
use std::collections::BTreeMap;
use tokio::task::JoinError;

/// The result of one report: its input, format and size, and whether it was acknowledged.
pub struct Outcome {
    pub input: Input,
    pub format: &'static str,
    pub bytes: usize,
    pub acknowledged: Result<(), String>,
}

impl Outcome {
    pub fn of(report: &Report, acknowledged: Result<(), String>) -> Outcome {
        let Report { input, format, ref body, .. } = *report;
        Outcome { input, format: format.name(), bytes: body.len(), acknowledged }
    }
}

/// The results of all reports.
#[derive(Default)]
pub struct Tally {
    pub sent: u64,
    pub acknowledged: u64,
    /// Acknowledged messages per input.
    pub inputs: BTreeMap<Input, u64>,
    /// Messages and bytes per format.
    pub formats: BTreeMap<&'static str, (u64, u64)>,
    /// The error of the last report that was not acknowledged.
    pub trouble: Option<String>,
}

impl Tally {
    pub fn add(&mut self, outcome: Result<Outcome, JoinError>) {
        self.sent += 1;
        match outcome {
            Ok(Outcome { input, format, bytes, acknowledged: Ok(()) }) => {
                self.acknowledged += 1;
                *self.inputs.entry(input).or_default() += 1;
                let (messages, total) = self.formats.entry(format).or_default();
                *messages += 1;
                *total += bytes as u64;
            }
            Ok(Outcome { input, acknowledged: Err(reason), .. }) => {
                self.trouble = Some(format!("{input}: {reason}"));
            }
            Err(error) => self.trouble = Some(error.to_string()),
        }
    }
}
