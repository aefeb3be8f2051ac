use crate::run::{command, dunnage, finish, terminate};
use std::{
    io::{BufRead, BufReader, Read, Write},
    net::{SocketAddr, TcpListener, TcpStream},
    process::{Child, Command},
    time::{Duration, Instant},
};

/// A gateway on a free port with its buffer in `folder`, and its address from the log.
fn gateway(folder: &std::path::Path) -> (Child, SocketAddr) {
    let mut command: Command = command(&["gateway"]);
    command.env("DUNNAGE_HTTP_LISTEN", "127.0.0.1:0").env("DUNNAGE_LOG_FORMAT", "json");
    command.env("DUNNAGE_BUFFER_PATH", folder.join("buffer.sqlite3"));
    let mut child = command.spawn().unwrap();
    let mut log = BufReader::new(child.stderr.take().unwrap());
    let address = loop {
        let mut line = String::new();
        assert!(log.read_line(&mut line).unwrap() > 0, "the gateway ended");
        let line: serde_json::Value = serde_json::from_str(&line).unwrap();
        if let Some(address) = line["address"].as_str() {
            break address.parse().unwrap();
        }
    };
    std::thread::spawn(move || log.read_to_string(&mut String::new()));
    (child, address)
}

fn exit_code(child: &mut Child) -> Option<i32> {
    let end = Instant::now() + Duration::from_secs(8);
    while Instant::now() < end {
        if let Some(status) = child.try_wait().unwrap() {
            return status.code();
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    child.kill().unwrap();
    panic!("it did not end");
}

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
fn a_second_signal_ends_it_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let (mut child, address) = gateway(folder.path());
    // A request that does not end holds up the drain.
    let mut slow = TcpStream::connect(address).unwrap();
    slow.write_all(b"POST /ingest/d1 HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n{").unwrap();
    std::thread::sleep(Duration::from_millis(300));
    terminate(&child);
    std::thread::sleep(Duration::from_millis(300));
    assert_eq!(child.try_wait().unwrap(), None, "the drain waits for the request");
    terminate(&child);
    assert_eq!(exit_code(&mut child), Some(130));
}

#[test]
fn a_taken_port_is_explained() {
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
fn the_printed_configuration_is_one() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("dunnage.toml");
    let printed = dunnage(&["gateway", "config"], "");
    assert!(printed.text().contains("[http]") && printed.text().contains("# "));
    std::fs::write(&file, format!("{}\n[nonsense]\n", printed.text())).unwrap();
    let run = dunnage(&["gateway", "--config", file.to_str().unwrap()], "");
    assert_eq!(run.code, 1);
    assert!(run.stderr.contains("nonsense") && run.stderr.lines().count() == 1, "{}", run.stderr);
}
