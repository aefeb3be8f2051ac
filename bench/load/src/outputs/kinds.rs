//! Messages per second of each kind of output, and processor time of the gateway for a message.

use super::{Filled, deliver, median};
use crate::{
    Failure, catch_up,
    report::Report,
    results::{About, Results},
};
use dunnage_test_support::{
    influx::Influx,
    kafka::Kafka,
    mosquitto::Mosquitto,
    nats::Cluster,
    postgres::Postgres,
    s3::{self, S3},
};
use tempfile::TempDir;

/// A kind of output: its name in the table, its receiver, and its configuration.
struct Kind(&'static str, &'static str, String);

/// The servers, which run until they are dropped.
struct Servers {
    mosquitto: Mosquitto,
    nats: Cluster,
    postgres: Postgres,
    influx: Influx,
    kafka: Kafka,
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
        let influx = Influx::start();
        influx.ask("", "CREATE DATABASE telemetry").ok_or("InfluxDB does not answer")?;
        let kafka = Kafka::start(1 << 20);
        let s3 = S3::start();
        s3.make("telemetry");
        let servers = Servers { mosquitto, nats, postgres, influx, kafka, s3, folder };
        let kinds = servers.kinds(sink);
        Ok((servers, kinds))
    }

    /// Returns the outputs to the servers, and to `sink`, an HTTP server.
    fn kinds(&self, sink: std::net::SocketAddr) -> Vec<Kind> {
        let Servers { mosquitto, nats, postgres, influx, kafka, s3, folder } = self;
        let stream = "stream = \"T\"\nsubject = \"t.{device}\"\n[output.nats.create]\nreplicas = 1\nmax_age_seconds = 86400\n\
                      max_bytes = 8589934592\nduplicate_window_seconds = 120\n";
        let files = |kind: &str| {
            format!("[output.files]\npath = {:?}\nkind = \"{kind}\"\n", folder.path().join(kind))
        };
        vec![
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
                    "[output.objects]\nurl = \"s3://telemetry/t\"\nkind = \"parquet\"\nendpoint = \"http://{}\"\nreadable_after_seconds = 1\n",
                    s3.address
                ),
            ),
            Kind(
                "postgres",
                "PostgreSQL, fsync on",
                format!("[output.postgres]\nurl = {:?}\ncreate = true\n", postgres.url("postgres")),
            ),
            Kind(
                "influx",
                "InfluxDB 1",
                format!("[output.influx]\nurl = {:?}\n", influx.url("/write?db=telemetry")),
            ),
            Kind(
                "kafka",
                "Apache Kafka, one broker",
                format!("[output.kafka]\nbrokers = {:?}\ntopic = \"telemetry\"\n", kafka.address()),
            ),
        ]
    }
}

/// Prints a row for each kind.
pub async fn measure(filled: &Filled, rounds: usize, report: &mut Report) -> Result<(), Failure> {
    let (sink, _) = catch_up::sink().await?;
    tokio::task::block_in_place(|| {
        let (servers, kinds) = Servers::start(sink)?;
        let variables = [("AWS_ACCESS_KEY_ID", s3::KEY), ("AWS_SECRET_ACCESS_KEY", s3::SECRET)];
        let mut runs = vec![(Vec::new(), Vec::new()); kinds.len()];
        for round in 0..rounds {
            for (n, kind) in kinds.iter().enumerate() {
                let (rate, cpu) = deliver(filled, &format!("r{round}-{n}"), &kind.2, &variables)?;
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
