//! The paper's testbed: replicas of a server behind nginx, and the programs of `locust/` that send to it.

use crate::{
    Failure,
    nginx::Nginx,
    payload::Payload,
    server::{Running, Server},
};
use rusqlite::Connection;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::{
    io::Write,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

/// Running replicas behind nginx.
pub struct Testbed {
    server: Server,
    folder: PathBuf,
    replicas: Vec<Running>,
    nginx: Nginx,
}

impl Testbed {
    /// Starts the replicas and nginx, with their files in a folder of `folder`.
    pub fn start(server: Server, replicas: usize, folder: &Path) -> Result<Testbed, Failure> {
        let folder = folder.join(format!("{}-{replicas}", server.name()));
        let mut running = Vec::new();
        for n in 0..replicas {
            let replica_folder = folder.join(n.to_string());
            std::fs::create_dir_all(&replica_folder)?;
            running.push(Running::start(server, &replica_folder)?);
        }
        let nginx = Nginx::start(&folder, &running)?;
        Ok(Testbed { server, folder, replicas: running, nginx })
    }

    /// The process IDs of the replicas.
    pub fn processes(&self) -> Vec<u32> {
        self.replicas.iter().map(Running::process).collect()
    }

    /// Runs a program of `locust/` with a plan: `settings`, and a step with all formats for each number of devices. Returns the lines that
    /// it prints.
    pub fn run<T: DeserializeOwned>(
        &self,
        program: &str,
        mut settings: Value,
        devices: &[usize],
        payloads: &[&Payload],
    ) -> Result<Vec<T>, Failure> {
        let mut formats = Vec::new();
        for (n, payload) in payloads.iter().enumerate() {
            let bodies = self.folder.join(format!("bodies{n}"));
            payload.write_lines(&bodies)?;
            let format =
                json!({ "name": payload.name, "content_type": payload.content_type, "bodies": bodies });
            formats.push(format);
        }
        settings["steps"] = devices.iter().map(|n| json!({ "devices": n, "formats": formats })).collect();
        let mut child = Command::new(python()?)
            .arg(Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/locust")).join(program))
            .arg(format!("http://{}", self.nginx.address))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        if let Some(mut stdin) = child.stdin.take() {
            stdin.write_all(settings.to_string().as_bytes())?;
        }
        let output = child.wait_with_output()?;
        if !output.status.success() {
            return Err("Locust failed".into());
        }
        Ok(String::from_utf8(output.stdout)?.lines().map(serde_json::from_str).collect::<Result<_, _>>()?)
    }

    /// Stops everything. Fails if fewer messages are stored than were acknowledged.
    pub fn stop(self, acknowledged: u64) -> Result<(), Failure> {
        let replicas = self.replicas.len();
        drop(self.nginx);
        self.replicas.into_iter().try_for_each(Running::stop)?;
        let mut stored = 0;
        for n in 0..replicas {
            let buffer = Connection::open(self.folder.join(n.to_string()).join("buffer.sqlite3"))?;
            stored += buffer.query_row("SELECT count(*) FROM messages", [], |row| row.get::<_, u64>(0))?;
        }
        match stored >= acknowledged {
            true => Ok(()),
            false => {
                let server = self.server.name();
                Err(format!("{server}: {acknowledged} acknowledged, {stored} stored").into())
            }
        }
    }
}

/// The Python interpreter of the environment with Locust. Fails if `tests/tools/install locust` has not installed it.
fn python() -> Result<PathBuf, Failure> {
    let tools = match std::env::var_os("DUNNAGE_TOOLS") {
        Some(folder) => folder.into(),
        None => Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/tools"),
    };
    let venv = tools.join("venv/bin");
    match venv.join("locust").exists() {
        true => Ok(venv.join("python")),
        false => Err(format!("no Locust in {}: run tests/tools/install locust", venv.display()).into()),
    }
}
