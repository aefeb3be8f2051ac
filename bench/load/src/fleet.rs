//! Tables 3 to 6 of the paper: Locust's devices send to 1, 2 and 4 replicas behind nginx, of the Node service and of the gateway in turn.

use crate::{
    Failure,
    locust::{Measurement, Tables},
    node,
    paper::{self, Paper},
    payload::{self, Payload},
    report::Report,
    results::{About, Results},
    server::Server,
    testbed::Testbed,
};
use serde_json::json;
use std::path::Path;

/// Devices whose messages are encoded before the test.
pub const DEVICES: usize = 2000;

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
    /// Measure only some of the paper's numbers of devices, for `--quick`
    #[arg(skip)]
    few: bool,
}

impl Default for Plan {
    fn default() -> Self {
        Plan { seconds: 3.0, replicas: None, without_node: false, few: false }
    }
}

impl Plan {
    /// The plan of `--quick`.
    pub fn quick() -> Plan {
        Plan { seconds: 1.0, few: true, ..Plan::default() }
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
/// The numbers of devices of a quick run.
const FEW: [usize; 2] = [500, 2000];

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
        let mut devices = devices.to_vec();
        devices.retain(|number| !plan.few || FEW.contains(number));
        for server in [Server::Node, Server::Dunnage] {
            if server == Server::Node && plan.without_node {
                continue;
            }
            let formats: Vec<_> = payloads
                .iter()
                .filter(|p| formats.contains(&p.name) && (p.node || server != Server::Node))
                .collect();
            eprintln!("Locust: {}, {replicas} replicas", server.name());
            let measurements = run(server, replicas, &devices, &formats, plan, folder.path())?;
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
    let testbed = Testbed::start(server, replicas, folder)?;
    let settings = json!({ "warm": 0.3, "seconds": plan.seconds });
    let measurements: Vec<Measurement> = testbed.run("locustfile.py", settings, devices, formats)?;
    if measurements.len() != devices.len() * formats.len() {
        return Err("Locust has not measured all formats".into());
    }
    testbed.stop(measurements.iter().map(|measurement| measurement.requests - measurement.failures).sum())?;
    Ok(measurements)
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
