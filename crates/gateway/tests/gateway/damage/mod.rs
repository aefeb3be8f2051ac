//! A damaged buffer: the messages in damaged pages are lost and counted, and no others.

mod log;

use crate::support::{JSON, Running, agent, post, post_with_key, start, start_in, wait::wait_for};
use rusqlite::Connection;
use serde_json::Value;
use std::{
    collections::{BTreeMap, HashMap, HashSet},
    fs,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};
use tempfile::TempDir;

const PAGE: usize = 8192;

/// Returns message `n`. Most are short, some take pages of their own.
fn body(n: usize) -> String {
    let length = match n % 50 {
        0 => 9_000,
        25 => 40_000,
        other => 10 * other,
    };
    format!("{{\"n\":{n},\"text\":\"{}\"}}", "x".repeat(length))
}

fn fill(url: &str, messages: usize) {
    std::thread::scope(|scope| {
        for client in 0..8 {
            scope.spawn(move || {
                let agent = agent();
                for n in (client..messages).step_by(8) {
                    let url = format!("{url}/ingest/device{}", n % 11);
                    let answer = post_with_key(&agent, &url, &n.to_string(), body(n).as_bytes());
                    assert_eq!(answer.status, 204, "{}", answer.text);
                }
            });
        }
    });
}

/// Returns the folder of a buffer with `messages` messages and three in its quarantine, after a stop.
fn filled(messages: usize) -> TempDir {
    let gateway = start();
    fill(&gateway.url(""), messages);
    for _ in 0..3 {
        assert_eq!(gateway.post("/ingest/device1", JSON, b"[").status, 400);
    }
    gateway.stop().1
}

fn copy(from: &Path) -> TempDir {
    let to = tempfile::tempdir().unwrap();
    let entries = fs::read_dir(from).unwrap().map(Result::unwrap);
    for entry in entries.filter(|entry| entry.file_type().unwrap().is_file()) {
        fs::copy(entry.path(), to.path().join(entry.file_name())).unwrap();
    }
    to
}

fn file(folder: &Path) -> PathBuf {
    folder.join("buffer.sqlite3")
}

fn open(folder: &Path) -> Connection {
    Connection::open(file(folder)).unwrap()
}

fn number(folder: &Path, sql: &str) -> i64 {
    open(folder).query_row(sql, [], |row| row.get(0)).unwrap()
}

/// Returns the pages of the type `kind` in the tree of a table or an index.
fn pages(folder: &Path, table: &str, kind: &str) -> Vec<usize> {
    let connection = open(folder);
    let sql = "SELECT pageno FROM dbstat WHERE name = ? AND pagetype = ? ORDER BY path";
    let mut statement = connection.prepare(sql).unwrap();
    statement.query_map([table, kind], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
}

/// Returns the IDs of the messages that have data in each page.
fn messages_by_page(folder: &Path) -> HashMap<usize, Vec<i64>> {
    let connection = open(folder);
    let mut ids = connection.prepare("SELECT id FROM messages ORDER BY id").unwrap();
    let mut ids = ids.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap);
    let sql = "SELECT path, pageno, pagetype, ncell FROM dbstat WHERE name = 'messages' ORDER BY path";
    let mut statement = connection.prepare(sql).unwrap();
    let read = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?));
    let rows: Vec<(String, usize, String, usize)> =
        statement.query_map([], read).unwrap().map(Result::unwrap).collect();
    let (mut pages, mut leaves) = (HashMap::new(), HashMap::new());
    for (path, page, kind, cells) in &rows {
        if kind == "leaf" {
            let here: Vec<i64> = ids.by_ref().take(*cells).collect();
            pages.insert(*page, here.clone());
            leaves.insert(path.clone(), here);
        }
    }
    for (path, page, kind, _) in &rows {
        if kind == "overflow" {
            let (leaf, cell) = path.rsplit_once('+').unwrap().0.rsplit_once('/').unwrap();
            let cell = usize::from_str_radix(cell, 16).unwrap();
            pages.insert(*page, vec![leaves[&format!("{leaf}/")][cell]]);
        }
    }
    assert_eq!(ids.next(), None);
    pages
}

/// Waits for the recovery of the buffer. Returns every message as the API shows it.
fn messages(gateway: &Running) -> BTreeMap<i64, Value> {
    let (mut found, mut before, begun) = (BTreeMap::new(), i64::MAX, Instant::now());
    loop {
        let list = wait_for(|| {
            let answer = gateway.get(&format!("/api/messages?limit=1000&before={before}"));
            assert!(begun.elapsed() < Duration::from_secs(20), "the recovery takes too long");
            if answer.status == 500 { Err("the buffer is still damaged") } else { Ok(answer.json()) }
        });
        let list = list["messages"].as_array().unwrap();
        let Some(last) = list.last() else { return found };
        before = last["id"].as_i64().unwrap();
        found.extend(list.iter().map(|message| (message["id"].as_i64().unwrap(), message.clone())));
    }
}

fn write(folder: &Path, name: &str, change: impl FnOnce(&mut Vec<u8>)) {
    let path = folder.join(name);
    let mut bytes = fs::read(&path).unwrap();
    change(&mut bytes);
    fs::write(path, bytes).unwrap();
}

fn zero_pages(folder: &Path, pages: &[usize]) {
    write(folder, "buffer.sqlite3", |bytes| {
        for page in pages {
            bytes[(page - 1) * PAGE..page * PAGE].fill(0);
        }
    });
}

/// Returns the number of damaged databases that the gateway has set aside.
fn count_damaged_files(folder: &Path) -> usize {
    let name = |entry: fs::DirEntry| entry.file_name().into_string().unwrap();
    let names = fs::read_dir(folder).unwrap().map(|entry| name(entry.unwrap()));
    names.filter(|name| name.starts_with("buffer.sqlite3.damaged-") && !name.ends_with("-wal")).count()
}

/// Starts a gateway on a damaged buffer, and asserts that it loses exactly the messages `lost`.
fn assert_recovers(folder: TempDir, before: &BTreeMap<i64, Value>, lost: &HashSet<i64>) -> TempDir {
    let gateway = start_in(folder, |_| ());
    let mut after = messages(&gateway);
    let stats = gateway.get_json("/api/stats");
    assert_eq!((&stats["damages"], &stats["lost"]), (&1.into(), &lost.len().into()), "{stats}");
    let metrics = gateway.get("/metrics").text;
    assert!(metrics.contains(&format!("dunnage_buffer_lost_messages_total {}\n", lost.len())), "{metrics}");
    assert_eq!(gateway.post("/ingest/new", JSON, b"1").status, 204);
    let new = gateway.get_json("/api/messages?limit=1")["messages"][0]["id"].as_i64().unwrap();
    assert!(new > *before.last_key_value().unwrap().0);
    for (id, message) in before {
        match after.remove(id) {
            Some(found) => assert_eq!(found, *message),
            None => assert!(lost.contains(id), "message {id} is lost"),
        }
    }
    assert!(after.is_empty());
    let (_, folder) = gateway.stop();
    assert_eq!(count_damaged_files(folder.path()), 1);
    assert_eq!(number(folder.path(), "SELECT count(*) FROM quarantine"), 3);
    let check: String =
        open(folder.path()).query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
    assert_eq!(check, "ok");
    folder
}

#[test]
fn damage_to_any_page_loses_only_the_messages_in_it() {
    let folder = filled(600);
    let messages_by_page = messages_by_page(folder.path());
    let (leaf, node) =
        (pages(folder.path(), "messages", "leaf"), pages(folder.path(), "messages", "internal"));
    let overflow = pages(folder.path(), "messages", "overflow");
    let gateway = start_in(copy(folder.path()), |_| ());
    let before = messages(&gateway);
    assert_eq!(before.len(), 600);
    let buffer_ids = number(folder.path(), "SELECT count(*) FROM totals WHERE length(name) = 8");
    assert_eq!(buffer_ids, 1);
    let buffer_id = |folder: &Path| -> String {
        open(folder).query_row("SELECT name FROM totals", [], |row| row.get(0)).unwrap()
    };
    drop(gateway);
    let last = *leaf.last().unwrap();
    for damaged in [
        vec![1],
        vec![node[0]],
        vec![leaf[3]],
        vec![leaf[0], leaf[7], overflow[2]],
        vec![last],
        vec![1, node[0], leaf[5]],
        pages(folder.path(), "totals", "leaf"),
        pages(folder.path(), "devices", "leaf"),
        pages(folder.path(), "formats", "leaf"),
        [1, leaf[1]].into_iter().chain(pages(folder.path(), "devices", "leaf")).collect(),
    ] {
        let copied = copy(folder.path());
        zero_pages(copied.path(), &damaged);
        let lost =
            damaged.iter().flat_map(|page| messages_by_page.get(page).cloned().unwrap_or_default()).collect();
        println!("pages {damaged:?}: {} messages", HashSet::<i64>::len(&lost));
        let copied = assert_recovers_after_reads(copied, &before, &lost);
        assert_eq!(buffer_id(copied.path()), buffer_id(folder.path()));
    }
}

/// As [`assert_recovers`], after reading the tables that a list of messages does not read.
fn assert_recovers_after_reads(
    folder: TempDir,
    before: &BTreeMap<i64, Value>,
    lost: &HashSet<i64>,
) -> TempDir {
    let gateway = start_in(folder, |_| ());
    gateway.get("/api/devices");
    gateway.post("/ingest/%00", JSON, b"1");
    let (_, folder) = gateway.stop();
    assert_recovers(folder, before, lost)
}

#[test]
fn a_truncated_file_keeps_its_remaining_messages() {
    let folder = filled(300);
    let messages_by_page = messages_by_page(folder.path());
    let gateway = start_in(copy(folder.path()), |_| ());
    let before = messages(&gateway);
    drop(gateway);
    let count = fs::metadata(file(folder.path())).unwrap().len() as usize / PAGE;
    for keep in [count - 1, count / 2] {
        let copied = copy(folder.path());
        fs::File::options()
            .write(true)
            .open(file(copied.path()))
            .unwrap()
            .set_len((keep * PAGE) as u64)
            .unwrap();
        let lost = (keep + 1..=count)
            .flat_map(|page| messages_by_page.get(&page).cloned().unwrap_or_default())
            .collect();
        assert_recovers(copied, &before, &lost);
    }
}

#[test]
fn a_file_of_garbage_is_set_aside() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(file(folder.path()), "not a database, but long enough to be taken for one".repeat(1000))
        .unwrap();
    let gateway = start_in(folder, |_| ());
    assert_eq!(gateway.post("/ingest/d", JSON, b"1").status, 204);
    assert_eq!(gateway.get_json("/api/stats")["damages"], 1);
    let (_, folder) = gateway.stop();
    assert_eq!(count_damaged_files(folder.path()), 1);
}

#[test]
fn random_damage_alters_no_message_and_loses_only_those_in_damaged_pages() {
    let folder = filled(1500);
    let messages_by_page = messages_by_page(folder.path());
    let gateway = start_in(copy(folder.path()), |_| ());
    let before = messages(&gateway);
    drop(gateway);
    let count = fs::metadata(file(folder.path())).unwrap().len() as usize / PAGE;
    let mut random = fastrand::Rng::with_seed(0x5eed);
    for case in 0..25 {
        let copied = copy(folder.path());
        let damaged: Vec<usize> = (0..=random.usize(..5)).map(|_| 1 + random.usize(..count)).collect();
        write(copied.path(), "buffer.sqlite3", |bytes| {
            for page in &damaged {
                let page = (page - 1) * PAGE;
                match random.usize(..3) {
                    0 => bytes[page..page + PAGE].fill(0),
                    1 => bytes[page..page + PAGE].fill_with(|| random.u8(..)),
                    _ => {
                        for _ in 0..=random.usize(..20) {
                            let at = page + random.usize(..PAGE);
                            bytes[at] ^= 1 << random.usize(..8);
                        }
                    }
                }
            }
        });
        let gateway = start_in(copied, |_| ());
        let after = messages(&gateway);
        for (id, message) in &after {
            assert_eq!(before.get(id), Some(message), "case {case}");
        }
        let lost: HashSet<i64> =
            damaged.iter().flat_map(|page| messages_by_page.get(page).cloned().unwrap_or_default()).collect();
        let missing: Vec<_> = before.keys().filter(|id| !after.contains_key(id)).collect();
        assert!(missing.iter().all(|id| lost.contains(id)), "case {case}, {damaged:?}: {missing:?}");
        assert_eq!(gateway.get_json("/api/stats")["lost"], missing.len(), "case {case}, {damaged:?}");
        assert_eq!(gateway.post("/ingest/device1", JSON, b"1").status, 204, "case {case}");
        gateway.stop();
    }
}

#[test]
fn a_running_gateway_recovers_from_damage() {
    let folder = filled(600);
    let messages_by_page = messages_by_page(folder.path());
    let leaf = pages(folder.path(), "messages", "leaf");
    let gateway = start_in(folder, |_| ());
    let before = messages(&gateway);
    zero_pages(gateway.folder.path(), &[leaf[2], leaf[9]]);
    let lost: HashSet<i64> =
        [leaf[2], leaf[9]].iter().flat_map(|page| messages_by_page[page].clone()).collect();
    let url = gateway.url("/ingest/device3");
    let mut after = std::thread::scope(|scope| {
        let sender = scope.spawn(|| {
            let agent = agent();
            for n in 0..100 {
                let answer = post(&agent, &url, JSON, format!("{{\"new\":{n}}}").as_bytes());
                assert_eq!(answer.status, 204, "{}", answer.text);
            }
        });
        // The readers cache pages in memory; they notice the damage when they read other pages from the disk.
        let mut after = messages(&gateway);
        sender.join().unwrap();
        for _ in 0..100 {
            if gateway.get_json("/api/stats")["damages"] == 1 {
                break;
            }
            after = messages(&gateway);
        }
        after.clear();
        after.extend(messages(&gateway));
        after
    });
    let stats = gateway.get_json("/api/stats");
    assert_eq!((&stats["damages"], &stats["lost"]), (&1.into(), &lost.len().into()));
    for (id, message) in &before {
        assert_eq!(after.remove(id).as_ref(), Some(message).filter(|_| !lost.contains(id)));
    }
    assert_eq!(after.len(), 100);
    assert_eq!(gateway.get_json("/api/stats")["stored"], 700);
    let (_, folder) = gateway.stop();
    assert_eq!(count_damaged_files(folder.path()), 1);
}
