//! The servers under test, each in a process of its own: this program, started again, or the Node service.

use crate::{Failure, node, payload, probe};
use dunnage_gateway::{Config, Gateway};
use std::{
    io::{BufRead, BufReader, Read},
    net::SocketAddr,
    path::Path,
    process::{Child, Command, Stdio},
};

/// Who is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Server {
    /// The gateway of this project.
    Dunnage,
    /// `probe.rs`
    Probe,
    /// `node/`
    Node,
}

/// Those of them that are this program.
#[derive(Debug, Clone, Copy, clap::ValueEnum)]
pub enum Own {
    Dunnage,
    Probe,
}

impl Server {
    /// Its name in the results.
    pub fn name(self) -> &'static str {
        match self {
            Server::Dunnage => "dunnage",
            Server::Probe => "probe",
            Server::Node => "node",
        }
    }
}

/// What the child process does: serves until its input ends, with `folder/gateway.toml` as the configuration.
pub async fn serve(server: Own, folder: &Path) -> Result<(), Failure> {
    let gateway = match server {
        Own::Probe => {
            println!("{}", probe::start(folder).await?);
            None
        }
        Own::Dunnage => {
            let gateway = Gateway::start(Config::load(Some(&folder.join("gateway.toml")))?).await?;
            println!("{}", gateway.address());
            Some(gateway)
        }
    };
    tokio::task::spawn_blocking(|| std::io::stdin().read_to_end(&mut Vec::new())).await??;
    if let Some(gateway) = gateway {
        gateway.stop().await;
    }
    Ok(())
}

/// A server in a process of its own.
pub struct Running {
    child: Child,
    pub address: SocketAddr,
}

impl Running {
    /// Starts `server` with its files in `folder`, among them `buffer.sqlite3` with a table `messages`.
    pub fn start(server: Server, folder: &Path) -> Result<Running, Failure> {
        Running::start_with(server, folder, "")
    }

    /// The same with further configuration of the gateway.
    pub fn start_with(server: Server, folder: &Path, more: &str) -> Result<Running, Failure> {
        let path = folder.join("buffer.sqlite3");
        let profile = payload::profile();
        let config =
            format!("[http]\nlisten = \"127.0.0.1:0\"\n[buffer]\npath = {path:?}\n{profile}\n{more}");
        std::fs::write(folder.join("gateway.toml"), config)?;
        let mut command = match server {
            Server::Node => node::command(),
            Server::Dunnage | Server::Probe => {
                let mut command = Command::new(std::env::current_exe()?);
                command.args(["serve", server.name()]);
                command
            }
        };
        let mut child = command.arg(folder).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let mut line = String::new();
        if let Some(output) = child.stdout.take() {
            BufReader::new(output).read_line(&mut line)?;
        }
        let address = line.trim().parse().map_err(|_| format!("{} did not start", server.name()))?;
        Ok(Running { child, address })
    }

    /// The most memory that it had, in MB (VmHWM).
    pub fn memory_mb(&self) -> Result<f64, Failure> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id()))?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).ok_or("no VmHWM")?;
        let kb: f64 = line.trim().trim_end_matches("kB").trim().parse()?;
        Ok(kb / 1024.0)
    }

    /// The processor time that it has taken, in seconds: user and system, as `/proc` counts them in 1/100 s.
    pub fn processor_seconds(&self) -> Result<f64, Failure> {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.child.id()))?;
        // After the name, which is in parentheses: utime is field 14 of all, stime 15.
        let fields: Vec<_> = stat.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
        let ticks =
            |at: usize| fields.get(at).and_then(|field| field.parse::<f64>().ok()).unwrap_or_default();
        Ok((ticks(11) + ticks(12)) / 100.0)
    }

    /// Ends it in order.
    pub fn stop(mut self) -> Result<(), Failure> {
        drop(self.child.stdin.take());
        match self.child.wait()?.success() {
            true => Ok(()),
            false => Err("a server failed".into()),
        }
    }

    /// SIGKILL.
    pub fn kill(mut self) -> Result<(), Failure> {
        self.child.kill()?;
        self.child.wait()?;
        Ok(())
    }
}
