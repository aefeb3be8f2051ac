//! Somebody deletes or replaces the buffer's files while messages come. What is acknowledged afterwards would be lost.

use super::{Outcome, http};
use crate::Failure;
use rusqlite::Connection;
use std::{
    collections::HashSet,
    fs, io,
    net::{IpAddr, SocketAddr},
    path::Path,
    time::Duration,
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

/// Sends messages one after another, does the harm to the buffer in `folder`, and goes on sending. `/readyz` has to say whether
/// messages are still taken.
pub async fn run(
    harm: Harm,
    folder: &Path,
    source: IpAddr,
    address: SocketAddr,
    more: impl Fn() -> bool,
) -> Result<Outcome, Failure> {
    let mut outcome = Outcome::default();
    // The log is there once something has been stored.
    if timeout(PATIENCE, http::once(source, address, &http::post("d", address, "0"))).await?? != 204 {
        return Err("the gateway does not take a message before the harm is done".into());
    }
    harm.done(folder)?;
    let mut is_taken = true;
    while more() {
        outcome.sent += 1;
        let message = http::post("d", address, &outcome.sent.to_string());
        let answer = timeout(PATIENCE, http::once(source, address, &message)).await;
        is_taken = matches!(answer, Ok(Ok(204)));
        if is_taken {
            outcome.acknowledged.push(outcome.sent);
        }
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
    let question = http::head("GET", "/readyz", address, "");
    let ready = timeout(PATIENCE, http::once(source, address, question.as_bytes())).await??;
    if ready != if is_taken { 200 } else { 503 } {
        outcome.wrong(format!("/readyz says {ready} while messages are taken: {is_taken}"));
    }
    outcome.told = format!("{harm:?}; {} messages acknowledged afterwards", outcome.acknowledged.len());
    Ok(outcome)
}

/// How many of the messages that were acknowledged after the harm the next start would not find in `folder`.
pub fn missing(folder: &Path, acknowledged: &[u64]) -> Result<usize, Failure> {
    let file = folder.join(FILE);
    if acknowledged.is_empty() || !file.exists() {
        return Ok(acknowledged.len());
    }
    let connection = Connection::open(file)?;
    let mut statement = connection.prepare("SELECT json FROM messages WHERE device = 'd'")?;
    let stored = statement.query_map([], |row| row.get::<_, String>(0))?;
    let stored: HashSet<u64> = stored.filter_map(|json| json.ok()?.parse().ok()).collect();
    Ok(acknowledged.iter().filter(|number| !stored.contains(number)).count())
}
