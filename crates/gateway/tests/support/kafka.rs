//! A Kafka broker: one node without ZooKeeper, which can be killed and started again.

use super::tools::tool;
use std::{
    fs::File,
    net::{TcpListener, TcpStream},
    path::PathBuf,
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};
use tempfile::TempDir;

pub struct Kafka {
    folder: TempDir,
    port: u16,
    process: Option<Child>,
}

/// Settings of a small broker, whose topics have one replica and are created by the first write.
const PROPERTIES: &str = "\
process.roles=broker,controller
node.id=1
controller.listener.names=CONTROLLER
listener.security.protocol.map=CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT
num.partitions=3
offsets.topic.replication.factor=1
offsets.topic.num.partitions=1
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
group.initial.rebalance.delay.ms=0
";

impl Kafka {
    /// Starts a broker that accepts records of up to `record_bytes`.
    pub fn start(record_bytes: usize) -> Kafka {
        let folder = tempfile::tempdir().unwrap();
        let ports: Vec<_> = (0..2).map(|_| TcpListener::bind("127.0.0.1:0").unwrap()).collect();
        let [port, controller] = [0, 1].map(|n: usize| ports[n].local_addr().unwrap().port());
        let properties = format!(
            "{PROPERTIES}listeners=PLAINTEXT://127.0.0.1:{port},CONTROLLER://127.0.0.1:{controller}\n\
             controller.quorum.voters=1@127.0.0.1:{controller}\nlog.dirs={}\nmessage.max.bytes={record_bytes}\n",
            folder.path().join("log").display()
        );
        std::fs::write(folder.path().join("server.properties"), properties).unwrap();
        let mut kafka = Kafka { folder, port, process: None };
        let format = ["format", "--cluster-id", "dunnage-tests-cluster0", "--config"];
        let mut command = kafka.java("kafka.tools.StorageTool");
        let done = command.args(format).arg(kafka.path("server.properties")).status().unwrap();
        assert!(done.success(), "{}", kafka.output());
        drop(ports);
        kafka.restart();
        kafka
    }

    /// Returns the address for clients.
    pub fn address(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    /// Sends SIGKILL and waits until the process has ended.
    pub fn kill(&mut self) {
        if let Some(mut process) = self.process.take() {
            process.kill().unwrap();
            process.wait().unwrap();
        }
    }

    /// Starts the broker again with its data, and waits until it listens.
    pub fn restart(&mut self) {
        self.kill();
        let child = self.java("kafka.Kafka").arg(self.path("server.properties")).spawn().unwrap();
        let process = self.process.insert(child);
        let begun = Instant::now();
        while TcpStream::connect(("127.0.0.1", self.port)).is_err() {
            let ended = process.try_wait().unwrap();
            let waited = begun.elapsed() > Duration::from_secs(120);
            assert!(ended.is_none() && !waited, "{}", self.output());
            std::thread::sleep(Duration::from_millis(100));
        }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn java(&self, class: &str) -> Command {
        let output = File::options().create(true).append(true).open(self.path("output")).unwrap();
        let mut command = Command::new("java");
        let heap = ["-Xmx384m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"];
        command.args(heap).arg("-cp").arg(tool("kafka").join("*")).arg(class);
        command.current_dir(self.folder.path()).stdin(Stdio::null());
        command.stdout(output.try_clone().unwrap()).stderr(output);
        command
    }

    /// Returns the output of the process, for messages of failed tests.
    pub fn output(&self) -> String {
        std::fs::read_to_string(self.path("output")).unwrap_or_default()
    }
}

impl Drop for Kafka {
    fn drop(&mut self) {
        self.kill();
        if std::thread::panicking() {
            eprintln!("output of Kafka:\n{}", self.output());
        }
    }
}
