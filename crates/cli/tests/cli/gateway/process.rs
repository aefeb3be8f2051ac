//! How a gateway starts and ends: a closed log, an address in use, signals.

use super::{ask, exit_code, gateway, gateway_with};
use crate::run::{command, dunnage, finish, terminate};
use crate::wait::wait_until;
use std::{
    io::{BufRead, BufReader, Write},
    net::{SocketAddr, TcpListener, TcpStream},
    process::Command,
};

#[test]
fn a_message_is_stored_and_sigterm_ends_the_gateway() {
    let folder = tempfile::tempdir().unwrap();
    let (mut child, address) = gateway(folder.path());
    let pson = dunnage(&["convert", "--from", "json", "--to", "pson"], r#"{"t":23.5}"#);
    let answer = ureq::post(format!("http://{address}/ingest/d1"))
        .content_type("application/vnd.dunnage.pson")
        .send(&pson.stdout)
        .unwrap();
    assert_eq!(answer.status(), 204);
    let mut answer = ureq::get(format!("http://{address}/api/devices/d1/messages")).call().unwrap();
    let text = answer.body_mut().read_to_string().unwrap();
    let messages: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(messages["messages"][0]["value"], serde_json::json!({"t": 23.5}));
    terminate(&child);
    assert_eq!(exit_code(&mut child), Some(0));
}

#[test]
fn a_second_signal_ends_the_gateway_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let (mut child, address) = gateway(folder.path());
    // An unfinished request keeps the gateway draining.
    let mut slow = TcpStream::connect(address).unwrap();
    let head = format!(
        "POST /ingest/d1 HTTP/1.1\r\nHost: {address}\r\nContent-Type: application/json\r\nContent-Length: 9"
    );
    write!(slow, "{head}\r\n\r\n{{").unwrap();
    wait_until("a part of the body is in memory", || {
        let mut metrics = ureq::get(format!("http://{address}/metrics")).call().unwrap();
        !metrics.body_mut().read_to_string().unwrap().contains("\ndunnage_queue_bytes 0\n")
    });
    terminate(&child);
    wait_until("new connections are refused", || TcpStream::connect(address).is_err());
    assert_eq!(child.try_wait().unwrap(), None, "the drain waits for the request");
    terminate(&child);
    assert_eq!(exit_code(&mut child), Some(130));
}

#[test]
fn sigterm_under_load_loses_nothing_and_delivers_nothing_twice() {
    let (folder, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (mut target, to) = gateway(other.path());
    let config = format!("[[output]]\nname = 'o'\n[output.http]\nurl = 'http://{to}/ingest/all'\n");
    let (mut child, address) = gateway_with(folder.path(), &config);
    let clients: Vec<_> =
        (0..4).map(|n| std::thread::spawn(move || send_until_it_ends(address, n))).collect();
    let count = |folder: &std::path::Path, what: &str| {
        ask(folder, &["status", "--json"]).json()[what].as_u64().unwrap()
    };
    wait_until("messages arrive", || count(other.path(), "stored") > 100);
    terminate(&child);
    assert_eq!(exit_code(&mut child), Some(0));
    let acknowledged: u64 = clients.into_iter().map(|client| client.join().unwrap()).sum();

    let (mut child, _) = gateway_with(folder.path(), &config);
    let stored = count(folder.path(), "stored");
    assert!(
        stored >= acknowledged && stored <= acknowledged + 4,
        "{acknowledged} acknowledged, {stored} stored"
    );
    wait_until("all are delivered", || count(other.path(), "stored") == stored);
    for child in [&mut child, &mut target] {
        terminate(child);
        assert_eq!(exit_code(child), Some(0));
    }
}

/// Sends messages of one device until the gateway stops answering. Returns how many were acknowledged.
fn send_until_it_ends(address: SocketAddr, client: usize) -> u64 {
    let agent: ureq::Agent = ureq::Agent::config_builder().http_status_as_error(false).build().into();
    let url = format!("http://{address}/ingest/d{client}");
    let mut acknowledged = 0;
    while let Ok(answer) = agent.post(&url).content_type("application/json").send("1") {
        match answer.status().as_u16() {
            204 => acknowledged += 1,
            503 => {}
            status => panic!("{status}"),
        }
    }
    acknowledged
}

#[test]
fn an_address_in_use_is_reported_with_a_suggestion() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let folder = tempfile::tempdir().unwrap();
    for name in ["gateway", "demo"] {
        let mut command = command(&[name]);
        command.env("DUNNAGE_HTTP_LISTEN", &address);
        command.env("DUNNAGE_BUFFER_PATH", folder.path().join("buffer.sqlite3"));
        let run = finish(command.spawn().unwrap(), b"");
        assert_eq!(run.code, 1);
        let expected = format!(
            "dunnage: {address} is in use by another process; choose another address: DUNNAGE_HTTP_LISTEN="
        );
        assert!(run.stderr.lines().any(|line| line.starts_with(&expected)), "{}", run.stderr);
    }
}

#[test]
fn a_gateway_keeps_running_when_its_log_is_closed() {
    let folder = tempfile::tempdir().unwrap();
    let mut command: Command = command(&["gateway"]);
    command.env("DUNNAGE_HTTP_LISTEN", "127.0.0.1:0").env("DUNNAGE_LOG_FORMAT", "json");
    command
        .env("DUNNAGE_LOG_LEVEL", "debug")
        .env("DUNNAGE_BUFFER_PATH", folder.path().join("buffer.sqlite3"));
    let mut child = command.spawn().unwrap();
    let mut log = BufReader::new(child.stderr.take().unwrap()).lines();
    let address = log.find_map(|line| {
        let line: serde_json::Value = serde_json::from_str(&line.unwrap()).unwrap();
        (line["message"] == "gateway started").then(|| line["address"].as_str().unwrap().to_owned())
    });
    drop(log);
    let agent: ureq::Agent = ureq::Agent::config_builder().http_status_as_error(false).build().into();
    let url = format!("http://{}/ingest/d1", address.unwrap());
    for (body, status) in [("[", 400), ("{}", 204), ("[", 400), ("{}", 204)] {
        let answer = agent.post(&url).content_type("application/json").send(body).unwrap();
        assert_eq!(answer.status(), status);
    }
    terminate(&child);
    assert_eq!(exit_code(&mut child), Some(0));
}
