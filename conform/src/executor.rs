//! The executor's process, which reads requests and writes answers.

use crate::requests::{Limits, Request};
use anyhow::{Context, Result, bail};
use std::{
    fmt,
    io::{BufRead, BufReader, Write},
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
    sync::{
        Arc, Mutex,
        atomic::{AtomicU64, Ordering},
    },
    thread,
    time::Duration,
};

/// How long an executor may be silent before it counts as hung.
const PATIENCE: Duration = Duration::from_secs(120);

/// Number of wrong answers that are printed.
const SHOWN: u64 = 20;

/// A running executor.
pub struct Executor {
    child: Arc<Mutex<Child>>,
    requests: Option<ChildStdin>,
    answers: BufReader<ChildStdout>,
    /// Incremented after every batch, for the watchdog.
    progress: Arc<AtomicU64>,
    /// Maximum request length in bytes.
    line: usize,
    /// Counts since [`Tally::take`] was last called.
    pub tally: Tally,
    shown: u64,
}

/// The number of requests, by answer.
#[derive(Default, Clone, Copy)]
pub struct Tally {
    pub asked: u64,
    pub skipped: u64,
    pub wrong: u64,
}

impl Tally {
    /// Returns the counts and resets them to 0.
    pub fn take(&mut self) -> Tally {
        std::mem::take(self)
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} requests, {} skipped, {} wrong", self.asked, self.skipped, self.wrong)
    }
}

impl Executor {
    /// Starts `command`: a program and its arguments.
    pub fn start(command: &[String]) -> Result<Executor> {
        let Some((program, arguments)) = command.split_first() else { bail!("no executor") };
        let mut child = Command::new(program)
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .with_context(|| format!("cannot start {program}"))?;
        let requests = child.stdin.take();
        let answers = BufReader::with_capacity(1 << 16, child.stdout.take().context("no stdout")?);
        let child = Arc::new(Mutex::new(child));
        let progress = Arc::new(AtomicU64::new(0));
        watch(Arc::clone(&child), Arc::clone(&progress));
        Ok(Executor { child, requests, answers, progress, line: 0, tally: Tally::default(), shown: 0 })
    }

    /// Sends `hello` and returns the library's limits.
    pub fn hello(&mut self) -> Result<Limits> {
        let requests = self.requests.as_mut().context("the executor has exited")?;
        requests.write_all(b"hello\n\n")?;
        requests.flush()?;
        let mut answer = String::new();
        self.answers.read_line(&mut answer)?;
        let limits = Limits::parse(&answer)?;
        self.line = limits.line;
        Ok(limits)
    }

    /// Sends the requests of `batch` that are not too long, counts the answers, and prints the first wrong ones. Requests that
    /// are too long count as skipped.
    pub fn ask(&mut self, batch: &[Request]) -> Result<()> {
        let requests = self.requests.as_mut().context("the executor has exited")?;
        let answers = &mut self.answers;
        let (tally, shown, longest) = (&mut self.tally, &mut self.shown, self.line);
        let short: Vec<&Request> =
            batch.iter().filter(|request| request.line.len() <= longest.saturating_add(1)).collect();
        tally.asked += (batch.len() - short.len()) as u64;
        tally.skipped += (batch.len() - short.len()) as u64;
        thread::scope(|scope| {
            let writing = scope.spawn(|| -> std::io::Result<()> {
                for request in &short {
                    requests.write_all(request.line.as_bytes())?;
                }
                requests.write_all(b"\n")?;
                requests.flush()
            });
            let mut answer = String::new();
            for request in &short {
                answer.clear();
                if answers.read_line(&mut answer)? == 0 {
                    bail!(
                        "the executor exited, or was stopped after {PATIENCE:?}, at: {}",
                        request.line.trim_end()
                    );
                }
                count(request, answer.trim_end(), tally, shown);
            }
            match writing.join() {
                Ok(written) => Ok(written?),
                Err(_) => bail!("the requests were not written"),
            }
        })?;
        self.progress.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }

    /// Closes the executor's input and waits for it. Returns an error if it does not exit with 0.
    pub fn end(mut self) -> Result<()> {
        drop(self.requests.take());
        let status = self.child.lock().map_err(|_| anyhow::anyhow!("the watchdog panicked"))?.wait()?;
        if !status.success() {
            bail!("the executor exited with {status}");
        }
        Ok(())
    }
}

fn count(request: &Request, answer: &str, tally: &mut Tally, shown: &mut u64) {
    tally.asked += 1;
    if answer == request.expected {
        return;
    }
    if answer == "skip" {
        tally.skipped += 1;
        return;
    }
    tally.wrong += 1;
    *shown += 1;
    if *shown <= SHOWN {
        println!(
            "{}\n    request  {}\n    expected {}\n    answered {answer}",
            request.name,
            request.line.trim_end(),
            request.expected
        );
    }
}

/// Starts a thread that kills the child if it makes no progress for [`PATIENCE`].
fn watch(child: Arc<Mutex<Child>>, progress: Arc<AtomicU64>) {
    thread::spawn(move || {
        loop {
            let before = progress.load(Ordering::Relaxed);
            thread::sleep(PATIENCE);
            if progress.load(Ordering::Relaxed) == before {
                if let Ok(mut child) = child.lock() {
                    // The child may have exited already.
                    let _ = child.kill();
                }
                return;
            }
        }
    });
}
