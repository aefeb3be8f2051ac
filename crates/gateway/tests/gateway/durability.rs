//! Acknowledged messages survive a restart, a drain, a kill and a failing disk.

use crate::support::{JSON, agent, child, config, post, runtime, start, start_in};
use dunnage_gateway::{BufferError, Error, Gateway};
use rusqlite::Connection;
use std::{
    collections::HashSet,
    path::Path,
    process::Command,
    sync::atomic::{AtomicBool, AtomicUsize, Ordering},
    time::{Duration, Instant},
};

fn count(folder: &Path, sql: &str) -> u64 {
    let connection = Connection::open(folder.join("buffer.sqlite3")).unwrap();
    connection.query_row(sql, [], |row| row.get(0)).unwrap()
}

#[test]
fn ids_and_counts_continue_after_a_restart() {
    let gateway = start();
    for n in 0..3 {
        gateway.post("/ingest/d", JSON, n.to_string().as_bytes());
    }
    gateway.post("/ingest/d", JSON, b"[");
    gateway.post("/ingest/%00", JSON, b"1");
    let before = gateway.get_json("/api/stats");
    let (summary, folder) = gateway.stop();
    assert_eq!((summary.received, summary.stored, summary.quarantined, summary.refused), (5, 3, 1, 1));

    let gateway = start_in(folder, |_| ());
    let mut after = gateway.get_json("/api/stats");
    // Two fields differ between runs; the queue depth also counts the regular check of the files.
    for transient in ["started_at", "queue_depth"] {
        after[transient] = before[transient].clone();
    }
    assert_eq!(after, before);
    gateway.post("/ingest/e", JSON, b"4");
    gateway.post("/ingest/d", JSON, b"]");
    assert_eq!(gateway.get_json("/api/messages")["messages"][0]["id"], 4);
    assert_eq!(gateway.get_json("/api/quarantine")["messages"][0]["id"], 2);
    assert_eq!(gateway.get_json("/api/stats")["devices"], 2);
    assert_eq!(gateway.stop().0.stored, 1);
}

#[test]
fn a_stop_leaves_all_data_in_the_database_file() {
    let gateway = start();
    gateway.post("/ingest/d", JSON, b"1");
    let (_, folder) = gateway.stop();
    let size = |name: &str| folder.path().join(name).metadata().map_or(0, |about| about.len());
    assert!(size("buffer.sqlite3") > 0);
    assert_eq!(size("buffer.sqlite3-wal"), 0);
}

#[test]
fn a_buffer_in_use_is_refused_until_its_gateway_stops() {
    let gateway = start();
    let second = config(gateway.folder.path());
    match gateway.runtime.block_on(Gateway::start(second.clone())) {
        Err(Error::Buffer(BufferError::InUse(path))) => assert_eq!(path, second.buffer.path),
        Err(e) => panic!("{e}"),
        Ok(_) => panic!("two gateways use one buffer"),
    }
    let (_, folder) = gateway.stop();
    start_in(folder, |_| ()).stop();
}

#[test]
fn a_file_that_is_not_a_buffer_is_refused() {
    for version in [0, 1, 4, 7] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("buffer.sqlite3");
        let sql = format!("CREATE TABLE other (a); PRAGMA user_version = {version}");
        Connection::open(&path).unwrap().execute_batch(&sql).unwrap();
        let before = std::fs::read(&path).unwrap();
        let result = runtime().block_on(Gateway::start(config(folder.path())));
        assert!(matches!(result, Err(Error::Buffer(BufferError::Foreign(_)))));
        assert_eq!(std::fs::read(&path).unwrap(), before);
    }
}

#[test]
fn a_buffer_of_a_later_version_is_refused() {
    let (_, folder) = start().stop();
    let path = folder.path().join("buffer.sqlite3");
    Connection::open(&path).unwrap().execute_batch("PRAGMA user_version = 99").unwrap();
    let result = runtime().block_on(Gateway::start(config(folder.path())));
    assert!(matches!(result, Err(Error::Buffer(BufferError::Layout { found: 99, .. }))));
}

#[test]
fn a_drain_answers_every_request_in_progress() {
    let gateway = start();
    let url = gateway.url("/ingest/d");
    let (stored, stop) = (AtomicUsize::new(0), AtomicBool::new(false));
    let (summary, folder) = std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                let agent = agent();
                while !stop.load(Ordering::Relaxed) {
                    // During the drain, the connection may be closed before a request; a request that was read is answered.
                    match agent.post(&url).header("content-type", JSON).send("1") {
                        Ok(answer) if answer.status() == 204 => stored.fetch_add(1, Ordering::Relaxed),
                        Ok(answer) => panic!("{}", answer.status()),
                        Err(_) => break,
                    };
                }
            });
        }
        std::thread::sleep(Duration::from_millis(500));
        let ended = gateway.stop();
        stop.store(true, Ordering::Relaxed);
        ended
    });
    let stored = stored.into_inner() as u64;
    assert!(stored > 8);
    assert_eq!(summary.received, summary.stored + summary.refused);
    assert_eq!(summary.stored, stored);
    assert_eq!(count(folder.path(), "SELECT count(*) FROM messages"), stored);
}

/// Posts from many connections until the gateway is killed. Returns the numbers of the acknowledged messages.
fn load_and_kill(gateway: child::ChildGateway, round: usize, clients: usize) -> Vec<(usize, usize, u64)> {
    let url = format!("{}/ingest/client", gateway.url);
    std::thread::scope(|scope| {
        let clients: Vec<_> = (0..clients)
            .map(|client| {
                let url = format!("{url}{client}");
                scope.spawn(move || {
                    let agent = agent();
                    let mut acknowledged = Vec::new();
                    for n in 0.. {
                        let body = format!("[{round},{client},{n}]");
                        match agent.post(&url).header("content-type", JSON).send(&body) {
                            Ok(answer) if answer.status() == 204 => acknowledged.push((round, client, n)),
                            Ok(answer) => panic!("{}", answer.status()),
                            Err(_) => break,
                        }
                    }
                    acknowledged
                })
            })
            .collect();
        std::thread::sleep(Duration::from_millis(400 + 97 * round as u64));
        gateway.kill();
        clients.into_iter().flat_map(|client| client.join().unwrap()).collect()
    })
}

#[test]
fn a_kill_under_load_loses_no_acknowledged_message() {
    const ROUNDS: usize = 5;
    const CLIENTS: usize = 16;
    let folder = tempfile::tempdir().unwrap();
    let mut acknowledged = Vec::new();
    for round in 0..ROUNDS {
        acknowledged.extend(load_and_kill(child::start(folder.path(), ""), round, CLIENTS));
    }
    assert!(acknowledged.len() > ROUNDS * CLIENTS, "{}", acknowledged.len());

    let gateway = start_in(folder, |_| ());
    let stats = gateway.get_json("/api/stats");
    let (_, folder) = gateway.stop();
    let connection = Connection::open(folder.path().join("buffer.sqlite3")).unwrap();
    let mut statement = connection.prepare("SELECT json, raw FROM messages ORDER BY id").unwrap();
    let rows =
        statement.query_map([], |row| Ok((row.get::<_, String>(0)?, row.get::<_, Vec<u8>>(1)?))).unwrap();
    let mut found = HashSet::new();
    for row in rows {
        let (json, raw) = row.unwrap();
        assert_eq!(json.as_bytes(), raw);
        let numbers: (usize, usize, u64) = serde_json::from_str(&json).unwrap();
        assert!(found.insert(numbers), "{numbers:?} is stored twice");
    }
    let lost = acknowledged.iter().filter(|numbers| !found.contains(numbers)).count();
    println!(
        "kill -9, {ROUNDS} rounds: {} acknowledged, {} stored, {lost} lost",
        acknowledged.len(),
        found.len()
    );
    assert_eq!(lost, 0);
    // The counts were committed with the messages.
    assert_eq!(stats["stored"], found.len());
    assert_eq!(count(folder.path(), "SELECT sum(messages) FROM devices"), found.len() as u64);
    assert_eq!(count(folder.path(), "SELECT sum(messages) FROM formats"), found.len() as u64);
    assert_eq!(count(folder.path(), "SELECT last_message_id FROM totals"), found.len() as u64);
}

#[test]
fn a_failing_disk_is_503_until_it_works_again() {
    let folder = tempfile::tempdir().unwrap();
    // No file of this process may grow over 400 KiB; ignoring SIGXFSZ makes that an error of write(2), like a full disk.
    let gateway = child::start(folder.path(), "trap '' XFSZ; ulimit -S -f 800");
    let (agent, url) = (agent(), format!("{}/ingest/d", gateway.url));
    let body = format!("\"{}\"", "x".repeat(4000));
    let mut stored = 0;
    let refused = loop {
        let answer = post(&agent, &url, JSON, body.as_bytes());
        match answer.status {
            204 => stored += 1,
            _ => break answer,
        }
        assert!(stored < 2000, "the disk never fails");
    };
    assert_eq!((refused.status, refused.headers["retry-after"].to_str().unwrap()), (503, "1"));
    assert_eq!(refused.json()["type"], "urn:dunnage:problem:not-written");
    let ready = || agent.get(format!("{}/readyz", gateway.url)).call().unwrap().status();
    assert_eq!(ready(), 503);
    assert_eq!(agent.get(format!("{}/healthz", gateway.url)).call().unwrap().status(), 200);

    let raise = ["--pid", &gateway.child.id().to_string(), "--fsize=unlimited"];
    assert!(Command::new("prlimit").args(raise).status().unwrap().success());
    let begun = Instant::now();
    while post(&agent, &url, JSON, body.as_bytes()).status != 204 {
        assert!(begun.elapsed() < Duration::from_secs(10), "the gateway does not recover");
    }
    assert_eq!(ready(), 200);
    gateway.stop();
    assert_eq!(count(folder.path(), "SELECT count(*) FROM messages"), stored + 1);
    assert_eq!(count(folder.path(), "SELECT stored FROM totals"), stored + 1);
    assert!(count(folder.path(), "SELECT refused FROM totals") >= 1);
}
