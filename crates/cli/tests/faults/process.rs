//! Signalling processes and waiting for them.

use crate::Failure;
use std::{
    path::Path,
    process::{Child, Command, ExitStatus},
    time::{Duration, Instant},
};

/// Sends `signal` to a process.
pub fn signal(child: &Child, signal: &str) -> Result<(), Failure> {
    let sent = Command::new("kill").args([&format!("-{signal}"), &child.id().to_string()]).status()?;
    if sent.success() { Ok(()) } else { Err(format!("no process {}", child.id()).into()) }
}

/// Waits until a process has exited. Kills it and returns an error after `limit`.
pub fn end(child: &mut Child, limit: Duration) -> Result<ExitStatus, Failure> {
    let begun = Instant::now();
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(status);
        }
        if begun.elapsed() > limit {
            child.kill()?;
            child.wait()?;
            return Err(format!("process {} did not exit", child.id()).into());
        }
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Polls `ask` until it returns a value. Returns an error after `limit`.
pub fn until<T>(what: &str, limit: Duration, mut ask: impl FnMut() -> Option<T>) -> Result<T, Failure> {
    let begun = Instant::now();
    loop {
        if let Some(answer) = ask() {
            return Ok(answer);
        }
        if begun.elapsed() > limit {
            return Err(format!("timed out after {limit:?} waiting until {what}").into());
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// The last lines of a log.
pub fn tail(log: &Path) -> String {
    let text = std::fs::read_to_string(log).unwrap_or_default();
    let lines: Vec<_> = text.lines().collect();
    lines[lines.len().saturating_sub(25)..].join("\n")
}

/// Runs a command. Returns an error with its stderr if it fails.
pub fn run(command: &mut Command) -> Result<(), Failure> {
    let output = command.output()?;
    match output.status.success() {
        true => Ok(()),
        false => Err(format!("{command:?}: {}", String::from_utf8_lossy(&output.stderr)).into()),
    }
}
