//! Somebody deletes or replaces the buffer's files while messages come. What is acknowledged afterwards would be lost.

use super::{Outcome, http};
use crate::Failure;
use std::{
    fs, io,
    net::{IpAddr, SocketAddr},
    path::Path,
    time::{Duration, Instant},
};
use tokio::time::timeout;

/// The buffer and its write-ahead log.
const FILE: &str = "buffer.sqlite3";
const LOG: &str = "buffer.sqlite3-wal";
/// Longest wait for an answer.
const PATIENCE: Duration = Duration::from_secs(10);

/// What is done to the files.
#[derive(Debug, Clone, Copy)]
pub enum Harm {
    /// All of them are deleted.
    Deleted,
    /// The log alone is deleted.
    LogDeleted,
    /// A copy takes the place of the buffer.
    Replaced,
    /// The folder is moved away, and a new one is made.
    FolderReplaced,
}

/// Each of them in turn.
pub const HARMS: [Harm; 4] = [Harm::Deleted, Harm::LogDeleted, Harm::Replaced, Harm::FolderReplaced];

impl Harm {
    fn done(self, folder: &Path) -> io::Result<()> {
        let (file, log) = (folder.join(FILE), folder.join(LOG));
        match self {
            Harm::Deleted => {
                for name in [FILE, LOG, "buffer.sqlite3-shm"] {
                    fs::remove_file(folder.join(name))?;
                }
                Ok(())
            }
            Harm::LogDeleted => fs::remove_file(log),
            Harm::Replaced => {
                let copy = folder.join("copy");
                fs::copy(&file, &copy)?;
                fs::rename(copy, file)
            }
            Harm::FolderReplaced => {
                fs::rename(folder, folder.with_extension("moved"))?;
                fs::create_dir(folder)
            }
        }
    }
}

/// Sends messages one after another, does the harm to the buffer in `folder`, and goes on sending. After `bound` nothing may be
/// acknowledged any more, and `/readyz` has to say so.
pub async fn run(
    harm: Harm,
    folder: &Path,
    source: IpAddr,
    address: SocketAddr,
    bound: Duration,
    more: impl Fn() -> bool,
) -> Result<Outcome, Failure> {
    let mut outcome = Outcome::default();
    let mut within = 0_u64;
    let mut late = 0_u64;
    // The log is there once something has been stored.
    if timeout(PATIENCE, http::once(source, address, &http::post("d", address, "0"))).await?? != 204 {
        return Err("the gateway does not take a message before the harm is done".into());
    }
    harm.done(folder)?;
    let begun = Instant::now();
    while more() || begun.elapsed() < 2 * bound {
        let body = format!("{{\"n\":{}}}", outcome.sent);
        let after = begun.elapsed() > bound;
        outcome.sent += 1;
        let answer = timeout(PATIENCE, http::once(source, address, &http::post("d", address, &body))).await;
        if matches!(answer, Ok(Ok(204))) {
            if after { late += 1 } else { within += 1 }
        }
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
    let question = http::head("GET", "/readyz", address, "");
    let ready = timeout(PATIENCE, http::once(source, address, question.as_bytes())).await??;
    if late > 0 {
        outcome.wrong(format!("{late} messages are acknowledged into files that are gone"));
    }
    if ready != 503 {
        outcome.wrong(format!("/readyz says {ready}"));
    }
    outcome.told = format!("the buffer's files: {harm:?}; {within} messages acknowledged within {bound:?}");
    Ok(outcome)
}
