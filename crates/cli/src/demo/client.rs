//! The fleet's side of HTTP.

use super::report::{Report, SCHEMA};
use crate::failure::Failure;
use dunnage_formats::Id;
use serde::Deserialize;
use std::{
    collections::{BTreeMap, HashSet},
    net::SocketAddr,
    time::Duration,
};
use tokio::task::JoinError;
use ureq::Agent;

/// Talks to the gateway over connections that stay open.
pub struct Client {
    agent: Agent,
    address: SocketAddr,
}

/// What became of one report: its format and size, and whether it was acknowledged.
pub struct Outcome {
    format: Id,
    bytes: usize,
    answer: Result<u16, ureq::Error>,
}

/// What became of all reports.
#[derive(Default)]
pub struct Tally {
    pub sent: u64,
    pub acknowledged: u64,
    /// Messages and bytes of each format.
    pub formats: BTreeMap<&'static str, (u64, u64)>,
    /// Why the last report that was not acknowledged was not.
    pub trouble: Option<String>,
}

impl Tally {
    pub fn add(&mut self, outcome: Result<Outcome, JoinError>) {
        self.sent += 1;
        match outcome {
            Ok(Outcome { format, bytes, answer: Ok(204) }) => {
                self.acknowledged += 1;
                let (messages, total) = self.formats.entry(format.name()).or_default();
                *messages += 1;
                *total += bytes as u64;
            }
            Ok(Outcome { answer: Ok(status), .. }) => {
                self.trouble = Some(format!("the gateway answered {status}"));
            }
            Ok(Outcome { answer: Err(error), .. }) => self.trouble = Some(error.to_string()),
            Err(error) => self.trouble = Some(error.to_string()),
        }
    }
}

#[derive(Deserialize)]
struct Devices {
    devices: Vec<Device>,
}

#[derive(Deserialize)]
struct Device {
    device: String,
    messages: u64,
    last: Last,
}

#[derive(Deserialize)]
struct Last {
    id: i64,
}

impl Client {
    pub fn new(address: SocketAddr) -> Self {
        let agent = Agent::config_builder()
            .http_status_as_error(false)
            .proxy(None)
            .timeout_global(Some(Duration::from_secs(10)))
            .max_idle_connections_per_host(super::AT_A_TIME)
            .build()
            .new_agent();
        Client { agent, address }
    }

    /// The gateway's address with `path`.
    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// Sends a report and waits for the answer.
    pub fn post(&self, report: &Report) -> Outcome {
        let url = self.url(&format!("/ingest/{}?schema={SCHEMA}&link={}", report.device, report.link));
        let request = self.agent.post(url).content_type(report.format.media_type());
        let answer = request.send(&report.body).map(|answer| answer.status().as_u16());
        Outcome { format: report.format, bytes: report.body.len(), answer }
    }

    /// How many messages of `devices` the gateway holds.
    pub fn messages_of(&self, devices: &HashSet<String>) -> Result<u64, Failure> {
        let (mut sum, mut before) = (0, String::new());
        loop {
            let url = self.url(&format!("/api/devices?limit=1000{before}"));
            let failed = |reason: String| Failure::about(&url, reason);
            let answer =
                self.agent.get(&url).call().and_then(|mut answer| answer.body_mut().read_to_string());
            let page: Devices = serde_json::from_str(&answer.map_err(|e| failed(e.to_string()))?)
                .map_err(|e| failed(e.to_string()))?;
            let Some(last) = page.devices.iter().map(|device| device.last.id).min() else { return Ok(sum) };
            sum +=
                page.devices.iter().filter(|d| devices.contains(&d.device)).map(|d| d.messages).sum::<u64>();
            before = format!("&before={last}");
        }
    }
}
