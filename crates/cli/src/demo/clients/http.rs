//! The HTTP client of a port, and the demo's queries to the gateway.

use crate::{demo::report::Report, failure::Failure};
use serde::Deserialize;
use std::{collections::HashSet, net::SocketAddr, time::Duration};
use ureq::Agent;

/// An HTTP client with keep-alive connections to the gateway.
#[derive(Clone)]
pub struct Http {
    agent: Agent,
    address: SocketAddr,
}

#[derive(Deserialize)]
struct Devices {
    devices: Vec<Device>,
    next: Option<String>,
}

#[derive(Deserialize)]
struct Device {
    device: String,
    messages: u64,
}

impl Http {
    pub fn new(address: SocketAddr, connections: usize) -> Self {
        let agent = Agent::config_builder()
            .http_status_as_error(false)
            .proxy(None)
            .timeout_global(Some(Duration::from_secs(10)))
            .max_idle_connections_per_host(connections)
            .build()
            .new_agent();
        Http { agent, address }
    }

    /// The URL of `path` on the gateway.
    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// Sends a report and waits for the response.
    pub fn send(&self, report: &Report) -> Result<(), String> {
        let url = self.url(&format!("/ingest/{}?link={}", report.device, report.link));
        self.post(&url, report.format.media_type(), &report.body, None)
    }

    /// Posts `body` and waits for the response. Returns an error unless the status is 2xx.
    pub fn post(
        &self,
        url: &str,
        content_type: &str,
        body: &[u8],
        header: Option<(&str, &str)>,
    ) -> Result<(), String> {
        let request = self.agent.post(url).content_type(content_type);
        let request = header.into_iter().fold(request, |request, (name, value)| request.header(name, value));
        let answer = request.send(body);
        match answer.map_err(|e| e.to_string())?.status().as_u16() {
            200..=299 => Ok(()),
            status => Err(format!("the gateway answered {status}")),
        }
    }

    /// The number of messages from `devices` that the gateway has stored.
    pub fn messages_of(&self, devices: &HashSet<String>) -> Result<u64, Failure> {
        let (mut sum, mut cursor) = (0, String::new());
        loop {
            let url = self.url(&format!("/api/devices?sort=name&limit=1000{cursor}"));
            let failed = |reason: String| Failure::about(&url, reason);
            let answer =
                self.agent.get(&url).call().and_then(|mut answer| answer.body_mut().read_to_string());
            let page: Devices = serde_json::from_str(&answer.map_err(|e| failed(e.to_string()))?)
                .map_err(|e| failed(e.to_string()))?;
            sum +=
                page.devices.iter().filter(|d| devices.contains(&d.device)).map(|d| d.messages).sum::<u64>();
            let Some(next) = page.next else { return Ok(sum) };
            cursor = format!("&cursor={next}");
        }
    }
}
