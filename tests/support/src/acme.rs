//! A real oneM2M CSE: ACME, headless, on a free port, with its files in a temporary folder.

use crate::tools::tool;
use serde_json::Value;
use std::{
    fs::File,
    net::SocketAddr,
    process::{Child, Command, Stdio},
    thread,
    time::{Duration, Instant},
};
use tempfile::TempDir;

/// The originator with all rights.
const ADMIN: &str = "CAdmin";

/// Disables the web page. With it, a request during the start ends ACME: "The setup method 'add_url_rule' can no longer be
/// called on the application". A gateway whose CSE was down sends such requests.
const WITHOUT_WEB_PAGE: &str = "[webui]\nenable=false\n";

pub struct Acme {
    pub address: SocketAddr,
    folder: TempDir,
    child: Option<Child>,
    agent: ureq::Agent,
}

// Tests run side by side, so a port in the range for outgoing connections would be taken before its server starts.
pub use crate::nats::free_port;

/// A content instance of a container.
#[derive(Debug, Clone, PartialEq)]
pub struct Instance {
    pub name: String,
    pub content: Value,
    pub labels: Vec<String>,
}

impl Acme {
    /// Starts ACME with its resources in memory, which a restart loses.
    pub fn in_memory() -> Acme {
        Acme::start("databaseType=memory\n")
    }

    /// Starts ACME. `more` are further lines of its configuration, which begin in the section `[basic.config]`.
    pub fn start(more: &str) -> Acme {
        let port = free_port();
        let folder = TempDir::new().unwrap();
        let config = format!(
            "[basic.config]\ncseType=IN\ncseID=id-in\ncseName=cse-in\nadminID={ADMIN}\ncseHost=127.0.0.1\nhttpPort={port}\n\
             networkInterface=127.0.0.1\nlogLevel=warn\nsecret=secret\n{more}\n[logging]\nenableFileLogging=true\n{WITHOUT_WEB_PAGE}"
        );
        std::fs::write(folder.path().join("acme.ini"), config).unwrap();
        let address = ([127, 0, 0, 1], port).into();
        let mut acme = Acme { address, folder, child: None, agent: crate::agent() };
        acme.restart();
        acme
    }

    /// Starts ACME again after a kill. It still has its resources if its database is on disk; else it is empty.
    pub fn restart(&mut self) {
        assert!(self.child.is_none());
        let output = File::create(self.folder.path().join("output")).unwrap();
        let child = Command::new(tool("venv/bin/acmecse"))
            .args(["--headless", "--config", "acme.ini", "-dir"])
            .arg(self.folder.path())
            .current_dir(self.folder.path())
            .env("PYTHONUNBUFFERED", "1")
            .stdin(Stdio::null())
            .stdout(output.try_clone().unwrap())
            .stderr(output)
            .spawn()
            .unwrap();
        self.child = Some(child);
        let begun = Instant::now();
        let wait = || {
            assert!(begun.elapsed() < Duration::from_secs(60), "ACME does not start");
            thread::sleep(Duration::from_millis(20));
        };
        // A request before ACME is ready may end it.
        while !self.output().contains("CSE started") {
            wait();
        }
        while self.try_get("/cse-in").is_none_or(|(status, _)| status != 200) {
            wait();
        }
    }

    fn output(&self) -> String {
        std::fs::read_to_string(self.folder.path().join("output")).unwrap_or_default()
    }

    /// Sends SIGKILL and waits until the process has ended.
    pub fn kill(&mut self) {
        let mut child = self.child.take().unwrap();
        child.kill().unwrap();
        child.wait().unwrap();
    }

    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Returns the representation of a resource without its root element, or `None` if the resource does not exist.
    pub fn get(&self, path: &str) -> Option<Value> {
        let begun = Instant::now();
        let (status, mut content) = loop {
            let (status, content) = self.try_get(path).expect("ACME answers");
            // ACME answers 500 if the children of a container change while it lists them.
            if status != 500 || begun.elapsed() > Duration::from_secs(20) {
                break (status, content);
            }
            thread::sleep(Duration::from_millis(50));
        };
        if status == 404 {
            return None;
        }
        assert_eq!(status, 200, "{path}: {content}");
        content.as_object_mut()?.values_mut().next().map(Value::take)
    }

    /// Returns the paths of the resources of the type `ty` below `path`, by discovery (fu=1).
    pub fn discover(&self, path: &str, ty: u8) -> Vec<String> {
        let found = self.get(&format!("{path}?fu=1&ty={ty}")).unwrap();
        found.as_array().unwrap().iter().map(|path| path.as_str().unwrap().to_owned()).collect()
    }

    /// Returns the instances of a container, in the order of their creation.
    pub fn instances(&self, container: &str) -> Vec<Instance> {
        let Some(mut container) = self.get(&format!("{container}?rcn=4&ty=4")) else { return Vec::new() };
        let mut instances = match container["m2m:cin"].take() {
            Value::Array(instances) => instances,
            _ => Vec::new(),
        };
        // The times of creation have microseconds.
        instances.sort_by_key(|instance| instance["ct"].as_str().unwrap().to_owned());
        instances.into_iter().map(instance).collect()
    }

    /// Deletes a resource and its children.
    pub fn delete(&self, path: &str) {
        let request = self.agent.delete(format!("{}{path}", self.url()));
        let answer = with_headers(request).call().unwrap();
        assert_eq!(answer.status(), 200, "{path}");
    }

    /// Returns the status and the content of a resource, or `None` if ACME does not answer.
    fn try_get(&self, path: &str) -> Option<(u16, Value)> {
        let request = self.agent.get(format!("{}{path}", self.url()));
        let mut answer = with_headers(request).call().ok()?;
        let text = answer.body_mut().with_config().limit(64 << 20).read_to_string().ok()?;
        Some((answer.status().as_u16(), serde_json::from_str(&text).unwrap_or_default()))
    }
}

fn with_headers<B>(request: ureq::RequestBuilder<B>) -> ureq::RequestBuilder<B> {
    let request = request.header("x-m2m-origin", ADMIN).header("x-m2m-ri", "test");
    request.header("x-m2m-rvi", "3").header("accept", "application/json")
}

fn instance(mut cin: Value) -> Instance {
    Instance {
        name: cin["rn"].as_str().unwrap().to_owned(),
        content: cin["con"].take(),
        labels: serde_json::from_value(cin["lbl"].take()).unwrap_or_default(),
    }
}

impl Drop for Acme {
    fn drop(&mut self) {
        if self.child.is_some() {
            self.kill();
        }
        if thread::panicking() {
            eprintln!("--- output of ACME");
            let mut files = vec![self.folder.path().join("output")];
            let logs = std::fs::read_dir(self.folder.path().join("logs")).into_iter().flatten().flatten();
            files.extend(logs.map(|entry| entry.path()));
            for file in files {
                let text = std::fs::read_to_string(&file).unwrap_or_default();
                let lines: Vec<_> = text.lines().collect();
                eprintln!("{}", lines[lines.len().saturating_sub(30)..].join("\n"));
            }
        }
    }
}
