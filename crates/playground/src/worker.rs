//! Computes an answer in a process of its own. Nothing else bounds what a schema makes others compute: the process is ended when the answer
//! takes too long, when its client leaves and when others wait, and the kernel bounds its memory.
//!
//! The process is the running program again, with [`ARGUMENT`] and the name of the task. It reads the request from standard input and writes
//! an [`Outcome`] to standard output.

use crate::{
    answer::{NoAnswer, answer},
    bytes::explain,
    limits::{MEMORY, STACK, WORK},
    savings,
};
use dunnage_base::child;
use serde::{Deserialize, Serialize};
use std::{
    env,
    io::{self, Read, Write},
    path::PathBuf,
    process::{ExitCode, ExitStatus, Stdio},
    sync::OnceLock,
    thread::Builder,
};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    process::Command,
};

/// The first argument of the process.
const ARGUMENT: &str = "playground-worker";
/// The most bytes of an outcome. Generated files and explanations are shorter in all.
const MAX_OUTCOME: u64 = 16 << 20;

/// The program that computes: by default the running one. Tests set it, because a test is not that program. The program must call
/// [`work_if_asked`] first.
pub static PROGRAM: OnceLock<PathBuf> = OnceLock::new();

/// The kind of computation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Task {
    Answer,
    Bytes,
    Savings,
}

const TASKS: [(&str, Task); 3] =
    [("answer", Task::Answer), ("bytes", Task::Bytes), ("savings", Task::Savings)];

/// The output of the process.
#[derive(Debug, Serialize, Deserialize)]
pub enum Outcome<A> {
    Answer(A),
    Refused(NoAnswer),
}

/// Computes in a process of its own; returns the text of an [`Outcome`]. The process ends when the future is dropped.
///
/// # Errors
/// `None` if the process took too much memory; otherwise the process could not be started, or it failed.
pub async fn compute(task: Task, request: &[u8]) -> Result<Vec<u8>, Option<io::Error>> {
    let (outcome, status) = run(task, request).await?;
    match status.code() {
        Some(0) => Ok(outcome),
        Some(_) => Err(Some(io::Error::other(format!("the process that computes ended with {status}")))),
        // A signal: it aborts when an allocation fails.
        None => Err(None),
    }
}

async fn run(task: Task, request: &[u8]) -> io::Result<(Vec<u8>, ExitStatus)> {
    let name = TASKS.iter().find(|(_, known)| *known == task).map_or("", |(name, _)| name);
    let mut command = Command::new(PROGRAM.get().map_or_else(child::program, |program| Ok(program.clone()))?);
    // The environment may hold credentials. Memory that mimalloc only reserves must not count, so that the bound is on what is used.
    command.args([ARGUMENT, name]).env_clear().env("MIMALLOC_ARENA_EAGER_COMMIT", "0");
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).kill_on_drop(true);
    let mut process = command.spawn()?;
    let (stdin, stdout) = (process.stdin.take(), process.stdout.take());
    let (Some(mut stdin), Some(stdout)) = (stdin, stdout) else {
        return Err(io::ErrorKind::BrokenPipe.into());
    };
    // The process reads everything before it writes.
    stdin.write_all(request).await?;
    drop(stdin);
    let mut outcome = Vec::new();
    stdout.take(MAX_OUTCOME).read_to_end(&mut outcome).await?;
    Ok((outcome, process.wait().await?))
}

/// Computes an answer and returns the exit code, if the process was started for that. Every program with a playground calls this first.
pub fn work_if_asked() -> Option<ExitCode> {
    let mut arguments = env::args_os().skip(1);
    arguments.next().filter(|argument| argument == ARGUMENT)?;
    let name = arguments.next().unwrap_or_default();
    let task = TASKS.iter().find(|(known, _)| name == *known).map(|(_, task)| *task);
    let outcome = match task {
        Some(task) => work(task),
        None => Err(io::Error::from(io::ErrorKind::InvalidInput)),
    };
    Some(match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let _ = writeln!(io::stderr(), "{ARGUMENT}: {error}");
            ExitCode::FAILURE
        }
    })
}

fn work(task: Task) -> io::Result<()> {
    // Also for the case that the parent is gone.
    child::restrict((STACK as u64).saturating_add(MEMORY), Some(WORK))?;
    let mut request = Vec::new();
    io::stdin().read_to_end(&mut request)?;
    let compute = move || match task {
        Task::Answer => serde_json::to_vec(&match answer(&serde_json::from_slice(&request)?) {
            Ok(answer) => Outcome::Answer(answer),
            Err(reason) => Outcome::Refused(reason),
        }),
        Task::Bytes => serde_json::to_vec(&Outcome::Answer(explain(&serde_json::from_slice(&request)?))),
        Task::Savings => {
            serde_json::to_vec(&Outcome::Answer(savings::list(&serde_json::from_slice(&request)?)))
        }
    };
    let thread = Builder::new().stack_size(STACK).spawn(compute)?;
    let outcome = thread.join().map_err(|_| io::Error::other("the computation panicked"))??;
    io::stdout().write_all(&outcome)
}
