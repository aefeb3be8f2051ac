//! A real InfluxDB 1, Debian's, on a free port of the loopback interface, with its data in a temporary folder.

use crate::{acme::free_port, agent, wait::wait_until};
use serde_json::Value;
use std::{
    fs,
    path::Path,
    process::{Child, Command, Stdio},
};
use tempfile::TempDir;

/// The program, from the package `influxdb`.
const PROGRAM: &str = "/usr/bin/influxd";

pub struct Influx {
    pub port: u16,
    /// `http` or `https`.
    scheme: &'static str,
    child: Option<Child>,
    folder: TempDir,
}

impl Influx {
    pub fn start() -> Influx {
        Influx::start_with("")
    }

    /// Starts a server that asks for users, and has none.
    pub fn start_with_users() -> Influx {
        Influx::start_with("auth-enabled = true")
    }

    /// Starts a server with further lines of the table `[http]` of its configuration.
    fn start_with(http: &str) -> Influx {
        let mut server = Influx::new("http", http);
        server.restart();
        wait_until("InfluxDB answers", || agent().get(server.url("/ping")).call().is_ok());
        server
    }

    /// Starts a server with TLS, with `server.pem` and `server.key` of `folder`.
    pub fn start_with_tls(folder: &Path) -> Influx {
        let [pem, key] = ["server.pem", "server.key"].map(|name| folder.join(name));
        let tls = format!("https-enabled = true\nhttps-certificate = {pem:?}\nhttps-private-key = {key:?}");
        let mut server = Influx::new("https", &tls);
        server.restart();
        wait_until("InfluxDB listens", || std::net::TcpStream::connect(("127.0.0.1", server.port)).is_ok());
        server
    }

    fn new(scheme: &'static str, http: &str) -> Influx {
        let (folder, port, backup) = (TempDir::new().unwrap(), free_port(), free_port());
        let path = |name: &str| folder.path().join(name);
        let config = format!(
            "reporting-disabled = true\nbind-address = \"127.0.0.1:{backup}\"\n\
             [meta]\ndir = {:?}\n[data]\ndir = {:?}\nwal-dir = {:?}\n[monitor]\nstore-enabled = false\n\
             [http]\nbind-address = \"127.0.0.1:{port}\"\nlog-enabled = false\n{http}\n",
            path("meta"),
            path("data"),
            path("wal"),
        );
        fs::write(path("influxdb.conf"), config).unwrap();
        Influx { port, scheme, child: None, folder }
    }

    /// Starts the server again on the same port, after a kill.
    pub fn restart(&mut self) {
        assert!(self.child.is_none());
        assert!(Path::new(PROGRAM).exists(), "InfluxDB is missing; please run: apt-get install influxdb");
        let mut command = Command::new(PROGRAM);
        command.args(["run", "-config"]).arg(self.folder.path().join("influxdb.conf"));
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        self.child = Some(command.spawn().unwrap());
    }

    /// Sends SIGKILL to the server, and waits until it has ended.
    pub fn kill(&mut self) {
        let mut child = self.child.take().unwrap();
        child.kill().unwrap();
        child.wait().unwrap();
    }

    pub fn url(&self, path: &str) -> String {
        format!("{}://127.0.0.1:{}{path}", self.scheme, self.port)
    }

    /// Runs a statement in a database. Returns what the server answers; `None` if it does not.
    pub fn ask(&self, database: &str, statement: &str) -> Option<Value> {
        let request = agent().post(self.url("/query")).query("db", database).query("epoch", "ns");
        let text = request.send_form([("q", statement)]).ok()?.body_mut().read_to_string().ok()?;
        serde_json::from_str(&text).ok()
    }

    /// Runs a query in a database. Returns the rows of all series.
    pub fn query(&self, database: &str, query: &str) -> Vec<Vec<Value>> {
        let answer = self.ask(database, query).unwrap();
        let result = &answer["results"][0];
        assert!(result["error"].is_null() && answer["error"].is_null(), "{query}: {answer}");
        let series = result["series"].as_array().into_iter().flatten();
        let rows = series.flat_map(|series| series["values"].as_array().unwrap());
        rows.map(|row| row.as_array().unwrap().clone()).collect()
    }
}

impl Drop for Influx {
    fn drop(&mut self) {
        if let Some(mut child) = self.child.take() {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}
