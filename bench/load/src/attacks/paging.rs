//! Readers that page from the beginning of a long list, as a page of another site in a browser on this machine could, too.

use super::{Outcome, http};
use crate::Failure;
use std::{
    fmt::Write,
    net::{IpAddr, SocketAddr},
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering::Relaxed},
    },
    time::Duration,
};
use tokio::{task::JoinSet, time::timeout};

/// Concurrent readers.
const READERS: usize = 60;
/// Messages in each request that fills the list.
const BATCH: usize = 1000;
/// Timeout for an answer.
const PATIENCE: Duration = Duration::from_secs(10);

/// Stores `count` messages of a device, and waits until the output has written them to `files`. Fails if this takes more than a minute.
pub async fn fill(source: IpAddr, address: SocketAddr, count: usize, files: &Path) -> Result<(), Failure> {
    for first in (0..count).step_by(BATCH) {
        let mut lines = String::new();
        for number in first..first + BATCH {
            writeln!(lines, "{{\"n\":{number}}}")?;
        }
        let headers = format!("content-type: application/x-ndjson\r\ncontent-length: {}\r\n", lines.len());
        let request = http::head("POST", "/ingest/history", address, &headers) + &lines;
        let status = http::once(source, address, request.as_bytes()).await?;
        if status != 204 && status != 200 {
            return Err(format!("a batch was answered with {status}").into());
        }
    }
    for _ in 0..600 {
        if delivered(files)? >= count {
            return Ok(());
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    Err("the output did not get the messages".into())
}

/// Counts the lines in the output's files.
fn delivered(folder: &Path) -> std::io::Result<usize> {
    let mut lines = 0;
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_file() {
            lines += std::fs::read(path)?.iter().filter(|byte| **byte == b'\n').count();
        }
    }
    Ok(lines)
}

/// Reads from the list's end with `before=0` while `keep_going` returns true, half of the readers as a page of another site. Meanwhile the
/// output must continue, and the other site's page must not read anything.
pub async fn run(
    source: IpAddr,
    address: SocketAddr,
    files: &Path,
    keep_going: impl Fn() -> bool,
) -> Result<Outcome, Failure> {
    let stop = Arc::new(AtomicBool::new(false));
    let (sent, succeeded) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicU64::new(0)));
    let mut readers = JoinSet::new();
    for number in 0..READERS {
        let foreign = number % 2 == 0;
        let headers = if foreign { "sec-fetch-site: cross-site\r\nsec-fetch-mode: no-cors\r\n" } else { "" };
        let request = http::head("GET", "/api/devices/history/messages?before=0&limit=1", address, headers);
        let (stop, sent, succeeded) = (Arc::clone(&stop), Arc::clone(&sent), Arc::clone(&succeeded));
        readers.spawn(async move {
            while !stop.load(Relaxed) {
                let answer = timeout(PATIENCE, http::once(source, address, request.as_bytes())).await;
                sent.fetch_add(1, Relaxed);
                if foreign && matches!(answer, Ok(Ok(200))) {
                    succeeded.fetch_add(1, Relaxed);
                }
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        });
    }
    let begin = delivered(files)?;
    while keep_going() {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let during = delivered(files)? - begin;
    stop.store(true, Relaxed);
    let mut outcome = Outcome::default();
    // The well-behaved client has sent messages during the attack, so the output had work.
    if during == 0 {
        outcome.add_violation("the output delivered nothing".into());
    }
    let succeeded = succeeded.load(Relaxed);
    if succeeded > 0 {
        outcome.add_violation(format!("cross-site requests succeeded {succeeded} times"));
    }
    while readers.join_next().await.is_some() {}
    outcome.sent = sent.load(Relaxed);
    outcome.description = format!("{READERS} readers with `before=0`, half of them cross-site");
    Ok(outcome)
}
