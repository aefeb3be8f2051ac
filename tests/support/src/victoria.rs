//! A real VictoriaMetrics on a free port of the loopback interface, with its data in a temporary folder. It takes the requests of InfluxDB 2.

use crate::{acme::free_port, agent, tools::tool, wait::wait_until};
use serde_json::Value;
use std::process::{Child, Command, Stdio};
use tempfile::TempDir;

pub struct Victoria {
    pub port: u16,
    child: Child,
    _folder: TempDir,
}

impl Victoria {
    pub fn start() -> Victoria {
        let (folder, port) = (TempDir::new().unwrap(), free_port());
        let mut command = Command::new(tool("bin/victoria-metrics"));
        command.arg(format!("-httpListenAddr=127.0.0.1:{port}")).arg("-retentionPeriod=10y");
        // Of samples of a series at one time, it counts one.
        command.arg("-dedup.minScrapeInterval=1ms");
        command.arg(format!("-storageDataPath={}", folder.path().display()));
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let server = Victoria { port, child: command.spawn().unwrap(), _folder: folder };
        wait_until("VictoriaMetrics answers", || agent().get(server.url("/health")).call().is_ok());
        server
    }

    pub fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.port)
    }

    /// Returns all series that a selector selects, without repeated samples: each has `metric` (its labels), `values` and `timestamps` (milliseconds).
    pub fn export(&self, selector: &str) -> Vec<Value> {
        agent().get(self.url("/internal/force_flush")).call().unwrap();
        let request = agent().get(self.url("/api/v1/export")).query("match[]", selector);
        let text = request.call().unwrap().body_mut().read_to_string().unwrap();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }
}

impl Drop for Victoria {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
