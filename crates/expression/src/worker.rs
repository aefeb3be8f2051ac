//! A process that evaluates, as its owner sees it.

use crate::{
    limits,
    process::{ARGUMENT, LATE},
    program::Expressions,
    verdict::Verdict,
};
use dunnage_base::child;
use std::{io, path::PathBuf, process::Stdio, sync::OnceLock};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt, BufReader},
    process::{Child, ChildStdin, ChildStdout, Command},
    sync::Mutex,
    time::timeout,
};

/// The program that evaluates: by default the running one. Tests set it, because a test is not that program. The program must call
/// [`work_if_asked`](crate::work_if_asked) first.
pub static PROGRAM: OnceLock<PathBuf> = OnceLock::new();

/// Evaluates expressions in a process of its own, which starts with the first message and again after one that exceeded a limit.
pub struct Worker {
    expressions: Expressions,
    process: Mutex<Option<Process>>,
}

struct Process {
    child: Child,
    requests: ChildStdin,
    answers: BufReader<ChildStdout>,
}

/// Why a process did not answer.
enum Lost {
    /// A message exceeded a limit.
    Limit(String),
    /// The process could not be started or reached: a fault of the machine, not of a message.
    Machine(io::Error),
}

impl Worker {
    /// Creates a worker for `expressions`, which must have been checked.
    pub fn new(expressions: Expressions) -> Worker {
        Worker { expressions, process: Mutex::default() }
    }

    /// Evaluates the expressions for each of `messages`, in JSON.
    ///
    /// # Errors
    /// The process could not be started. Then nothing is known about any message.
    pub async fn evaluate(&self, messages: &[Vec<u8>]) -> io::Result<Vec<Verdict>> {
        let mut process = self.process.lock().await;
        match self.ask(&mut process, messages).await {
            Ok(verdicts) => return Ok(verdicts),
            Err(Lost::Machine(error)) => return Err(error),
            Err(Lost::Limit(_)) => {}
        }
        // One of the messages is at fault, and it is not known which.
        let mut verdicts = Vec::with_capacity(messages.len());
        for message in messages {
            match self.ask(&mut process, std::slice::from_ref(message)).await {
                Ok(found) => verdicts.extend(found),
                Err(Lost::Limit(reason)) => verdicts.push(Verdict::failed("an expression", &reason)),
                Err(Lost::Machine(error)) => return Err(error),
            }
        }
        Ok(verdicts)
    }

    /// Asks the process, which is started if there is none. There is none afterwards if it did not answer, or if the caller gave up.
    async fn ask(&self, kept: &mut Option<Process>, messages: &[Vec<u8>]) -> Result<Vec<Verdict>, Lost> {
        let mut process = match kept.take() {
            Some(process) => process,
            None => Process::start(&self.expressions).await.map_err(Lost::Machine)?,
        };
        match process.exchange(messages).await {
            Ok(verdicts) => {
                *kept = Some(process);
                Ok(verdicts)
            }
            Err(error) if error.kind() == io::ErrorKind::TimedOut => Err(Lost::Machine(error)),
            Err(_) => Err(Lost::Limit(process.end().await)),
        }
    }
}

impl Process {
    async fn start(expressions: &Expressions) -> io::Result<Process> {
        let program = PROGRAM.get().map_or_else(child::program, |program| Ok(program.clone()))?;
        let mut command = Command::new(program);
        // The environment may hold credentials. Memory that mimalloc only reserves must not count, so that the bound is on what is used.
        command.arg(ARGUMENT).env_clear().env("MIMALLOC_ARENA_EAGER_COMMIT", "0");
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).kill_on_drop(true);
        let mut child = command.spawn()?;
        let (Some(requests), Some(answers)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(io::ErrorKind::BrokenPipe.into());
        };
        let mut process =
            Process { child, requests, answers: BufReader::with_capacity(limits::PIPE, answers) };
        let expressions = serde_json::to_vec(expressions)?;
        let begun = timeout(limits::ANSWER, async {
            process.requests.write_all(&frames([&expressions])).await?;
            read(&mut process.answers).await
        });
        begun.await.map_err(|_| io::ErrorKind::TimedOut)??;
        Ok(process)
    }

    /// Sends all messages, and reads the verdict of each.
    async fn exchange(&mut self, messages: &[Vec<u8>]) -> io::Result<Vec<Verdict>> {
        let Process { requests, answers, .. } = self;
        let requested = frames(messages);
        // The process answers before it has read everything, so the answers must be read meanwhile.
        let send = async { requests.write_all(&requested).await };
        let receive = async {
            let mut verdicts = Vec::with_capacity(messages.len());
            while verdicts.len() < messages.len() {
                // Many messages may take long together, so the time is for each.
                let answer = timeout(limits::ANSWER, read(answers)).await;
                let verdict = Verdict::read(&answer.map_err(|_| io::ErrorKind::TimedOut)??);
                verdicts.push(verdict.ok_or(io::ErrorKind::InvalidData)?);
            }
            Ok(verdicts)
        };
        let ((), verdicts) = tokio::try_join!(send, receive)?;
        Ok(verdicts)
    }

    /// Waits for the end of a process that has stopped to answer, and returns the reason. It had read the expressions, so a message is at
    /// fault, unless somebody has killed the process; a message therefore gets a second process.
    async fn end(mut self) -> String {
        drop(self.requests);
        let status = timeout(limits::ANSWER, self.child.wait()).await;
        let code = status.ok().and_then(Result::ok).map(|status| status.code());
        match code {
            Some(Some(code)) if code == i32::from(LATE) => {
                format!("took more than {} ms", limits::TIME.as_millis())
            }
            // It aborts when an allocation fails and when the stack overflows.
            Some(None) => format!("took more than {} MB, or nests too deep", limits::MEMORY >> 20),
            Some(Some(_)) | None => "could not be evaluated".into(),
        }
    }
}

fn frames<'m>(contents: impl IntoIterator<Item = &'m Vec<u8>>) -> Vec<u8> {
    let mut frames = Vec::new();
    for content in contents {
        // A message is far shorter than 4 GiB.
        frames.extend_from_slice(&u32::try_from(content.len()).unwrap_or(u32::MAX).to_le_bytes());
        frames.extend_from_slice(content);
    }
    frames
}

async fn read(answers: &mut BufReader<ChildStdout>) -> io::Result<Vec<u8>> {
    let length = answers.read_u32_le().await?;
    let mut frame = vec![0; usize::try_from(length).unwrap_or(0)];
    answers.read_exact(&mut frame).await?;
    Ok(frame)
}
