//! Power failures during the last commit, and damage of the log, compared with what SQLite reads from the same files.

use super::wal;
use crate::{BufferSettings, Change, NewMessage, Options, Provenance, QuarantineSettings, open};
use rusqlite::Connection;
use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};
use tempfile::TempDir;

const HEADER: usize = 32;
const FRAME_HEADER: usize = 24;
const FRAME: usize = FRAME_HEADER + super::PAGE;
const DATABASE: &str = "buffer.sqlite3";
const LOG: &str = "buffer.sqlite3-wal";

fn options(settings: &BufferSettings) -> Options<'_> {
    let quarantine = Box::leak(Box::new(QuarantineSettings::default()));
    Options { buffer: settings, quarantine, formats: &["json"], outputs: Vec::new() }
}

fn settings(folder: &Path) -> BufferSettings {
    BufferSettings { path: folder.join(DATABASE), ..BufferSettings::default() }
}

fn message(n: usize) -> NewMessage {
    let text = "x".repeat(if n.is_multiple_of(20) { 10_000 } else { 7 * (n % 50) });
    let provenance = Provenance {
        key: Some(n.to_string()),
        ..Provenance::new(format!("device-{}", n % 7), 1_767_225_600_000_000 + n as i64, "r")
    };
    let json = format!("[{n},\"{text}\"]");
    NewMessage { provenance, format: "json", raw: json.clone().into(), json, layout: None, reference: None }
}

/// Returns the files of a buffer that was killed after transactions of these numbers of messages.
fn killed(transactions: &[usize]) -> TempDir {
    let (folder, copy) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    runtime.block_on(async {
        let settings = settings(folder.path());
        let opened = open(options(&settings), &|_| false).unwrap();
        let (buffer, writer) = opened.start(1 << 20);
        let queue = &buffer.queue;
        let mut writer = Some(writer);
        let mut thread = None;
        let mut n = 0;
        for messages in transactions {
            let acks: Vec<_> =
                (n..n + messages).map(|n| queue.store(message(n), queue.reserve(), || ()).unwrap()).collect();
            // The writer takes what waits as one transaction.
            if let Some(writer) = writer.take() {
                thread = Some(writer.spawn(()).unwrap());
            }
            for ack in acks {
                ack.commit().await.unwrap();
            }
            n += messages;
        }
        for file in [DATABASE, LOG] {
            fs::copy(folder.path().join(file), copy.path().join(file)).unwrap();
        }
        buffer.close().await;
        thread.unwrap().join().unwrap();
    });
    copy
}

/// Returns a copy of the database in `folder`, with `log` as its log.
fn with_log(folder: &Path, log: &[u8]) -> TempDir {
    let copy = tempfile::tempdir().unwrap();
    fs::copy(folder.join(DATABASE), copy.path().join(DATABASE)).unwrap();
    fs::write(copy.path().join(LOG), log).unwrap();
    copy
}

/// The messages that SQLite reads: none if the database has no tables without the log.
fn rows(path: PathBuf) -> BTreeSet<(i64, String)> {
    let connection = Connection::open(path).unwrap();
    let Ok(mut statement) = connection.prepare("SELECT id, json FROM messages") else {
        return BTreeSet::new();
    };
    let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
    rows.map(Result::unwrap).collect()
}

/// Returns the rows that SQLite reads from the database in `folder` with `log`.
fn read_by_sqlite(folder: &Path, log: &[u8]) -> BTreeSet<(i64, String)> {
    rows(with_log(folder, log).path().join(DATABASE))
}

/// Opens a copy of the buffer with the log `log`. Returns its messages, and how often the buffer was damaged.
fn found_by_us(folder: &Path, log: &[u8]) -> (BTreeSet<(i64, String)>, u64) {
    let copy = with_log(folder, log);
    let settings = settings(copy.path());
    let damages = open(options(&settings), &|_| false).unwrap().totals().damages;
    (rows(copy.path().join(DATABASE)), damages)
}

/// The frames of the last transaction of a log: their numbers.
fn last_transaction(log: &[u8]) -> std::ops::Range<usize> {
    let salt = &log[16..24];
    let frame = |n: usize| &log[HEADER + n * FRAME..];
    let ours = (0..(log.len() - HEADER) / FRAME).take_while(|n| &frame(*n)[8..16] == salt).count();
    let commits = (0..ours - 1).rfind(|n| frame(*n)[4..8] != [0; 4]).unwrap();
    commits + 1..ours
}

#[test]
fn an_incomplete_last_transaction_costs_no_other_message() {
    let folder = killed(&[150, 40, 60, 3, 1]);
    let log = fs::read(folder.path().join(LOG)).unwrap();
    let last = last_transaction(&log);
    let parts: Vec<_> = last
        .flat_map(|n| {
            let at = HEADER + n * FRAME;
            [at..at + FRAME_HEADER, at + FRAME_HEADER..at + FRAME]
        })
        .collect();
    assert!((6..=16).contains(&parts.len()), "{}", parts.len());
    let mut random = fastrand::Rng::with_seed(1);
    // The whole set of subsets if it is small, and some of them otherwise.
    let subsets = 1_u32 << parts.len();
    let chosen: BTreeSet<u32> = match subsets {
        ..=128 => (0..subsets).collect(),
        _ => (0..parts.len()).map(|part| 1 << part).chain((0..100).map(|_| random.u32(..subsets))).collect(),
    };
    for missing in chosen {
        let mut torn = log.clone();
        for (number, part) in parts.iter().enumerate().filter(|(number, _)| missing >> number & 1 == 1) {
            torn[part.clone()].fill(0);
            assert!(number < 32);
        }
        let expected = read_by_sqlite(folder.path(), &torn);
        assert!(expected.len() >= 253, "{}", expected.len());
        let (found, damages) = found_by_us(folder.path(), &torn);
        assert!(found.is_superset(&expected), "{missing:b}: {:?}", expected.difference(&found));
        assert_eq!(damages, 0, "{missing:b}");
    }
}

#[test]
fn lost_sectors_of_the_last_transactions_cost_no_other_message() {
    let folder = killed(&[100, 50, 20, 20, 20]);
    let log = fs::read(folder.path().join(LOG)).unwrap();
    let mut random = fastrand::Rng::with_seed(2);
    for case in 0..60 {
        let sector = [512, 4096][case % 2];
        let begin = HEADER + FRAME * if case % 4 < 2 { last_transaction(&log).start } else { 3 };
        let mut torn = log.clone();
        for at in (begin.next_multiple_of(sector)..torn.len()).step_by(sector) {
            let end = (at + sector).min(torn.len());
            match random.u8(..4) {
                0 => torn[at..end].fill(0),
                1 if case % 4 == 3 => torn[at..end].fill_with(|| random.u8(..)),
                _ => {}
            }
        }
        let expected = read_by_sqlite(folder.path(), &torn);
        let (found, _) = found_by_us(folder.path(), &torn);
        assert!(found.is_superset(&expected), "case {case}: {:?}", expected.difference(&found));
        let sent: BTreeSet<_> = (0..210).map(|n| message(n).json.to_string()).collect();
        assert!(found.iter().all(|(_, json)| sent.contains(json)), "case {case}");
    }
}

#[test]
fn frames_behind_a_damaged_one_add_messages_and_replace_none() {
    let folder = killed(&[100, 30, 30, 30]);
    let log = fs::read(folder.path().join(LOG)).unwrap();
    let whole = read_by_sqlite(folder.path(), &log);
    assert_eq!(whole.len(), 190);
    let frames = (log.len() - HEADER) / FRAME;
    let salt = log[16..24].to_owned();
    let ours = (0..frames).filter(|n| log[HEADER + n * FRAME..][8..16] == salt).count();
    for damaged in (0..ours - 1).step_by(3) {
        let mut log = log.clone();
        // A damaged header hides the frame and leaves the next one without a verified checksum.
        log[HEADER + damaged * FRAME..][..FRAME_HEADER].fill(0xa5);
        let expected = read_by_sqlite(folder.path(), &log);
        let (found, damages) = found_by_us(folder.path(), &log);
        assert!(found.is_superset(&expected), "frame {damaged}: {:?}", expected.difference(&found));
        assert!(found.is_subset(&whole), "frame {damaged}");
        assert_eq!(damages, 1, "frame {damaged}");
        // At most the messages of one page are missing.
        assert!(found.len() >= 130, "frame {damaged}: {}", found.len());
    }
}

#[test]
fn an_intact_log_is_read_as_sqlite_reads_it() {
    let folder = killed(&[10, 1, 1]);
    let read = wal::read(&folder.path().join(LOG));
    assert!(!read.damaged);
    assert_eq!(read.sqlite, read.newest);
    assert!(read.frames.len() > read.sqlite.len());
}

#[test]
fn a_recovery_keeps_the_register() {
    let folder = tempfile::tempdir().unwrap();
    let settings = settings(folder.path());
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    runtime.block_on(async {
        let (buffer, writer) = open(options(&settings), &|_| false).unwrap().start(1 << 20);
        let writer = writer.spawn(()).unwrap();
        let row = |n: usize| (format!("device {n}"), Some(format!(r#"{{"device":"device {n}"}}"#)));
        let rows = (0..500).map(row).chain([("device 7".into(), None)]).collect();
        buffer.queue.change(Change::Register { rows }).await.unwrap();
        buffer.queue.store(message(1), buffer.queue.reserve(), || ()).unwrap().commit().await.unwrap();
        buffer.close().await;
        writer.join().unwrap();
    });
    super::recover(&settings.path, None, None, &["json"]).unwrap();
    let mut opened = open(options(&settings), &|_| false).unwrap();
    let mut registered = opened.take_registered();
    registered.sort();
    assert_eq!((registered.len(), opened.totals().damages), (499, 1));
    assert!(registered.contains(&r#"{"device":"device 499"}"#.to_owned()));
    assert!(!registered.contains(&r#"{"device":"device 7"}"#.to_owned()));
}

#[test]
fn a_recovery_knows_when_each_device_sent_first() {
    let folder = killed(&[150, 40, 60]);
    let mut log = fs::read(folder.path().join(LOG)).unwrap();
    // Damage of the last transaction would be a power failure.
    let before = last_transaction(&log).start - 1;
    log[HEADER + before * FRAME + FRAME_HEADER + 100] ^= 1;
    let copy = with_log(folder.path(), &log);
    let settings = settings(copy.path());
    assert_eq!(open(options(&settings), &|_| false).unwrap().totals().damages, 1);
    let connection = Connection::open(copy.path().join(DATABASE)).unwrap();
    let mut statement = connection.prepare("SELECT device, first_at FROM devices ORDER BY device").unwrap();
    let rows = statement.query_map([], |row| Ok((row.get::<_, String>(0)?, row.get::<_, Option<i64>>(1)?)));
    let found: Vec<_> = rows.unwrap().map(Result::unwrap).collect();
    let expected = (0..7).map(|n| (format!("device-{n}"), Some(1_767_225_600_000_000 + n)));
    assert_eq!(found, expected.collect::<Vec<_>>());
}
