//! A link that a program serves, such as the driver of a modem.

use super::{ExecSettings, unsent::Unsent};
use crate::Failed;
use std::{future::pending, process::Stdio};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    process::{Child, ChildStderr, Command},
};

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

    /// Hands a batch to the program, and waits until it ends. If the future is dropped, the program is killed, with those that it has started.
    pub async fn send(&self, batch: Vec<u8>) -> Result<(), Unsent> {
        let failed = |e: std::io::Error| Failed::retry(format!("{}: {e}", self.program));
        let mut command = Command::new(&self.program);
        command.args(&self.arguments).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped());
        #[cfg(unix)]
        command.process_group(0);
        let mut started = Started(Some(command.kill_on_drop(true).spawn().map_err(failed)?));
        let Some(child) = &mut started.0 else { return Ok(()) };
        let (mut input, errors) = (child.stdin.take(), child.stderr.take());
        let mut said = Vec::new();
        let feed = async {
            if let Some(input) = &mut input {
                // A program that has read enough may close its input, and its exit code says whether that is a failure.
                let _ = input.write_all(&batch).await;
            }
            drop(input);
            pending::<()>().await;
        };
        // A program that it leaves behind may keep its standard error open, so only its end counts.
        let status = tokio::select! {
            status = child.wait() => status.map_err(failed)?,
            () = feed => return Ok(()),
            () = drain(errors, &mut said) => return Ok(()),
        };
        started.0 = None;
        if status.success() {
            return Ok(());
        }
        let said = String::from_utf8_lossy(&said).replace(char::is_control, " ");
        Err(Failed::retry(format!("{} ended with {status}: {}", self.program, said.trim())).into())
    }
}

/// Reads what the program writes, keeps the beginning in `said`, and never ends.
async fn drain(errors: Option<ChildStderr>, said: &mut Vec<u8>) {
    let mut part = [0; 1024];
    if let Some(mut errors) = errors {
        while let Ok(count @ 1..) = errors.read(&mut part).await {
            said.extend_from_slice(&part[..count.min(SHOWN_BYTES - said.len())]);
        }
    }
    pending::<()>().await;
}

/// A program that has not ended. Dropping this kills it, and those that it has started.
struct Started(Option<Child>);

impl Drop for Started {
    fn drop(&mut self) {
        #[cfg(unix)]
        {
            let group = self.0.as_ref().and_then(Child::id).and_then(|id| i32::try_from(id).ok());
            if let Some(group) = group.and_then(rustix::process::Pid::from_raw) {
                let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
            }
        }
    }
}
