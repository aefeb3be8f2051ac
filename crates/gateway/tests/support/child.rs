//! A gateway in a process of its own (`bin/serve.rs`), which can be killed and can run out of disk.

use std::{
    io::{BufRead, BufReader},
    path::Path,
    process::{Child, Command, Stdio},
};

/// The optional configuration file in the folder of a gateway.
const CONFIG: &str = "gateway.toml";

pub struct ChildGateway {
    pub child: Child,
    pub url: String,
}

/// Writes the configuration of the gateway in `folder`. [`start`] sets the path of the buffer and the address of HTTP.
pub fn configure(folder: &Path, toml: &str) {
    std::fs::write(folder.join(CONFIG), toml).unwrap();
}

/// Starts a gateway with its buffer in `folder`. `before` are shell commands that its process runs first; they may change the
/// environment, such as `DUNNAGE_HTTP_LISTEN`.
pub fn start(folder: &Path, before: &str) -> ChildGateway {
    let config = folder.join(CONFIG);
    let mut child = Command::new("sh")
        .args(["-c", &format!("{before}\nexec \"$0\" \"$@\"")])
        .arg(env!("CARGO_BIN_EXE_gateway_of_tests"))
        .args(config.exists().then_some(config))
        .env("DUNNAGE_BUFFER_PATH", folder.join("buffer.sqlite3"))
        .env("DUNNAGE_HTTP_LISTEN", "127.0.0.1:0")
        .env("DUNNAGE_HTTP_DRAIN_TIMEOUT_SECONDS", "5")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let address = lines.find_map(|line| line.unwrap().strip_prefix("listening ").map(str::to_owned));
    let url = format!("http://{}", address.expect("the gateway starts"));
    // Further output must not fill the pipe.
    std::thread::spawn(move || lines.for_each(drop));
    ChildGateway { child, url }
}

impl ChildGateway {
    /// Returns the peak of the resident memory of the process, in bytes.
    pub fn peak_memory(&self) -> u64 {
        let path = Path::new("/proc").join(self.child.id().to_string()).join("status");
        let status = std::fs::read_to_string(path).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
        1024 * line.trim().trim_end_matches(" kB").trim().parse::<u64>().unwrap()
    }

    /// Sends SIGKILL and waits until the process has ended.
    pub fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Stops the gateway gracefully.
    pub fn stop(mut self) {
        drop(self.child.stdin.take());
        assert!(self.child.wait().unwrap().success());
    }
}
