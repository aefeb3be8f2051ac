//! Tables 3 to 6 of the paper: Locust's devices send to 1, 2 and 4 replicas behind nginx, of the Node service and of the gateway in turn.

use crate::{
    Failure,
    locust::{Measurement, Tables},
    nginx::Nginx,
    node,
    paper::{self, Paper},
    payload::{self, Payload},
    report::Report,
    results::{About, Results},
    server::{Running, Server},
};
use rusqlite::Connection;
use serde_json::json;
use std::{
    io::Write,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

/// Devices whose messages are encoded before the test.
const DEVICES: usize = 2000;

/// Options of the measurement.
#[derive(Debug, clap::Args)]
pub struct Plan {
    /// Length of a measurement in seconds
    #[arg(long, default_value_t = Plan::default().seconds)]
    seconds: f64,
    /// Measure only this number of replicas
    #[arg(long)]
    replicas: Option<usize>,
    /// Leave out the Node service
    #[arg(long)]
    without_node: bool,
}

impl Default for Plan {
    fn default() -> Self {
        Plan { seconds: 3.0, replicas: None, without_node: false }
    }
}

impl Plan {
    /// The plan of `--quick`.
    pub fn quick() -> Plan {
        Plan { seconds: 1.0, ..Plan::default() }
    }
}

/// The measurements of tables 3, 4 and 5: the number of replicas, the numbers of devices, and the formats.
const TABLES: [(usize, &[usize], &[&str]); 3] = [
    (
        1,
        &[100, 300, 500, 1000, 2000],
        &["cbor", "msgpack", "struct-zlib (float32)", "protobuf (float32)", "pson", "packed"],
    ),
    (2, &[500, 1000], &["struct-zlib (float32)", "protobuf (float32)"]),
    (4, &[2000], &["struct-zlib (float32)", "protobuf (float32)"]),
];

/// Runs all measurements, prints the tables and adds to `bench/results/load.jsonl`.
pub fn measure(plan: &Plan, report: &mut Report) -> Result<(), Failure> {
    if !plan.without_node {
        node::install()?;
    }
    let folder = tempfile::tempdir()?;
    let payloads = payload::all(DEVICES)?;
    let mut tables = Tables::beside(Paper::load()?);
    for (replicas, devices, formats) in TABLES {
        if plan.replicas.is_some_and(|only| only != replicas) {
            continue;
        }
        for server in [Server::Node, Server::Dunnage] {
            if server == Server::Node && plan.without_node {
                continue;
            }
            let formats: Vec<_> = payloads
                .iter()
                .filter(|p| formats.contains(&p.name) && (p.node || server != Server::Node))
                .collect();
            eprintln!("Locust: {}, {replicas} replicas", server.name());
            let measurements = run(server, replicas, devices, &formats, plan, folder.path())?;
            tables.extend(server, replicas, measurements);
        }
    }
    tables.print(report);
    save(&tables)
}

/// Starts the replicas and nginx, and runs Locust. Fails if fewer messages are stored than were acknowledged.
fn run(
    server: Server,
    replicas: usize,
    devices: &[usize],
    formats: &[&Payload],
    plan: &Plan,
    folder: &Path,
) -> Result<Vec<Measurement>, Failure> {
    let folder = folder.join(format!("{}-{replicas}", server.name()));
    let mut running = Vec::new();
    for n in 0..replicas {
        let replica_folder = folder.join(n.to_string());
        std::fs::create_dir_all(&replica_folder)?;
        running.push(Running::start(server, &replica_folder)?);
    }
    let nginx = Nginx::start(&folder, &running)?;
    let measurements = locust(&nginx, devices, formats, plan, &folder)?;
    drop(nginx);
    running.into_iter().try_for_each(Running::stop)?;

    let acknowledged: u64 =
        measurements.iter().map(|measurement| measurement.requests - measurement.failures).sum();
    let mut stored = 0;
    for n in 0..replicas {
        let buffer = Connection::open(folder.join(n.to_string()).join("buffer.sqlite3"))?;
        stored += buffer.query_row("SELECT count(*) FROM messages", [], |row| row.get::<_, u64>(0))?;
    }
    match stored >= acknowledged {
        true => Ok(measurements),
        false => Err(format!("{}: {acknowledged} acknowledged, {stored} stored", server.name()).into()),
    }
}

/// Runs `locustfile.py`, and returns a measurement for each number of devices and format.
fn locust(
    nginx: &Nginx,
    devices: &[usize],
    payloads: &[&Payload],
    plan: &Plan,
    folder: &Path,
) -> Result<Vec<Measurement>, Failure> {
    let mut formats = Vec::new();
    for (n, payload) in payloads.iter().enumerate() {
        let bodies = folder.join(format!("bodies{n}"));
        payload.write_lines(&bodies)?;
        formats.push(json!({ "name": payload.name, "content_type": payload.content_type, "bodies": bodies }));
    }
    let steps: Vec<_> = devices.iter().map(|n| json!({ "devices": n, "formats": formats })).collect();
    let input = json!({ "warm": 0.3, "seconds": plan.seconds, "steps": steps }).to_string();
    let mut child = Command::new(python()?)
        .arg(concat!(env!("CARGO_MANIFEST_DIR"), "/locust/locustfile.py"))
        .arg(format!("http://{}", nginx.address))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()?;
    if let Some(mut stdin) = child.stdin.take() {
        stdin.write_all(input.as_bytes())?;
    }
    let output = child.wait_with_output()?;
    let measurements = String::from_utf8(output.stdout)?
        .lines()
        .map(serde_json::from_str)
        .collect::<Result<Vec<Measurement>, _>>()?;
    match output.status.success() && measurements.len() == devices.len() * payloads.len() {
        true => Ok(measurements),
        false => Err("Locust failed".into()),
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

fn save(tables: &Tables) -> Result<(), Failure> {
    let mut results = Results::of("fleet");
    for (server, replicas, measurement) in tables.all() {
        let target = paper::target(measurement.devices, replicas);
        let about = About { target: &target, format: &measurement.format, library: server.name() };
        results.add(&about, "rps", measurement.rps.round(), "1/s");
        results.add(&about, "mean_ms", measurement.mean_ms.round(), "ms");
        results.add(&about, "p95_ms", measurement.p95_ms.round(), "ms");
        results.add(&about, "failures_percent", measurement.failed_percent(), "%");
        results.add(&about, "merit", measurement.merit().round(), "1");
    }
    results.save()
}
