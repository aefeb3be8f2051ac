//! The program under test, in a process that can be killed.

use crate::{
    Failure,
    acme::free_port,
    process::{self, end, signal},
};
use serde_json::Value;
use std::{
    env,
    fs::File,
    path::{Path, PathBuf},
    process::{Child, Command},
    time::Duration,
};

/// Longest time for a start and for a stop, on a busy machine.
const LIMIT: Duration = Duration::from_secs(60);

/// `dunnage gateway` on a port that stays the same across restarts.
pub struct Gateway {
    child: Child,
    folder: PathBuf,
    port: u16,
    process_settings: ProcessSettings,
}

/// The environment of a gateway's process.
#[derive(Default)]
pub struct ProcessSettings {
    /// A command prefix that runs the gateway as its arguments.
    pub command_prefix: Vec<String>,
    pub environment: Vec<(&'static str, String)>,
}

impl Gateway {
    /// Starts a gateway with its files in `folder`. `config` is TOML without `[http]`.
    pub fn start(folder: &Path, config: &str, process_settings: ProcessSettings) -> Result<Gateway, Failure> {
        let port = free_port();
        let config = format!("[http]\nlisten = \"127.0.0.1:{port}\"\n{config}");
        std::fs::write(folder.join("gateway.toml"), config)?;
        let child = spawn(folder, &process_settings)?;
        let mut gateway = Gateway { child, folder: folder.to_owned(), port, process_settings };
        gateway.wait_until_it_listens()?;
        Ok(gateway)
    }

    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    pub fn log(&self) -> PathBuf {
        self.folder.join("gateway.log")
    }

    /// Sends SIGKILL and waits for the process.
    pub fn kill(&mut self) -> Result<(), Failure> {
        self.child.kill()?;
        self.child.wait()?;
        Ok(())
    }

    /// Stops the process with SIGSTOP until it is resumed or killed.
    pub fn pause(&self) -> Result<(), Failure> {
        signal(&self.child, "STOP")
    }

    pub fn resume(&self) -> Result<(), Failure> {
        signal(&self.child, "CONT")
    }

    /// Starts the gateway again after it ended.
    pub fn restart(&mut self) -> Result<(), Failure> {
        self.child = spawn(&self.folder, &self.process_settings)?;
        self.wait_until_it_listens()
    }

    /// Sends SIGTERM. Returns an error if the gateway does not exit with 0 in time.
    pub fn stop(&mut self) -> Result<(), Failure> {
        signal(&self.child, "TERM")?;
        match end(&mut self.child, LIMIT)? {
            status if status.success() => Ok(()),
            status => {
                Err(format!("the gateway exited with {status}:\n{}", process::tail(&self.log())).into())
            }
        }
    }

    /// Runs `dunnage gateway` with a command to this gateway.
    pub fn ask(&self, arguments: &[&str]) -> Result<(), Failure> {
        let mut command = Command::new(env!("CARGO_BIN_EXE_dunnage"));
        command.arg("gateway").args(arguments).arg("--config").arg(self.folder.join("gateway.toml"));
        let output = command.current_dir(&self.folder).output()?;
        match output.status.success() {
            true => Ok(()),
            false => Err(String::from_utf8_lossy(&output.stderr).into()),
        }
    }

    /// The gateway's statistics, from `/api/stats`.
    pub fn stats(&self) -> Result<Value, Failure> {
        let text = ureq::get(format!("{}/api/stats", self.url())).call()?.body_mut().read_to_string()?;
        Ok(serde_json::from_str(&text)?)
    }

    /// Whether the metrics report that the first output has every message.
    pub fn has_delivered(&self) -> bool {
        self.output_lags().first() == Some(&0)
    }

    /// How many messages each output still has to deliver, from the metrics.
    pub fn output_lags(&self) -> Vec<u64> {
        let answer = ureq::get(format!("{}/metrics", self.url())).call().ok();
        let text = answer.and_then(|mut answer| answer.body_mut().read_to_string().ok()).unwrap_or_default();
        let lags = text.lines().filter(|line| line.starts_with("dunnage_output_lag_messages{"));
        lags.filter_map(|line| line.rsplit(' ').next()?.parse().ok()).collect()
    }

    fn wait_until_it_listens(&mut self) -> Result<(), Failure> {
        let url = format!("{}/healthz", self.url());
        let mut ended = None;
        process::until("the gateway starts", LIMIT, || {
            ended = self.child.try_wait().unwrap();
            (ended.is_some() || ureq::get(&url).call().is_ok()).then_some(())
        })?;
        match ended {
            None => Ok(()),
            Some(status) => {
                Err(format!("the gateway exited with {status}:\n{}", process::tail(&self.log())).into())
            }
        }
    }
}

impl Drop for Gateway {
    fn drop(&mut self) {
        // The process has already exited if the test succeeded.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn spawn(folder: &Path, process_settings: &ProcessSettings) -> Result<Child, Failure> {
    let dunnage = env!("CARGO_BIN_EXE_dunnage");
    let mut command = match process_settings.command_prefix.split_first() {
        None => Command::new(dunnage),
        Some((program, arguments)) => {
            let mut command = Command::new(program);
            command.args(arguments).arg(dunnage);
            command
        }
    };
    for (name, _) in env::vars().filter(|(name, _)| name.starts_with("DUNNAGE_")) {
        command.env_remove(name);
    }
    let log = File::options().create(true).append(true).open(folder.join("gateway.log"))?;
    Ok(command
        .args(["gateway", "--config"])
        .arg(folder.join("gateway.toml"))
        .envs(process_settings.environment.iter().map(|(name, value)| (name, value)))
        .current_dir(folder)
        .stdout(log.try_clone()?)
        .stderr(log)
        .spawn()?)
}
