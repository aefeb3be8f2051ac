//! A gateway on a free port with a buffer in a temporary folder, and a client for it.
#![allow(dead_code, missing_docs, clippy::unwrap_used)]

pub mod authority;
pub mod child;
pub mod coap;
pub mod mqtt;
pub mod nginx;

pub use dunnage_test_support::{
    acme, agent, kafka, lossy, mosquitto, nats, postgres, proxy, runtime, scripted, subscriber, tools, wait,
};

use dunnage_gateway::{Config, Gateway, Summary};
use serde_json::Value;
use std::path::Path;
use tempfile::TempDir;
use tokio::runtime::Runtime;

pub const JSON: &str = "application/json";

/// Returns the configuration of a gateway with its buffer in `folder`.
pub fn config(folder: &Path) -> Config {
    let mut config = Config::default();
    config.http.listen = ([127, 0, 0, 1], 0).into();
    config.http.drain_timeout_seconds = 5;
    config.buffer.path = folder.join("buffer.sqlite3");
    config
}

/// Blocks commits to the buffer in `folder` until the result is dropped.
pub fn block_commits(folder: &Path) -> rusqlite::Connection {
    let connection = rusqlite::Connection::open(folder.join("buffer.sqlite3")).unwrap();
    connection.execute_batch("BEGIN IMMEDIATE").unwrap();
    connection
}

pub struct Running {
    pub runtime: Runtime,
    pub gateway: Gateway,
    pub folder: TempDir,
    pub agent: ureq::Agent,
}

#[derive(Debug)]
pub struct Answer {
    pub status: u16,
    pub content_type: String,
    pub headers: ureq::http::HeaderMap,
    pub text: String,
}

impl Answer {
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or_else(|e| panic!("{e}: {}", self.text))
    }
}

pub fn start() -> Running {
    start_with(|_| ())
}

pub fn start_with(change: impl FnOnce(&mut Config)) -> Running {
    start_in(TempDir::new().unwrap(), change)
}

pub fn start_in(folder: TempDir, change: impl FnOnce(&mut Config)) -> Running {
    let mut config = config(folder.path());
    change(&mut config);
    let runtime = runtime();
    dunnage_expression::PROGRAM.get_or_init(|| env!("CARGO_BIN_EXE_gateway_of_tests").into());
    dunnage_playground::PROGRAM.get_or_init(|| env!("CARGO_BIN_EXE_gateway_of_tests").into());
    let gateway = runtime.block_on(Gateway::start(config)).unwrap();
    Running { runtime, gateway, folder, agent: agent() }
}

impl Running {
    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.gateway.address())
    }

    pub fn post(&self, path: &str, content_type: &str, body: &[u8]) -> Answer {
        post(&self.agent, &self.url(path), content_type, body)
    }

    pub fn get(&self, path: &str) -> Answer {
        answer(self.agent.get(self.url(path)).call().unwrap())
    }

    pub fn get_json(&self, path: &str) -> Value {
        let answer = self.get(path);
        assert_eq!(answer.status, 200, "{path}: {}", answer.text);
        answer.json()
    }

    pub fn stop(self) -> (Summary, TempDir) {
        let summary = self.runtime.block_on(self.gateway.stop());
        (summary, self.folder)
    }
}

pub fn post(agent: &ureq::Agent, url: &str, content_type: &str, body: &[u8]) -> Answer {
    answer(agent.post(url).header("content-type", content_type).send(body).unwrap())
}

/// Posts JSON with an `Idempotency-Key`.
pub fn post_with_key(agent: &ureq::Agent, url: &str, key: &str, body: &[u8]) -> Answer {
    let request = agent.post(url).header("content-type", JSON).header("idempotency-key", key);
    answer(request.send(body).unwrap())
}

pub fn answer(mut response: ureq::http::Response<ureq::Body>) -> Answer {
    let text = response.body_mut().read_to_string().unwrap();
    let headers = response.headers().clone();
    let content_type = headers.get("content-type").map_or("", |v| v.to_str().unwrap()).to_owned();
    Answer { status: response.status().as_u16(), content_type, headers, text }
}
