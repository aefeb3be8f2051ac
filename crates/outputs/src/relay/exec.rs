//! A link behind a program: a modem that this gateway does not know, or anything else that takes bytes.

use super::ExecSettings;
use crate::Failed;
use std::process::Stdio;
use tokio::{io::AsyncWriteExt, process::Command};

/// How many bytes of what the program writes to its standard error are shown.
const SHOWN_BYTES: usize = 200;

/// The link.
pub struct Exec {
    program: String,
    arguments: Vec<String>,
}

impl Exec {
    /// Opens the link. An error begins with the key.
    pub fn new(settings: &ExecSettings) -> Result<Exec, String> {
        match settings.command.split_first() {
            Some((program, arguments)) if !program.is_empty() => {
                Ok(Exec { program: program.clone(), arguments: arguments.to_vec() })
            }
            _ => Err("command: must name a program".into()),
        }
    }

    /// Hands a batch to the program, and waits until it ends. It is killed if the future is dropped.
    pub async fn send(&self, batch: Vec<u8>) -> Result<(), Failed> {
        let failed = |e: std::io::Error| Failed::retry(format!("{}: {e}", self.program));
        let mut child = Command::new(&self.program)
            .args(&self.arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .map_err(failed)?;
        let mut input = child.stdin.take();
        let write = async {
            if let Some(input) = &mut input {
                // A program that has read enough may close its input, and its exit code says whether that is a failure.
                let _ = input.write_all(&batch).await;
            }
            drop(input);
        };
        let ((), output) = tokio::join!(write, child.wait_with_output());
        let output = output.map_err(failed)?;
        if output.status.success() {
            return Ok(());
        }
        let shown = &output.stderr[..output.stderr.len().min(SHOWN_BYTES)];
        let said = String::from_utf8_lossy(shown).replace(char::is_control, " ");
        Err(Failed::retry(format!("{} ended with {}: {}", self.program, output.status, said.trim())))
    }
}
