//! Attacks on the gateway's host name, files, memory, connections and readers. A well-behaved client sends and reads during each attack, and
//! each attack ends with a verdict.

mod bombs;
mod files;
mod half_sent;
mod host;
mod http;
mod idle;
mod paging;
pub mod well_behaved;

use crate::{
    Failure, inputs,
    report::Report,
    results::{About, Results},
    server::{Running, Server, memory_mb},
};
use clap::ValueEnum as _;
use files::FILE_DAMAGES;
use std::{
    fmt::Write as _,
    net::{IpAddr, Ipv4Addr},
    path::Path,
    time::{Duration, Instant},
};
use tokio::sync::watch;
use well_behaved::Latencies;

/// The attacker's address, and that of a second reader of event streams.
const ATTACKER: IpAddr = IpAddr::V4(Ipv4Addr::new(127, 0, 0, 2));
const SECOND_READER: IpAddr = IpAddr::V4(Ipv4Addr::new(127, 0, 0, 3));
/// The verdict is negative if the well-behaved client's 95th percentile exceeds both `MAX_P95_RATIO` times the one before the attack and
/// `TOLERATED_P95_MS`. The latter allows for attackers and gateway that share the cores of one machine.
const MAX_P95_RATIO: f64 = 10.0;
const TOLERATED_P95_MS: f64 = 250.0;
/// The limit for additional memory during an attack, in MB. The attack with expanding messages uses all parts of the bound at once;
/// SECURITY.md derives both values.
const MAX_MEMORY_GROWTH_MB: f64 = 192.0;
const MAX_MEMORY_GROWTH_OF_BOMBS_MB: f64 = 320.0;
/// The gateway's limit of connections.
const CONNECTIONS: usize = 4096;
/// The numbers of unfinished bodies over HTTP and of unfinished transfers over CoAP.
const BODIES: usize = 96;
const TRANSFERS: usize = 64;
/// The number of event streams, which is more than the gateway allows.
const EVENT_STREAMS: usize = 300;
/// Minimum time that idle connections stay open: longer than the well-behaved client's timeout.
const MIN_IDLE: Duration = Duration::from_secs(8);
/// Time for the gateway to close the attackers' connections.
const TIME_TO_CLOSE: Duration = Duration::from_secs(1);

/// The target of an attack.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Target {
    /// Access of local clients: spoofed Host headers, and headers of proxies
    Host,
    /// The buffer's files: deleted and replaced
    Files,
    /// The memory for messages: unfinished bodies over HTTP, to a webhook and over CoAP
    HalfSent,
    /// The limits of connections and of event streams
    Idle,
    /// The readers of the buffer: lists read from their end, also by a page of another site
    Paging,
    /// Memory after decoding: small messages that become large, in every format
    Bombs,
}

/// Options of the attacks.
#[derive(Debug, clap::Args)]
pub struct Plan {
    /// Attack only this target; without it, attack all in turn and write the table into the README
    #[arg(long, value_enum)]
    target: Option<Target>,
    /// Seconds that the well-behaved client is measured alone, and seconds of each attack
    #[arg(long, default_value_t = 10)]
    seconds: u64,
    /// Attack for two seconds, page through fewer messages, and do not judge the well-behaved client's times; for `make test`
    #[arg(long)]
    short: bool,
}

/// One attack.
struct Attack {
    name: String,
    target: Target,
    /// Its index among the target's attacks.
    variant: usize,
}

/// The outcome of an attack.
#[derive(Default)]
struct Outcome {
    /// Number of requests, connections or blocks that were sent.
    sent: u64,
    /// A description of the attack, for the table.
    description: String,
    /// Messages that were acknowledged after the buffer's files were damaged.
    acknowledged: Vec<u64>,
    /// Violations, and how often each occurred.
    violations: Vec<(String, u64)>,
}

impl Outcome {
    /// Counts a violation.
    fn add_violation(&mut self, what: String) {
        match self.violations.iter_mut().find(|(known, _)| *known == what) {
            Some((_, count)) => *count += 1,
            None => self.violations.push((what, 1)),
        }
    }
}

/// Runs the attacks and prints a table. Fails if a verdict is negative.
pub async fn measure(plan: &Plan, report: &mut Report) -> Result<(), Failure> {
    report.line(
        "| attack | what was sent | p95 of the well-behaved client alone (ms) | during | failures | memory at start, peak, end (MB) | verdict |",
    );
    report.line("|---|--:|--:|--:|--:|--:|---|");
    let targets = plan.target.as_ref().map_or(Target::value_variants(), std::slice::from_ref);
    let mut passed = true;
    let mut results = Results::of("attack");
    for attack in targets.iter().flat_map(|target| target.attacks()) {
        let measurement = attack.run(plan).await?;
        report.line(&measurement.row(&attack, plan));
        passed &= measurement.problems(plan).is_empty();
        measurement.add(&attack, &mut results);
    }
    if plan.target.is_none() && !plan.short {
        report.save("attacks")?;
        results.save()?;
    }
    if passed { Ok(()) } else { Err("the gateway failed the attack".into()) }
}

impl Target {
    fn attacks(self) -> Vec<Attack> {
        let names: Vec<String> = match self {
            Target::Host => vec!["host".into()],
            Target::Files => FILE_DAMAGES.iter().map(|_| "files".into()).collect(),
            Target::HalfSent => {
                ["HTTP, one address", "HTTP, many addresses", "webhook", "CoAP, many addresses"]
                    .map(|sender| format!("half-sent: {sender}"))
                    .into()
            }
            Target::Idle => ["connections", "event streams"].map(|what| format!("idle: {what}")).into(),
            Target::Paging => vec!["paging".into()],
            Target::Bombs => vec!["bombs".into()],
        };
        let attack = |(variant, name)| Attack { name, target: self, variant };
        names.into_iter().enumerate().map(attack).collect()
    }
}

impl Attack {
    /// The gateway's configuration, with its files in `folder`.
    fn config(&self, folder: &Path) -> Result<String, Failure> {
        let out = folder.join("out");
        let output = |kind| {
            let path = out.join(kind);
            format!("[[output]]\nname = {kind:?}\n[output.files]\npath = {path:?}\nkind = {kind:?}\n")
        };
        let listen = "listen = \"127.0.0.1:0\"";
        let mut config = String::new();
        match (self.target, self.variant) {
            (Target::HalfSent, 2) => config.push_str(
                "[[input]]\nname = \"signed\"\n[input.webhook]\nprovider = \"rockblock\"\nformat = \"json\"\ndevices = \"buoy\"\n\
                 names = { 300234010753370 = \"buoy\" }\n",
            ),
            (Target::HalfSent, 3) => write!(config, "[[input]]\nname = \"coap\"\n[input.coap]\n{listen}\n")?,
            (Target::Paging, _) => config.push_str(&output("ndjson")),
            (Target::Bombs, _) => {
                bombs::write_schemas(folder)?;
                writeln!(config, "[schemas]\npath = {folder:?}")?;
                for input in ["mqtt", "coap"] {
                    write!(config, "[[input]]\nname = {input:?}\n[input.{input}]\n{listen}\n")?;
                }
                ["csv", "parquet", "ndjson"].iter().for_each(|kind| config.push_str(&output(kind)));
            }
            _ => {}
        }
        Ok(config)
    }

    async fn run(&self, plan: &Plan) -> Result<Measurement, Failure> {
        let parent = tempfile::tempdir()?;
        let folder = &parent.path().join("gateway");
        std::fs::create_dir(folder)?;
        let config = self.config(folder)?;
        let mut running = Running::start_configured(Server::Dunnage, folder, &config)?;
        if self.target == Target::Paging {
            let count = if plan.short { 20_000 } else { 200_000 };
            paging::fill(ATTACKER, running.address, count, &folder.join("out/ndjson")).await?;
        }
        let time = Duration::from_secs(if plan.short { 2 } else { plan.seconds });
        let (alone, _) = measure_during(&running, async {
            tokio::time::sleep(time).await;
            Ok(Outcome::default())
        })
        .await?;
        let begin = memory_mb(running.process(), "VmRSS")?;
        // Writing 5 makes the kernel reset the peak.
        std::fs::write(format!("/proc/{}/clear_refs", running.process()), "5")?;
        let (during, outcome) = measure_during(&running, self.execute(&running, folder, time)).await?;
        let peak = memory_mb(running.process(), "VmHWM")?;
        tokio::time::sleep(TIME_TO_CLOSE).await;
        let mut measurement = Measurement {
            p95: [alone, during].map(|mut latencies| {
                (inputs::percentile_95(&mut latencies.micros), latencies.failures, latencies.micros.len())
            }),
            memory: [begin, peak, memory_mb(running.process(), "VmRSS")?],
            panics: running.panics(),
            alive: running.is_running()?,
            outcome,
            served: self.target != Target::Files,
            memory_limit: if self.target == Target::Bombs {
                MAX_MEMORY_GROWTH_OF_BOMBS_MB
            } else {
                MAX_MEMORY_GROWTH_MB
            },
        };
        running.kill()?;
        let missing = files::missing(folder, &measurement.outcome.acknowledged)?;
        if missing > 0 {
            measurement
                .outcome
                .add_violation(format!("{missing} acknowledged messages are missing after a restart"));
        }
        Ok(measurement)
    }

    /// Attacks the running gateway for `time`.
    async fn execute(&self, running: &Running, folder: &Path, time: Duration) -> Result<Outcome, Failure> {
        let begun = Instant::now();
        let keep_going = || begun.elapsed() < time;
        let address = running.address;
        let sources: Vec<IpAddr> = (0..BODIES).map(|n| Ipv4Addr::new(127, 0, 1, n as u8).into()).collect();
        let json = "content-type: application/json\r\n";
        match (self.target, self.variant) {
            (Target::Host, _) => host::run(ATTACKER, address, keep_going).await,
            (Target::Files, variant) => {
                files::run(FILE_DAMAGES[variant], folder, ATTACKER, address, keep_going).await
            }
            (Target::HalfSent, 0) => {
                half_sent::over_http(
                    &vec![ATTACKER; BODIES],
                    address,
                    "/ingest/attacker-{}",
                    json,
                    keep_going,
                )
                .await
            }
            (Target::HalfSent, 1) => {
                half_sent::over_http(&sources, address, "/ingest/attacker-{}", json, keep_going).await
            }
            (Target::HalfSent, 2) => {
                half_sent::over_http(&sources, address, "/hooks/signed", json, keep_going).await
            }
            (Target::HalfSent, _) => {
                half_sent::over_coap(&sources, running.input("coap")?, TRANSFERS, keep_going).await
            }
            (Target::Idle, 0) => {
                idle::connections(ATTACKER, address, CONNECTIONS + 100, time.max(MIN_IDLE)).await
            }
            (Target::Idle, _) => {
                idle::event_streams([ATTACKER, SECOND_READER], address, EVENT_STREAMS, keep_going).await
            }
            (Target::Paging, _) => {
                paging::run(ATTACKER, address, &folder.join("out/ndjson"), keep_going).await
            }
            (Target::Bombs, _) => {
                let (mqtt, coap) = (running.input("mqtt")?, running.input("coap")?);
                bombs::run(&sources, bombs::Addresses { http: address, mqtt, coap }, keep_going).await
            }
        }
    }
}

/// The results of an attack.
struct Measurement {
    /// The well-behaved client's 95th percentile in ms, failures and acknowledged messages: alone, and during the attack.
    p95: [(f64, u64, usize); 2],
    /// Memory in MB: before the attack, its peak, and after the attack.
    memory: [f64; 3],
    panics: u64,
    alive: bool,
    outcome: Outcome,
    /// Whether the gateway must serve the well-behaved client during the attack.
    served: bool,
    /// The limit for additional memory, in MB.
    memory_limit: f64,
}

impl Measurement {
    /// The reasons for a negative verdict; empty if the verdict is positive.
    fn problems(&self, plan: &Plan) -> Vec<String> {
        let [(alone, _, _), (during, failures, served)] = self.p95;
        let [begin, peak, _] = self.memory;
        let mut problems: Vec<String> =
            self.outcome.violations.iter().map(|(what, count)| format!("{what} ({count} times)")).collect();
        if !self.alive || self.panics > 0 {
            problems.push(format!("the gateway panicked {} times, running: {}", self.panics, self.alive));
        }
        if self.served && (failures > 0 || served == 0) {
            problems.push(format!(
                "the well-behaved client failed {failures} times and was served {served} times"
            ));
        }
        if self.served && !plan.short && during > TOLERATED_P95_MS && during > MAX_P95_RATIO * alone {
            problems.push("the well-behaved client waited too long".into());
        }
        if peak - begin > self.memory_limit {
            problems.push(format!(
                "memory grew by {:.0} MB, more than the limit of {} MB",
                peak - begin,
                self.memory_limit
            ));
        }
        problems
    }

    fn row(&self, attack: &Attack, plan: &Plan) -> String {
        let [(alone, _, _), (during, failures, _)] = self.p95;
        let [begin, peak, end] = self.memory;
        let problems = self.problems(plan);
        let verdict =
            if problems.is_empty() { "holds".into() } else { format!("**fails**: {}", problems.join("; ")) };
        let failures = if self.served { failures.to_string() } else { "refused".into() };
        format!(
            "| {}: {} | {} | {alone:.1} | {during:.1} | {failures} | {begin:.0}, {peak:.0}, {end:.0} | {verdict} |",
            attack.name, self.outcome.description, self.outcome.sent
        )
    }

    fn add(&self, attack: &Attack, results: &mut Results) {
        let [_, (during, failures, _)] = self.p95;
        let about = About { target: &attack.name, format: "json", library: "dunnage" };
        results.add(&about, "p95_ms", during, "ms");
        results.add(&about, "failures", failures as f64, "1");
        results.add(&about, "memory_mb", self.memory[1].round(), "MB");
    }
}

/// Measures the well-behaved client while `work` runs.
async fn measure_during(
    running: &Running,
    work: impl Future<Output = Result<Outcome, Failure>>,
) -> Result<(Latencies, Outcome), Failure> {
    let (end, ended) = watch::channel(false);
    let work = async {
        let done = work.await;
        let _ = end.send(true);
        done
    };
    let (latencies, outcome) = tokio::join!(well_behaved::run(running.address, &ended), work);
    Ok((latencies, outcome?))
}
