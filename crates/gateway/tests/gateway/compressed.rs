//! Compressed bodies, as the programs `gzip` and `zstd` write them, and decompression bombs.

use crate::support::{Answer, JSON, Running, agent, answer, child, post, start, start_with};
use serde_json::json;
use std::{
    io::Write,
    process::{Command, Stdio},
};

/// Returns the output of `program` for `input`.
fn compress(program: &[&str], input: &[u8]) -> Vec<u8> {
    let mut command = Command::new(program[0]);
    let mut child = command
        .args(&program[1..])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the program is installed");
    let mut to = child.stdin.take().unwrap();
    let output = std::thread::scope(|scope| {
        scope.spawn(move || to.write_all(input).unwrap());
        child.wait_with_output().unwrap()
    });
    assert!(output.status.success(), "{program:?}");
    output.stdout
}

fn send(gateway: &Running, coding: &str, body: &[u8]) -> Answer {
    send_to(&gateway.agent, &gateway.url("/ingest/d"), coding, body)
}

fn send_to(agent: &ureq::Agent, url: &str, coding: &str, body: &[u8]) -> Answer {
    let request = agent.post(url).header("content-type", JSON).header("content-encoding", coding);
    answer(request.send(body).unwrap())
}

fn assert_problem(answer: &Answer, status: u16, name: &str) {
    assert_eq!(answer.status, status, "{}", answer.text);
    assert_eq!(answer.json()["type"], format!("urn:dunnage:problem:{name}"));
}

/// Content codings with the programs and the options that produce them.
const PROGRAMS: [(&str, &[&str]); 7] = [
    ("gzip", &["gzip", "-c"]),
    ("GZip", &["gzip", "-9", "-c"]),
    ("x-gzip", &["gzip", "-1", "-c"]),
    ("zstd", &["zstd", "-c"]),
    ("zstd", &["zstd", "-1", "--no-check", "-c"]),
    ("zstd", &["zstd", "-19", "-c"]),
    ("zstd", &["zstd", "--no-compress-literals", "-c"]),
];

#[test]
fn compressed_bodies_are_stored_decompressed() {
    let gateway = start();
    let numbers: Vec<u32> = (0..60_000).map(|n: u32| n.wrapping_mul(2_654_435_761) % 1000).collect();
    let large = json!({ "n": numbers }).to_string();
    for (coding, program) in PROGRAMS {
        for message in ["{\"temperature\":17.25}", &large, "1"] {
            assert_eq!(
                send(&gateway, coding, &compress(program, message.as_bytes())).status,
                204,
                "{program:?}"
            );
            let stored = &gateway.get_json("/api/messages?limit=1")["messages"][0];
            assert_eq!(stored["bytes"], message.len());
            assert_eq!(stored["value"], serde_json::from_str::<serde_json::Value>(message).unwrap());
        }
    }
    // Several members or frames, and a skippable frame, are one body.
    let halves = |program: &[&str]| [compress(program, b"[1,"), compress(program, b"2]")].concat();
    assert_eq!(send(&gateway, "gzip", &halves(PROGRAMS[0].1)).status, 204);
    let skipped = [b"\x50\x2a\x4d\x18\x03\0\0\0abc", &halves(PROGRAMS[3].1)[..]].concat();
    assert_eq!(send(&gateway, "zstd", &skipped).status, 204);
    assert_eq!(gateway.get_json("/api/messages?limit=1")["messages"][0]["value"], json!([1, 2]));
}

#[test]
fn duplicates_by_bytes_are_detected_whatever_the_compression() {
    let gateway = start_with(|config| {
        let profile = "device = '*'\nduplicates = 'bytes'";
        config.profiles.push(toml::from_str(profile).unwrap());
    });
    let body = b"{\"t\":1}";
    assert_eq!(gateway.post("/ingest/d", JSON, body).status, 204);
    for (coding, program) in PROGRAMS {
        assert_eq!(send(&gateway, coding, &compress(program, body)).status, 204);
    }
    let (summary, _) = gateway.stop();
    assert_eq!((summary.stored, summary.duplicates), (1, PROGRAMS.len() as u64));
}

#[test]
fn an_invalid_compressed_body_is_400_and_not_quarantined() {
    let gateway = start();
    for (coding, program) in PROGRAMS {
        let whole = compress(program, b"{\"temperature\":17.25}");
        let mut sent = 0;
        for length in (0..whole.len()).rev() {
            let answer = send(&gateway, coding, &whole[..length]);
            assert_problem(&answer, 400, "body");
            sent += 1;
        }
        assert!(sent > 10);
        assert_problem(&send(&gateway, coding, &[&whole[..], b"x"].concat()), 400, "body");
    }
    let mut wrong = compress(PROGRAMS[3].1, b"{\"temperature\":17.25}");
    *wrong.last_mut().unwrap() ^= 1;
    assert_problem(&send(&gateway, "zstd", &wrong), 400, "body");
    assert_problem(&send(&gateway, "gzip", b"{}"), 400, "body");
    assert_problem(&send(&gateway, "zstd", b"{}"), 400, "body");
    // A body that can be decompressed but not decoded is quarantined decompressed.
    let answer = send(&gateway, "gzip", &compress(PROGRAMS[0].1, b"{\"t\":"));
    assert_problem(&answer, 400, "malformed");
    assert_eq!(gateway.get_json("/api/quarantine")["messages"][0]["hex"], "7b2274223a");
    let (summary, _) = gateway.stop();
    assert_eq!((summary.stored, summary.quarantined), (0, 1));
    assert_eq!(summary.received, summary.refused + 1);
}

#[test]
fn other_codings_are_415_with_the_accepted_ones() {
    let gateway = start();
    for coding in ["br", "deflate", "gzip, gzip"] {
        let answer = send(&gateway, coding, b"{}");
        assert_problem(&answer, 415, "content-encoding");
        assert_eq!(answer.headers["accept-encoding"], "gzip, zstd, identity");
    }
    assert_eq!(send(&gateway, "identity", b"{}").status, 204);
    assert!(gateway.get_json("/api/quarantine")["messages"].as_array().unwrap().is_empty());
}

#[test]
fn decompression_bombs_are_413_and_take_little_memory() {
    let folder = tempfile::tempdir().unwrap();
    let gateway = child::start(folder.path(), "");
    let (agent, url) = (agent(), format!("{}/ingest/d", gateway.url));
    let zeros = vec![b'0'; 64 << 20];
    let bombs = [
        ("gzip", compress(&["gzip", "-9", "-c"], &zeros)),
        ("zstd", compress(&["zstd", "-19", "-c"], &zeros)),
        // A frame that announces its size, and one that does not.
        ("zstd", compress(&["zstd", "--stream-size=67108864", "-c"], &zeros)),
    ];
    drop(zeros);
    assert!(bombs.iter().all(|(_, bomb)| bomb.len() < 100_000));
    let before = gateway.peak_memory();
    std::thread::scope(|scope| {
        for (coding, bomb) in bombs.iter().cycle().take(24) {
            scope.spawn(|| assert_problem(&send_to(&agent, &url, coding, bomb), 413, "too-large"));
        }
    });
    assert!(gateway.peak_memory() < before + (64 << 20), "{} and {} bytes", before, gateway.peak_memory());
    // The gateway rejects a window over its limit before it allocates it.
    let mut announced = compress(&["zstd", "-c"], &vec![b'0'; 1 << 20]);
    // The exponent of the window is in the high bits of the byte behind magic number and descriptor.
    announced[5] = 0xf8;
    assert_problem(&send_to(&agent, &url, "zstd", &announced), 400, "body");
    assert_eq!(post(&agent, &url, JSON, b"1").status, 204);
    gateway.kill();
}

#[test]
fn the_size_limit_applies_to_the_decompressed_body() {
    let gateway = start_with(|config| config.http.body_limit_bytes = 1000);
    for (coding, program) in [PROGRAMS[0], PROGRAMS[3]] {
        for (length, status) in [(1000, 204), (1001, 413)] {
            let message = format!("\"{}\"", "x".repeat(length - 2));
            assert_eq!(send(&gateway, coding, &compress(program, message.as_bytes())).status, status);
        }
    }
}
