//! Tests `bench/load/replicas`: gateways behind nginx write to a stream, and no process is left afterwards.
#![allow(clippy::unwrap_used)]

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::{TcpListener, TcpStream},
    path::Path,
    process::{Command, Stdio},
    time::{Duration, Instant},
};

/// Sends one request on a new connection. Returns the status and the response.
fn ask(port: u16, request: &str) -> Option<(u16, String)> {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).ok()?;
    stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
    stream.write_all(request.as_bytes()).ok()?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).ok()?;
    let status = answer.split(' ').nth(1)?.parse().ok()?;
    Some((status, answer))
}

fn delivered(port: u16) -> u64 {
    let (_, text) = ask(port, "GET /metrics HTTP/1.1\r\nhost: g\r\nconnection: close\r\n\r\n").unwrap();
    let line = text
        .lines()
        .find(|line| line.starts_with("dunnage_output_delivered_messages_total{output=\"stream\""));
    line.map_or(0, |line| line.rsplit(' ').next().unwrap().parse().unwrap())
}

/// A port whose offsets used by the script are free as well, below the range of ephemeral ports.
fn free_ports() -> u16 {
    let used = [0, 1, 2, 101, 102, 103, 111, 112, 113, 121, 122, 123];
    let first = 10_000 + (std::process::id() % 100) as u16 * 200;
    let free = |port: &u16| used.iter().all(|n| TcpListener::bind(("127.0.0.1", port + n)).is_ok());
    (first..32_000).step_by(130).find(free).unwrap()
}

#[test]
fn two_gateways_behind_nginx_share_the_messages_and_all_reach_the_stream() {
    const MESSAGES: u64 = 40;
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let port = free_ports();
    let mut child = Command::new(root.join("bench/load/replicas"))
        .arg("2")
        .env("DUNNAGE", env!("CARGO_BIN_EXE_dunnage"))
        .env("REPLICAS_PORT", port.to_string())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    assert_eq!(line.trim(), format!("listening http://127.0.0.1:{port}"));

    for n in 0..MESSAGES {
        let body = n.to_string();
        let head = format!(
            "POST /ingest/d{n} HTTP/1.1\r\nhost: g\r\nconnection: close\r\ncontent-type: application/json"
        );
        let (status, answer) =
            ask(port, &format!("{head}\r\ncontent-length: {}\r\n\r\n{body}", body.len())).unwrap();
        assert_eq!(status, 204, "{answer}");
    }
    let begun = Instant::now();
    while delivered(port + 1) + delivered(port + 2) < MESSAGES {
        assert!(begun.elapsed() < Duration::from_secs(90), "not all messages reached the stream");
        std::thread::sleep(Duration::from_millis(100));
    }
    assert!(delivered(port + 1) > 0 && delivered(port + 2) > 0);

    drop(child.stdin.take());
    assert!(child.wait().unwrap().success());
    // The ports of nginx, the gateways and the NATS servers.
    for port in [port, port + 1, port + 2, port + 101, port + 102, port + 103] {
        assert!(TcpStream::connect(("127.0.0.1", port)).is_err(), "port {port} is still in use");
    }
}
