//! The process that evaluates: reads frames from standard input, and writes a frame for each to standard output.
//!
//! A frame is its length, as 4 bytes in little-endian order, and that many bytes. The first frame has the expressions, as JSON, and is
//! answered by an empty frame; each further one has a message, and is answered by its verdict.

use crate::{evaluate::Program, limits, program::Expressions};
use dunnage_base::child;
use std::{
    env,
    io::{self, BufRead, BufReader, BufWriter, Read, Write},
    process::{ExitCode, exit},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    thread,
    time::Duration,
};

/// The first argument of the process.
pub const ARGUMENT: &str = "expression-worker";
/// The exit code of a process in which a message took too long.
pub const LATE: u8 = 3;
/// How often the time is checked.
const WATCH: Duration = Duration::from_millis(20);

/// Evaluates expressions and returns the exit code, if the process was started for that. Every program with outputs calls this first.
pub fn work_if_asked() -> Option<ExitCode> {
    env::args_os().nth(1).filter(|argument| argument == ARGUMENT)?;
    let memory = (limits::STACK as u64).saturating_add(limits::MEMORY);
    // An error means that the gateway is gone, and then nobody waits for the reason.
    let work =
        || thread::Builder::new().stack_size(limits::STACK).spawn(work)?.join().map_err(|_| panicked())?;
    let worked = child::restrict(memory, None).and_then(|()| work());
    Some(if worked.is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn panicked() -> io::Error {
    io::Error::other("an evaluation panicked")
}

fn work() -> io::Result<()> {
    let mut requests = BufReader::with_capacity(limits::PIPE, io::stdin().lock());
    let mut answers = BufWriter::with_capacity(limits::PIPE, io::stdout().lock());
    let Some(first) = read(&mut requests)? else { return Ok(()) };
    let expressions: Expressions = serde_json::from_slice(&first)?;
    let program = Program::new(&expressions).map_err(io::Error::other)?;
    write(&mut answers, &[])?;
    let begun = watch()?;
    let mut answer = Vec::new();
    loop {
        // When no request is left in the buffer, the owner may be waiting for the answers.
        if requests.buffer().is_empty() {
            answers.flush()?;
        }
        let Some(message) = read(&mut requests)? else { return Ok(()) };
        begun.store(processor_time(), Ordering::Relaxed);
        let verdict = program.evaluate(&message);
        begun.store(0, Ordering::Relaxed);
        answer.clear();
        verdict.write(&mut answer);
        write(&mut answers, &answer)?;
    }
}

/// Reads a frame; `None` at the end.
fn read(requests: &mut impl BufRead) -> io::Result<Option<Vec<u8>>> {
    if requests.fill_buf()?.is_empty() {
        return Ok(None);
    }
    let mut length = [0; 4];
    requests.read_exact(&mut length)?;
    let mut frame = Vec::new();
    requests.take(u32::from_le_bytes(length).into()).read_to_end(&mut frame)?;
    Ok(Some(frame))
}

fn write(answers: &mut impl Write, frame: &[u8]) -> io::Result<()> {
    let length = u32::try_from(frame.len()).map_err(io::Error::other)?;
    answers.write_all(&length.to_le_bytes())?;
    answers.write_all(frame)
}

/// Starts a thread that ends the process when a message takes too long. Returns where to note the processor time at which a message
/// begins; 0 while there is none.
fn watch() -> io::Result<Arc<AtomicU64>> {
    let begun = Arc::new(AtomicU64::new(0));
    let watched = Arc::clone(&begun);
    thread::Builder::new().spawn(move || {
        loop {
            thread::sleep(WATCH);
            let begun = watched.load(Ordering::Relaxed);
            if begun > 0 && Duration::from_nanos(processor_time().saturating_sub(begun)) > limits::TIME {
                exit(LATE.into());
            }
        }
    })?;
    Ok(begun)
}

/// Returns the processor time of this process in nanoseconds. Time for which others have the processor does not count.
#[cfg(unix)]
fn processor_time() -> u64 {
    use rustix::time::{ClockId, clock_gettime};
    let now = clock_gettime(ClockId::ProcessCPUTime);
    u64::try_from(now.tv_sec).unwrap_or(0) * 1_000_000_000 + u64::try_from(now.tv_nsec).unwrap_or(0)
}

/// Returns the time since the first call in nanoseconds.
#[cfg(not(unix))]
fn processor_time() -> u64 {
    static START: std::sync::LazyLock<std::time::Instant> = std::sync::LazyLock::new(std::time::Instant::now);
    u64::try_from(START.elapsed().as_nanos()).unwrap_or(u64::MAX).max(1)
}
