//! Deletes or replaces the buffer's files while messages arrive. The gateway must not acknowledge messages that a restart would lose.

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
/// Timeout for an answer.
const PATIENCE: Duration = Duration::from_secs(10);

/// The damage to the files.
#[derive(Debug, Clone, Copy)]
pub enum FileDamage {
    /// All files are deleted.
    Deleted,
    /// Only the log is deleted.
    LogDeleted,
    /// A copy replaces the buffer.
    Replaced,
    /// The folder is renamed, and an empty one is created in its place.
    FolderReplaced,
}

/// All kinds of damage. Each is an attack of its own.
pub const FILE_DAMAGES: [FileDamage; 4] =
    [FileDamage::Deleted, FileDamage::LogDeleted, FileDamage::Replaced, FileDamage::FolderReplaced];

impl FileDamage {
    fn apply(self, folder: &Path) -> io::Result<()> {
        let (file, log) = (folder.join(FILE), folder.join(LOG));
        match self {
            FileDamage::Deleted => {
                for name in [FILE, LOG, "buffer.sqlite3-shm"] {
                    fs::remove_file(folder.join(name))?;
                }
                Ok(())
            }
            FileDamage::LogDeleted => fs::remove_file(log),
            FileDamage::Replaced => {
                let copy = folder.join("copy");
                fs::copy(&file, &copy)?;
                fs::rename(copy, file)
            }
            FileDamage::FolderReplaced => {
                fs::rename(folder, folder.with_extension("moved"))?;
                fs::create_dir(folder)
            }
        }
    }
}

/// Stores a message, damages the buffer in `folder`, and then sends messages one after the other while `keep_going` returns true. At the
/// end, `/readyz` must answer 200 if the gateway still accepts messages, and otherwise 503.
pub async fn run(
    damage: FileDamage,
    folder: &Path,
    source: IpAddr,
    address: SocketAddr,
    keep_going: impl Fn() -> bool,
) -> Result<Outcome, Failure> {
    let mut outcome = Outcome::default();
    // The log exists only after a message has been stored.
    if timeout(PATIENCE, http::once(source, address, &http::post("d", address, "0"))).await?? != 204 {
        return Err("the gateway rejected a message before the damage".into());
    }
    damage.apply(folder)?;
    let mut is_accepted = true;
    while keep_going() {
        outcome.sent += 1;
        let message = http::post("d", address, &outcome.sent.to_string());
        let answer = timeout(PATIENCE, http::once(source, address, &message)).await;
        is_accepted = matches!(answer, Ok(Ok(204)));
        if is_accepted {
            outcome.acknowledged.push(outcome.sent);
        }
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
    let request = http::head("GET", "/readyz", address, "");
    let ready = timeout(PATIENCE, http::once(source, address, request.as_bytes())).await??;
    if ready != if is_accepted { 200 } else { 503 } {
        outcome.add_violation(format!("/readyz answers {ready}, but messages accepted: {is_accepted}"));
    }
    outcome.description =
        format!("{damage:?}; {} messages acknowledged afterwards", outcome.acknowledged.len());
    Ok(outcome)
}

/// Counts the messages that were acknowledged after the damage and that a restart would not find in `folder`.
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
