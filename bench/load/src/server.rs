//! The servers under test, each in a process of its own: this program, started again.

use crate::{Failure, probe};
use dunnage_gateway::{Config, Gateway};
use std::{
    io::{BufRead, BufReader, Read},
    net::SocketAddr,
    path::Path,
    process::{Child, Command, Stdio},
};

/// Who is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Server {
    /// The gateway of this project.
    Dunnage,
    /// `probe.rs`
    Probe,
}

impl Server {
    /// Its name in the results.
    pub fn name(self) -> &'static str {
        match self {
            Server::Dunnage => "dunnage",
            Server::Probe => "probe",
        }
    }
}

/// What the child process does: serves until its input ends, with `folder/gateway.toml` as the configuration.
pub async fn serve(server: Server, folder: &Path) -> Result<(), Failure> {
    let gateway = match server {
        Server::Probe => {
            println!("{}", probe::start(folder).await?);
            None
        }
        Server::Dunnage => {
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
    /// Starts `server` with its files in `folder`. `profile` is what the gateway is told about all devices, as TOML.
    pub fn start(server: Server, folder: &Path, profile: &str) -> Result<Running, Failure> {
        let path = folder.join("buffer.sqlite3");
        let config = format!("[http]\nlisten = \"127.0.0.1:0\"\n[buffer]\npath = {path:?}\n{profile}");
        std::fs::write(folder.join("gateway.toml"), config)?;
        let mut child = Command::new(std::env::current_exe()?)
            .args(["serve", server.name()])
            .arg(folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let mut line = String::new();
        if let Some(output) = child.stdout.take() {
            BufReader::new(output).read_line(&mut line)?;
        }
        let address = line.trim().parse().map_err(|_| format!("{} did not start", server.name()))?;
        Ok(Running { child, address })
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
