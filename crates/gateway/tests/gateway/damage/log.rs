//! A damaged write-ahead log.

use super::{PAGE, body, copy, fill, messages, write};
use crate::support::{JSON, child, start_in, wait::wait_until};
use std::{collections::HashSet, fs, ops::Range};

#[test]
fn a_damaged_log_loses_only_the_messages_in_damaged_frames() {
    const FRAME: usize = 24 + PAGE;
    const MESSAGES: usize = 400;
    let folder = tempfile::tempdir().unwrap();
    let gateway = child::start(folder.path(), "");
    fill(&gateway.url, MESSAGES);
    gateway.kill();
    let log = fs::read(folder.path().join("buffer.sqlite3-wal")).unwrap();
    assert!(log.len() > 100 * FRAME, "{}", log.len());
    let mut random = fastrand::Rng::with_seed(0xface);
    for case in 0..10 {
        let copied = copy(folder.path());
        let (from, length) = match case {
            0 => (0, 32),
            1 => (0, 10 * FRAME),
            2 => (log.len() / 2, log.len()),
            _ => (random.usize(..log.len()), 1 + random.usize(..3 * FRAME)),
        };
        let to = (from + length).min(log.len());
        write(copied.path(), "buffer.sqlite3-wal", |bytes| {
            bytes[from..to].fill_with(|| random.u8(..));
        });
        let gateway = start_in(copied, |_| ());
        let found: HashSet<u64> =
            messages(&gateway).values().map(|message| message["value"]["n"].as_u64().unwrap()).collect();
        assert_eq!(gateway.post("/ingest/device1", JSON, b"1").status, 204);
        // A frame is intact if neither it nor the frame before it was overwritten.
        let intact = |frame: &usize| {
            let at = 32 + frame * FRAME;
            to <= at.saturating_sub(FRAME) || from >= at + FRAME
        };
        let intact: Vec<usize> = (0..(log.len() - 32) / FRAME).filter(intact).collect();
        // A transaction without its commit frame counts as unfinished.
        let commits = |frame: &&usize| log[32 + **frame * FRAME + 4..][..4] != [0; 4];
        let last = intact.iter().rfind(commits).map_or(0, |last| last + 1);
        let expected: HashSet<u64> = intact
            .iter()
            .filter(|frame| **frame < last)
            .flat_map(|frame| complete_messages(&log[32 + frame * FRAME + 24..][..PAGE]))
            .collect();
        let lost: Vec<_> = expected.difference(&found).collect();
        assert!(lost.is_empty(), "case {case}: bytes {from} to {to}: {lost:?}");
        let expected = expected.len();
        println!("case {case}: bytes {from} to {to}; {} found, {expected} expected", found.len());
        gateway.stop();
    }
}

/// A recovery leaves IDs out, because lost messages may have had them. No output waits for these.
#[test]
fn left_out_ids_are_no_lag() {
    let folder = tempfile::tempdir().unwrap();
    let gateway = child::start(folder.path(), "");
    fill(&gateway.url, 100);
    gateway.kill();
    write(folder.path(), "buffer.sqlite3-wal", |bytes| bytes[..32].fill(0));
    let output = format!(
        "[[output]]\nname = 'files'\n[output.files]\npath = {:?}\nkind = 'ndjson'\n",
        folder.path().join("files")
    );
    let outputs = toml::from_str::<dunnage_gateway::Config>(&output).unwrap().outputs;
    let gateway = start_in(folder, |config| config.outputs = outputs);
    assert_eq!(messages(&gateway).len(), 100);
    wait_until("the output has every message", || {
        gateway.get("/metrics").text.contains("\ndunnage_output_lag_messages{output=\"files\"} 0\n")
    });
    assert_eq!(gateway.post("/ingest/device1", JSON, b"1").status, 204);
    assert!(*messages(&gateway).keys().last().unwrap() > 1 << 24);
}

/// Returns the messages that a page contains completely, in cells that it uses: a page that was split still has bytes of rows that are
/// elsewhere now.
fn complete_messages(page: &[u8]) -> Vec<u64> {
    const HEAD: &[u8] = b"{\"n\":";
    let cells = cells(page);
    let begins = (0..page.len()).filter(|at| page[*at..].starts_with(HEAD));
    let read = |at: usize| {
        let digits = page[at + HEAD.len()..].split(|byte| *byte == b',').next()?;
        let n = std::str::from_utf8(digits).ok()?.parse().ok()?;
        page[at..].starts_with(body(n).as_bytes()).then_some(n as u64)
    };
    begins.filter(|at| cells.iter().any(|cell| cell.contains(at))).filter_map(read).collect()
}

/// Returns where the cells of a leaf of a table are: the SQLite file format, "B-tree Pages". A long one continues on other pages.
fn cells(page: &[u8]) -> Vec<Range<usize>> {
    const LEAF: u8 = 0x0d;
    let number = |at: usize| usize::from(u16::from_be_bytes([page[at], page[at + 1]]));
    if page[0] != LEAF {
        return Vec::new();
    }
    let cell = |n: usize| {
        let begin = number(8 + 2 * n);
        let (mut at, mut payload) = (begin, 0);
        loop {
            payload = payload << 7 | usize::from(page[at] & 0x7f);
            at += 1;
            if page[at - 1] < 0x80 {
                break begin..at + payload;
            }
        }
    };
    (0..number(3)).map(cell).collect()
}
