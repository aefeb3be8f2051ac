//! Real NATS servers on the loopback interface, one or a cluster. Each is a process that can be killed and started again.

use crate::tools::tool;
use async_nats::jetstream::{self, Context};
use std::{
    net::TcpListener,
    path::PathBuf,
    process::{Child, Command, Stdio},
    sync::atomic::{AtomicU16, Ordering},
    time::{Duration, Instant},
};
use tempfile::TempDir;

/// Returns a free port outside the range for outgoing connections, so that it stays free while its server is down.
pub fn free_port() -> u16 {
    static NEXT: AtomicU16 = AtomicU16::new(0);
    loop {
        let n = NEXT.fetch_add(1, Ordering::Relaxed);
        let port = 10_000 + (std::process::id() as u16).wrapping_mul(41).wrapping_add(n) % 20_000;
        if TcpListener::bind(("127.0.0.1", port)).is_ok() {
            return port;
        }
    }
}

pub struct Cluster {
    nodes: Vec<Node>,
    folder: TempDir,
}

struct Node {
    name: String,
    url: String,
    config: PathBuf,
    log: PathBuf,
    child: Option<Child>,
}

impl Cluster {
    /// Starts `count` servers with JetStream. `more` is added to the configuration of each.
    pub fn start(count: usize, more: &str) -> Cluster {
        let folder = TempDir::new().unwrap();
        let ports: Vec<_> = (0..2 * count).map(|_| free_port()).collect();
        let (clients, routes) = ports.split_at(count);
        let urls: Vec<_> = routes.iter().map(|port| format!("\"nats://127.0.0.1:{port}\"")).collect();
        let nodes = (0..count).map(|n| {
            let name = format!("n{n}");
            let cluster = format!(
                "cluster {{ name: test, listen: \"127.0.0.1:{}\", routes: [{}] }}",
                routes[n],
                urls.join(", ")
            );
            let store = folder.path().join(&name);
            let (config, log) =
                (folder.path().join(format!("{name}.conf")), folder.path().join(format!("{name}.log")));
            let text = format!(
                "server_name: {name}\nlisten: \"127.0.0.1:{}\"\njetstream {{ store_dir: \"{}\", max_file_store: 100GB }}\n{}\n{more}\n",
                clients[n],
                store.display(),
                if count > 1 { &cluster } else { "" },
            );
            std::fs::write(&config, text).unwrap();
            Node { name, url: format!("nats://127.0.0.1:{}", clients[n]), config, log, child: None }
        });
        let mut cluster = Cluster { nodes: nodes.collect(), folder };
        (0..count).for_each(|n| cluster.restart(n));
        cluster
    }

    /// Returns the URLs of the servers.
    pub fn urls(&self) -> Vec<String> {
        self.nodes.iter().map(|node| node.url.clone()).collect()
    }

    /// Starts a server that was killed.
    pub fn restart(&mut self, node: usize) {
        let node = &mut self.nodes[node];
        assert!(node.child.is_none());
        let log = std::fs::File::options().create(true).append(true).open(&node.log).unwrap();
        let mut command = Command::new(tool("bin/nats-server"));
        command.arg("-c").arg(&node.config).stdin(Stdio::null());
        node.child = Some(command.stdout(log.try_clone().unwrap()).stderr(log).spawn().unwrap());
    }

    /// Sends SIGKILL and waits until the process has ended.
    pub fn kill(&mut self, node: usize) {
        let mut child = self.nodes[node].child.take().expect("the server runs");
        child.kill().unwrap();
        child.wait().unwrap();
    }

    /// Returns the number of the server called `name`.
    pub fn find(&self, name: &str) -> usize {
        self.nodes.iter().position(|node| node.name == name).unwrap()
    }

    /// Waits until the servers have a leader. Returns a new client.
    pub async fn context(&self) -> Context {
        let begun = Instant::now();
        loop {
            if let Ok(client) = async_nats::connect(self.urls()).await {
                let context = jetstream::new(client);
                match context.query_account().await {
                    Ok(_) => return context,
                    Err(e) => assert!(begun.elapsed() < Duration::from_secs(60), "{e}"),
                }
            }
            assert!(begun.elapsed() < Duration::from_secs(60), "no server");
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        for node in &mut self.nodes {
            if let Some(mut child) = node.child.take() {
                let _ = child.kill();
                let _ = child.wait();
            }
            if std::thread::panicking() {
                let log = std::fs::read_to_string(&node.log).unwrap_or_default();
                let last: Vec<_> = log.lines().rev().take(30).collect();
                eprintln!("{} in {}:", node.name, self.folder.path().display());
                last.iter().rev().for_each(|line| eprintln!("  {line}"));
            }
        }
    }
}
