//! The process that computes for the playground of a test.

use std::process::ExitCode;

fn main() -> ExitCode {
    dunnage_playground::work_if_asked().unwrap_or(ExitCode::FAILURE)
}
