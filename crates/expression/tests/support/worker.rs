//! The process that evaluates expressions for a test.

use std::process::ExitCode;

fn main() -> ExitCode {
    dunnage_expression::work_if_asked().unwrap_or(ExitCode::FAILURE)
}
