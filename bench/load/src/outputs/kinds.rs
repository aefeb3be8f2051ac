//! Messages per second of each kind of output, and processor time of the gateway for a message.

use super::{Filled, median};
use crate::{
    Failure, catch_up,
    report::Report,
    results::{About, Results},
    server::{Running, Server},
};
use dunnage_test_support::{
    mosquitto::Mosquitto,
    nats::Cluster,
    postgres::Postgres,
    s3::{self, S3},
};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// How often the gateway is asked how far its output is.
const POLL: Duration = Duration::from_millis(50);
/// An output that delivers nothing for so long has failed.
const PATIENCE: Duration = Duration::from_secs(30);

/// A kind of output: its name in the table, its receiver, and its configuration.
struct Kind(&'static str, &'static str, String);

/// The servers, which run until they are dropped.
struct Servers {
    _mosquitto: Mosquitto,
    _nats: Cluster,
    _postgres: Postgres,
    s3: S3,
    folder: TempDir,
}

impl Servers {
    /// Starts the servers. Also returns the outputs to them, and to `sink`, an HTTP server.
    fn start(sink: std::net::SocketAddr) -> Result<(Servers, Vec<Kind>), Failure> {
        let folder = tempfile::tempdir()?;
        let mosquitto = Mosquitto::start();
        let nats = Cluster::start(1, "");
        let postgres = Postgres::start_with(&["fsync=on"]);
        let s3 = S3::start();
        s3.make("telemetry");
        let stream = "stream = \"T\"\nsubject = \"t.{device}\"\n[output.nats.create]\nreplicas = 1\nmax_age_seconds = 86400\n\
                      max_bytes = 8589934592\nduplicate_window_seconds = 120\n";
        let files = |kind: &str| {
            format!("[output.files]\npath = {:?}\nkind = \"{kind}\"\n", folder.path().join(kind))
        };
        let kinds = vec![
            Kind("http", "an HTTP server in Rust", format!("[output.http]\nurl = \"http://{sink}/\"\n")),
            Kind(
                "http, batches of 100",
                "an HTTP server in Rust",
                format!("[output.http]\nurl = \"http://{sink}/\"\nbatch = 100\n"),
            ),
            Kind(
                "mqtt, QoS 1",
                "mosquitto, in memory",
                format!("[output.mqtt]\nurl = \"mqtt://127.0.0.1:{}\"\n", mosquitto.port),
            ),
            Kind(
                "nats",
                "JetStream, one node",
                format!("[output.nats]\nservers = {:?}\n{stream}", nats.urls()),
            ),
            Kind("files, ndjson", "this disk", files("ndjson")),
            Kind("files, parquet", "this disk", files("parquet")),
            Kind(
                "objects, parquet",
                "versitygw",
                format!(
                    "[output.objects]\nurl = \"s3://telemetry/t\"\nkind = \"parquet\"\nendpoint = \"http://{}\"\n",
                    s3.address
                ),
            ),
            Kind(
                "postgres",
                "PostgreSQL, fsync on",
                format!("[output.postgres]\nurl = {:?}\ncreate = true\n", postgres.url("postgres")),
            ),
        ];
        Ok((Servers { _mosquitto: mosquitto, _nats: nats, _postgres: postgres, s3, folder }, kinds))
    }
}

/// Prints a row for each kind.
pub async fn measure(filled: &Filled, rounds: usize, report: &mut Report) -> Result<(), Failure> {
    let (sink, _) = catch_up::sink().await?;
    tokio::task::block_in_place(|| {
        let (servers, kinds) = Servers::start(sink)?;
        let mut runs = vec![(Vec::new(), Vec::new()); kinds.len()];
        for round in 0..rounds {
            for (n, kind) in kinds.iter().enumerate() {
                let (rate, cpu) = run(filled, &format!("r{round}-{n}"), &kind.2)?;
                runs[n].0.push(rate);
                runs[n].1.push(cpu);
            }
            servers.clear()?;
        }
        report.line(&format!(
            "**Outputs**: {} messages of the container, from a full buffer to a server on this machine, until the last one is delivered.\n",
            filled.messages
        ));
        report.line(
            "| output | receiver | messages/s | slowest | fastest | processor time of the gateway, us |",
        );
        report.line("|---|---|--:|--:|--:|--:|");
        let mut results = Results::of("outputs");
        for (Kind(name, receiver, _), (rates, cpu)) in kinds.iter().zip(&runs) {
            let (slowest, fastest) = (
                rates.iter().copied().fold(f64::INFINITY, f64::min),
                rates.iter().copied().fold(0.0, f64::max),
            );
            let (rate, cpu) = (median(rates), median(cpu));
            report.line(&format!(
                "| {name} | {receiver} | {rate:.0} | {slowest:.0} | {fastest:.0} | {cpu:.1} |"
            ));
            let about = About { target: name, format: "json", library: "dunnage" };
            results.add_runs(&about, "rps", rate.round(), rates, "1/s");
        }
        results.save()
    })
}

impl Servers {
    /// Removes what a round has written to the disk.
    fn clear(&self) -> Result<(), Failure> {
        for folder in [self.folder.path().to_owned(), self.s3.bucket("telemetry")] {
            for entry in std::fs::read_dir(folder)? {
                std::fs::remove_dir_all(entry?.path())?;
            }
        }
        Ok(())
    }
}

/// Runs a gateway with the output `name` until it has delivered all messages. Returns the messages per second, and the processor time for
/// one in microseconds.
fn run(filled: &Filled, name: &str, output: &str) -> Result<(f64, f64), Failure> {
    let config = format!("[[output]]\nname = \"{name}\"\n{output}");
    let begun = Instant::now();
    let environment = [("AWS_ACCESS_KEY_ID", s3::KEY), ("AWS_SECRET_ACCESS_KEY", s3::SECRET)];
    let running = Running::start_in(Server::Dunnage, filled.folder.path(), &config, &environment)?;
    let (mut before, mut moved) = (0, Instant::now());
    loop {
        let delivered = running.counts()?.outputs.first().map_or(0, |output| output.delivered);
        if delivered >= filled.messages {
            break;
        }
        if delivered != before {
            (before, moved) = (delivered, Instant::now());
        } else if moved.elapsed() > PATIENCE {
            return Err(format!("{output}: {delivered} of {} messages are delivered", filled.messages).into());
        }
        std::thread::sleep(POLL);
    }
    let (seconds, cpu) = (begun.elapsed().as_secs_f64(), running.processor_seconds()?);
    running.stop()?;
    Ok((filled.messages as f64 / seconds, cpu * 1e6 / filled.messages as f64))
}
