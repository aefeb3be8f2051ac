//! Kafka brokers without ZooKeeper, which can be killed and started again, and Confluent's client (librdkafka), which reads what is in them.

use crate::{certificates, tools::tool, wait::wait_for};
use serde_json::Value;
use std::{
    fs::File,
    net::{TcpListener, TcpStream},
    path::PathBuf,
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};
use tempfile::TempDir;

/// Reads and changes topics.
const CLIENT: &str = include_str!("kafka.py");
/// The identifier of every cluster.
const CLUSTER: &str = "dunnage-tests-cluster0";

/// Settings of a small broker, whose topics have one replica and are created by the first write. It notices in two seconds that another
/// one is gone. The tests' own client has a listener without TLS and login.
const PROPERTIES: &str = "\
controller.listener.names=CONTROLLER
inter.broker.listener.name=INTERNAL
num.partitions=3
offsets.topic.replication.factor=1
offsets.topic.num.partitions=1
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
group.initial.rebalance.delay.ms=0
broker.session.timeout.ms=2000
broker.heartbeat.interval.ms=500
connection.failed.authentication.delay.ms=0
";

/// The user, with the password `right`, of a listener with a login, for each mechanism.
const LOGIN: &str = "\
listener.name.client.sasl.enabled.mechanisms=PLAIN,SCRAM-SHA-256,SCRAM-SHA-512
listener.name.client.plain.sasl.jaas.config=org.apache.kafka.common.security.plain.PlainLoginModule required user_u=\"right\";
listener.name.client.scram-sha-256.sasl.jaas.config=org.apache.kafka.common.security.scram.ScramLoginModule required;
listener.name.client.scram-sha-512.sasl.jaas.config=org.apache.kafka.common.security.scram.ScramLoginModule required;
";

/// How clients connect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Protocol {
    Plaintext,
    /// TLS, with a certificate of the authority in `ca.pem`.
    Tls,
    /// The same, with the user `u`, whose password is `right`. The user `v` has it, too, over SCRAM.
    SaslTls,
}

pub struct Kafka {
    folder: TempDir,
    node: u16,
    port: u16,
    internal: u16,
    controller: u16,
    process: Option<Child>,
}

/// A record in a topic.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    pub key: String,
    pub value: Vec<u8>,
    /// Its header `Dunnage-Name`.
    pub name: String,
    pub headers: Value,
    pub partition: u64,
}

impl Record {
    pub fn text(&self) -> &str {
        std::str::from_utf8(&self.value).unwrap()
    }
}

impl Kafka {
    /// Starts a broker that accepts records of up to `record_bytes`.
    pub fn start(record_bytes: usize) -> Kafka {
        Kafka::with(Protocol::Plaintext, &format!("message.max.bytes={record_bytes}\n"))
    }

    /// Starts a broker with further settings, in which `FOLDER` is its folder.
    pub fn with(protocol: Protocol, properties: &str) -> Kafka {
        let [port, internal, controller] = ports();
        let (folder, process) = (tempfile::tempdir().unwrap(), None);
        let mut kafka = Kafka { folder, node: 1, port, internal, controller, process };
        kafka.begin("broker,controller", protocol, properties);
        kafka
    }

    /// Starts another broker in the same cluster.
    pub fn beside(&self) -> Kafka {
        let [port, internal, _] = ports();
        let (folder, process) = (tempfile::tempdir().unwrap(), None);
        let mut kafka =
            Kafka { folder, node: self.node + 1, port, internal, controller: self.controller, process };
        kafka.begin("broker", Protocol::Plaintext, "");
        kafka
    }

    fn begin(&mut self, roles: &str, protocol: Protocol, properties: &str) {
        let Kafka { node, port, internal, controller, .. } = *self;
        let (security, own) = match protocol {
            Protocol::Plaintext => ("PLAINTEXT", String::new()),
            Protocol::Tls => ("SSL", self.certificate()),
            Protocol::SaslTls => ("SASL_SSL", self.certificate() + LOGIN),
        };
        let controls =
            if node == 1 { format!(",CONTROLLER://127.0.0.1:{controller}") } else { String::new() };
        let text = format!(
            "{PROPERTIES}process.roles={roles}\nnode.id={node}\n\
             listeners=CLIENT://127.0.0.1:{port},INTERNAL://127.0.0.1:{internal}{controls}\n\
             listener.security.protocol.map=CONTROLLER:PLAINTEXT,INTERNAL:PLAINTEXT,CLIENT:{security}\n\
             controller.quorum.voters=1@127.0.0.1:{controller}\nlog.dirs={}\n{own}{}\n",
            self.path("log").display(),
            properties.replace("FOLDER", self.folder.path().to_str().unwrap())
        );
        std::fs::write(self.path("server.properties"), text).unwrap();
        let mut command = self.java("kafka.tools.StorageTool");
        command.args(["format", "--cluster-id", CLUSTER, "--config"]).arg(self.path("server.properties"));
        for mechanism in ["SCRAM-SHA-256", "SCRAM-SHA-512"] {
            for user in ["u", "v"] {
                command.args(["--add-scram", &format!("{mechanism}=[name={user},password=right]")]);
            }
        }
        assert!(command.status().unwrap().success(), "{}", self.output());
        self.restart();
    }

    /// Makes a certificate, and returns the settings with it.
    fn certificate(&self) -> String {
        certificates::make(self.folder.path());
        self.use_certificate("server");
        let path = self.path("keystore.pem");
        format!("ssl.keystore.type=PEM\nssl.keystore.location={}\nssl.truststore.type=PEM\n", path.display())
    }

    /// Makes the broker use `NAME.pem` and `NAME.key` when it starts again.
    pub fn use_certificate(&self, name: &str) {
        let read = |end: &str| std::fs::read_to_string(self.path(&format!("{name}.{end}"))).unwrap();
        std::fs::write(self.path("keystore.pem"), read("key") + &read("pem")).unwrap();
    }

    /// Returns the address for clients.
    pub fn address(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    /// Returns the ID of the process.
    pub fn pid(&self) -> u32 {
        self.process.as_ref().unwrap().id()
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

    /// Returns the path of a file in the broker's folder.
    pub fn path(&self, name: &str) -> PathBuf {
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

    /// Runs a command of `kafka.py`, and returns the lines that it prints.
    pub fn client(&self, arguments: &[&str]) -> Result<Vec<Value>, String> {
        let mut command = Command::new(tool("kafka-client/bin/python"));
        command.args(["-c", CLIENT]).arg(format!("127.0.0.1:{}", self.internal)).args(arguments);
        let done = command.output().unwrap();
        if !done.status.success() {
            return Err(String::from_utf8_lossy(&done.stderr).into_owned());
        }
        let text = String::from_utf8(done.stdout).unwrap();
        Ok(text.lines().map(|line| serde_json::from_str(line).unwrap()).collect())
    }

    /// Creates a topic.
    pub fn create(&self, topic: &str, partitions: u32, replicas: u32, settings: &str) {
        let (partitions, replicas) = (partitions.to_string(), replicas.to_string());
        wait_for(|| self.client(&["create", topic, &partitions, &replicas, settings]));
    }

    /// Returns all records of a topic, those of each partition in their order.
    pub fn records(&self, topic: &str) -> Vec<Record> {
        let read = |line: &Value| Record {
            key: line["key"].as_str().unwrap().to_owned(),
            value: bytes(line["value"].as_str().unwrap()),
            name: line["headers"]["Dunnage-Name"].as_str().unwrap_or_default().to_owned(),
            headers: line["headers"].clone(),
            partition: line["partition"].as_u64().unwrap(),
        };
        self.client(&["read", topic]).unwrap().iter().map(read).collect()
    }

    /// Waits until a topic has at least `count` records, and returns them.
    pub fn wait(&self, topic: &str, count: usize) -> Vec<Record> {
        wait_for(|| {
            let found = self.records(topic);
            if found.len() >= count { Ok(found) } else { Err(format!("{} of {count}", found.len())) }
        })
    }
}

fn ports() -> [u16; 3] {
    let all = [0; 3].map(|_| TcpListener::bind("127.0.0.1:0").unwrap());
    all.map(|listener| listener.local_addr().unwrap().port())
}

fn bytes(hex: &str) -> Vec<u8> {
    (0..hex.len()).step_by(2).map(|at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap()).collect()
}

impl Drop for Kafka {
    fn drop(&mut self) {
        self.kill();
        if std::thread::panicking() {
            eprintln!("output of Kafka:\n{}", self.output());
        }
    }
}
