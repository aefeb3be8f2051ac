//! The servers under test, each in its own process: another instance of this program, or the Node service.

use crate::{Failure, node, payload, probe};
use dunnage_gateway::{Config, Gateway};
use std::{
    collections::HashMap,
    io::{BufRead, BufReader, Read, Write},
    net::{SocketAddr, TcpStream},
    path::Path,
    process::{Child, Command, Stdio},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

/// A server under test.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Server {
    /// The gateway of this project.
    Dunnage,
    /// `probe.rs`
    Probe,
    /// `node/`
    Node,
}

/// The servers that this program contains.
#[derive(Debug, Clone, Copy, clap::ValueEnum)]
pub enum BuiltInServer {
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

/// Runs a server in the child process: prints its addresses, and serves until the standard input ends. The gateway's configuration is
/// `folder/gateway.toml`.
pub async fn serve(server: BuiltInServer, folder: &Path) -> Result<(), Failure> {
    let gateway = match server {
        BuiltInServer::Probe => {
            println!("{}", probe::start(folder).await?);
            None
        }
        BuiltInServer::Dunnage => {
            let gateway = Gateway::start(Config::load(Some(&folder.join("gateway.toml")))?).await?;
            let mut line = gateway.address().to_string();
            for name in INPUTS {
                if let Some(address) = gateway.input_address(name) {
                    line += &format!(" {name}={address}");
                }
            }
            println!("{line}");
            Some(gateway)
        }
    };
    tokio::task::spawn_blocking(|| std::io::stdin().read_to_end(&mut Vec::new())).await??;
    if let Some(gateway) = gateway {
        gateway.stop().await;
    }
    Ok(())
}

/// The names of the listening inputs in the configurations of the measurements.
const INPUTS: [&str; 3] = ["mqtt", "coap", "udp"];

/// Some of the gateway's counters.
#[derive(Debug, serde::Deserialize)]
pub struct Counts {
    pub stored: u64,
    pub quarantined: u64,
    pub refused: u64,
    pub outputs: Vec<Delivered>,
}

/// How far an output is.
#[derive(Debug, serde::Deserialize)]
pub struct Delivered {
    pub delivered: u64,
}

/// A server in its own process.
pub struct Running {
    child: Child,
    pub address: SocketAddr,
    inputs: HashMap<String, SocketAddr>,
    panics: Arc<AtomicU64>,
}

impl Running {
    /// Starts `server` with its files in `folder`, among them `buffer.sqlite3` with a table `messages`.
    pub fn start(server: Server, folder: &Path) -> Result<Running, Failure> {
        Running::start_with(server, folder, "")
    }

    /// Like [`Running::start`], with further configuration of the gateway.
    pub fn start_with(server: Server, folder: &Path, more: &str) -> Result<Running, Failure> {
        Running::start_in(server, folder, more, &[])
    }

    /// Like [`Running::start_with`], with further variables of the environment.
    pub fn start_in(
        server: Server,
        folder: &Path,
        more: &str,
        environment: &[(&str, &str)],
    ) -> Result<Running, Failure> {
        // Some requests come through nginx, and the gateway does not treat those as local.
        let config = format!("[access]\nwho = \"anyone\"\n{}\n{more}", payload::profile());
        Running::spawn(server, folder, &config, environment)
    }

    /// Like [`Running::start`], with only this configuration, the location of the files and a free port.
    pub fn start_configured(server: Server, folder: &Path, config: &str) -> Result<Running, Failure> {
        Running::spawn(server, folder, config, &[])
    }

    fn spawn(
        server: Server,
        folder: &Path,
        config: &str,
        environment: &[(&str, &str)],
    ) -> Result<Running, Failure> {
        let path = folder.join("buffer.sqlite3");
        let config = format!("[http]\nlisten = \"127.0.0.1:0\"\n[buffer]\npath = {path:?}\n{config}");
        std::fs::write(folder.join("gateway.toml"), config)?;
        let mut command = match server {
            Server::Node => node::command(),
            Server::Dunnage | Server::Probe => {
                let mut command = Command::new(std::env::current_exe()?);
                command.args(["serve", server.name()]);
                if matches!(server, Server::Dunnage) {
                    // The same setting as in deploy/dunnage.service. The probe is faster without it.
                    command.env("MIMALLOC_PURGE_DELAY", "0");
                }
                command
            }
        };
        command.envs(environment.iter().copied());
        command.arg(folder).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn()?;
        let panics = Arc::new(AtomicU64::new(0));
        if let Some(errors) = child.stderr.take() {
            let panics = Arc::clone(&panics);
            std::thread::spawn(move || {
                for line in BufReader::new(errors).lines().map_while(Result::ok) {
                    eprintln!("{line}");
                    panics.fetch_add(u64::from(line.contains("panicked at")), Ordering::Relaxed);
                }
            });
        }
        let mut line = String::new();
        if let Some(output) = child.stdout.take() {
            BufReader::new(output).read_line(&mut line)?;
        }
        let mut parts = line.split_whitespace();
        let failed = || format!("{} did not start", server.name());
        let address = parts.next().unwrap_or_default().parse().map_err(|_| failed())?;
        let input = |part: &str| {
            let (name, address) = part.split_once('=')?;
            Some((name.to_owned(), address.parse().ok()?))
        };
        Ok(Running { child, address, inputs: parts.filter_map(input).collect(), panics })
    }

    /// The address of the input `name`. Fails if the gateway does not have it.
    pub fn input(&self, name: &str) -> Result<SocketAddr, Failure> {
        Ok(*self.inputs.get(name).ok_or_else(|| format!("the gateway has no input {name}"))?)
    }

    /// The process ID.
    pub fn process(&self) -> u32 {
        self.child.id()
    }

    /// Requests the gateway's counters of messages.
    pub fn counts(&self) -> Result<Counts, Failure> {
        let mut stream = TcpStream::connect(self.address)?;
        write!(stream, "GET /api/stats HTTP/1.1\r\nhost: {}\r\nconnection: close\r\n\r\n", self.address)?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer)?;
        let (_, body) = answer.split_once("\r\n\r\n").ok_or("/api/stats has no body")?;
        Ok(serde_json::from_str(body)?)
    }

    /// The number of panics of its threads and tasks.
    pub fn panics(&self) -> u64 {
        self.panics.load(Ordering::Relaxed)
    }

    /// Whether the process is still running.
    pub fn is_running(&mut self) -> Result<bool, Failure> {
        Ok(self.child.try_wait()?.is_none())
    }

    /// The peak memory in MB.
    pub fn memory_mb(&self) -> Result<f64, Failure> {
        memory_mb(self.child.id(), "VmHWM")
    }

    /// The processor time so far, in seconds.
    pub fn processor_seconds(&self) -> Result<f64, Failure> {
        processor_seconds(self.child.id())
    }

    /// Shuts the server down. Fails if it exits with an error.
    pub fn stop(mut self) -> Result<(), Failure> {
        drop(self.child.stdin.take());
        match self.child.wait()?.success() {
            true => Ok(()),
            false => Err("a server failed".into()),
        }
    }

    /// Kills the server with SIGKILL.
    pub fn kill(mut self) -> Result<(), Failure> {
        self.child.kill()?;
        self.child.wait()?;
        Ok(())
    }
}

/// The memory of a process in MB: `VmHWM` is the peak, `VmRSS` the current value.
pub fn memory_mb(process: u32, what: &str) -> Result<f64, Failure> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status"))?;
    let mut lines = status.lines().filter_map(|line| line.split_once(':'));
    let (_, value) = lines.find(|(name, _)| *name == what).ok_or_else(|| format!("no {what}"))?;
    let kb: f64 = value.trim().trim_end_matches("kB").trim().parse()?;
    Ok(kb / 1024.0)
}

/// The processor time of a process in seconds, user and system. `/proc` counts both in 1/100 s.
pub fn processor_seconds(process: u32) -> Result<f64, Failure> {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat"))?;
    // The fields after the name, which is in parentheses. utime is field 14 of the line, stime field 15.
    let fields: Vec<_> = stat.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
    let ticks = |at: usize| fields.get(at).and_then(|field| field.parse::<f64>().ok()).unwrap_or_default();
    Ok((ticks(11) + ticks(12)) / 100.0)
}
