//! `dunnage gateway` as a process. Here are helpers that start a gateway, send it commands and wait for it.

mod commands;
mod config;
mod log;
mod process;
mod profile;

use crate::run::{Run, command, finish};
use std::{
    io::{BufRead, BufReader, Read},
    net::SocketAddr,
    process::{Child, Command},
    time::{Duration, Instant},
};

/// Starts a gateway on a free port with its buffer in `folder`. Returns its address, taken from the log.
fn gateway(folder: &std::path::Path) -> (Child, SocketAddr) {
    gateway_with(folder, "")
}

/// Like [`gateway`], with a configuration.
fn gateway_with(folder: &std::path::Path, config: &str) -> (Child, SocketAddr) {
    let file = folder.join("dunnage.toml");
    std::fs::write(&file, config).unwrap();
    let mut command: Command = command(&["gateway", "--config", file.to_str().unwrap()]);
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

/// Runs `dunnage gateway ...` for the gateway whose buffer is in `folder`.
fn ask(folder: &std::path::Path, arguments: &[&str]) -> Run {
    let mut command = command(&["gateway"]);
    command.args(arguments).env("DUNNAGE_BUFFER_PATH", folder.join("buffer.sqlite3"));
    finish(command.spawn().unwrap(), b"")
}

fn post(address: SocketAddr, device: &str, body: &str) -> u16 {
    let agent: ureq::Agent = ureq::Agent::config_builder().http_status_as_error(false).build().into();
    let url = format!("http://{address}/ingest/{device}");
    agent.post(url).content_type("application/json").send(body).unwrap().status().as_u16()
}
