//! Devices that send at one moment: all of them are released together, as when a satellite rises for a fleet. Replicas of the Node service and of the
//! gateway stand behind nginx, as in `fleet`.

use crate::{
    Failure,
    fleet::DEVICES,
    node, paper,
    payload::{self, Payload},
    report::Report,
    results::{About, Results},
    server::Server,
    testbed::Testbed,
    usage::{Sampler, Samples, Usage},
};
use serde::Deserialize;
use serde_json::json;
use std::path::Path;

/// The seconds before each burst, in which the devices wait and the server stores what it has answered.
const PAUSE: f64 = 0.5;

/// Options of the measurement.
#[derive(Debug, clap::Args)]
pub struct Plan {
    /// Numbers of devices, up to 2000
    #[arg(long, value_delimiter = ',', default_values_t = Plan::default().devices)]
    devices: Vec<usize>,
    /// Numbers of replicas
    #[arg(long, value_delimiter = ',', default_values_t = Plan::default().replicas)]
    replicas: Vec<usize>,
    /// Formats
    #[arg(long, value_delimiter = ',', default_values_t = Plan::default().formats)]
    formats: Vec<String>,
    /// Bursts of each case
    #[arg(long, default_value_t = Plan::default().trials)]
    trials: usize,
    /// Leave out the Node service
    #[arg(long)]
    without_node: bool,
}

impl Default for Plan {
    fn default() -> Self {
        Plan {
            devices: vec![500, 1000, 2000],
            replicas: vec![1, 2, 4],
            formats: ["struct-zlib (float32)", "protobuf (float32)", "packed"].map(String::from).into(),
            trials: 3,
            without_node: false,
        }
    }
}

impl Plan {
    /// The plan of `--quick`.
    pub fn quick() -> Plan {
        Plan {
            devices: vec![2000],
            replicas: vec![1, 4],
            formats: vec!["protobuf (float32)".into()],
            ..Plan::default()
        }
    }
}

/// A burst, as `burst.py` prints it.
#[derive(Debug, Deserialize)]
struct Burst {
    devices: usize,
    format: String,
    /// The release of the devices and the last answer, in seconds since 1970.
    begun: f64,
    ended: f64,
    /// The time from the release until the last device began its request.
    last_start_ms: f64,
    /// The time of each answer, from the beginning of the device's request.
    times_ms: Vec<f64>,
    failures: u64,
    errors: Vec<String>,
}

/// A figure of a burst: its metric, how it is computed and its unit.
type Figure = (&'static str, fn(&Burst) -> f64, &'static str);

/// The figures of a burst. Times are of all answers, also of those with an error.
const FIGURES: [Figure; 8] = [
    ("min_ms", |burst| burst.percentile(0.0), "ms"),
    ("median_ms", |burst| burst.percentile(0.5), "ms"),
    ("mean_ms", |burst| burst.times_ms.iter().sum::<f64>() / burst.times_ms.len().max(1) as f64, "ms"),
    ("p95_ms", |burst| burst.percentile(0.95), "ms"),
    ("max_ms", |burst| burst.percentile(1.0), "ms"),
    ("failures_percent", |burst| 100.0 * burst.failures as f64 / burst.devices as f64, "%"),
    ("last_start_ms", |burst| burst.last_start_ms, "ms"),
    ("last_answer_ms", |burst| 1000.0 * (burst.ended - burst.begun), "ms"),
];

impl Burst {
    /// The smallest time that is not exceeded by this share of the answers.
    fn percentile(&self, share: f64) -> f64 {
        let mut times = self.times_ms.clone();
        times.sort_by(f64::total_cmp);
        let place = (share * times.len() as f64).ceil() as usize;
        times.get(place.saturating_sub(1)).copied().unwrap_or(0.0)
    }
}

/// The trials of a number of devices, a format, a server and a number of replicas, each with what the replicas used.
struct Case {
    server: Server,
    replicas: usize,
    trials: Vec<(Burst, Vec<Usage>)>,
}

/// Runs all bursts, prints the table and adds to `bench/results/load.jsonl`.
pub fn measure(plan: &Plan, report: &mut Report) -> Result<(), Failure> {
    if !plan.without_node {
        node::install()?;
    }
    let folder = tempfile::tempdir()?;
    let payloads = payload::all(DEVICES)?;
    if let Some(name) = plan.formats.iter().find(|name| payloads.iter().all(|p| p.name != **name)) {
        return Err(format!("there is no format {name}").into());
    }
    let mut cases = Vec::new();
    for replicas in &plan.replicas {
        for server in [Server::Node, Server::Dunnage] {
            if server == Server::Node && plan.without_node {
                continue;
            }
            let formats: Vec<_> = payloads
                .iter()
                .filter(|p| {
                    plan.formats.iter().any(|name| name == p.name) && (p.node || server != Server::Node)
                })
                .collect();
            eprintln!("bursts: {}, {replicas} replicas", server.name());
            cases.extend(run(server, *replicas, &formats, plan, folder.path())?);
        }
    }
    print(&cases, report);
    save(&cases)
}

/// Starts the replicas and nginx, and releases the devices. Fails if fewer messages are stored than were acknowledged.
fn run(
    server: Server,
    replicas: usize,
    formats: &[&Payload],
    plan: &Plan,
    folder: &Path,
) -> Result<Vec<Case>, Failure> {
    let testbed = Testbed::start(server, replicas, folder)?;
    let sampler = Sampler::start(testbed.processes());
    let settings = json!({ "trials": plan.trials, "pause": PAUSE });
    let bursts: Result<Vec<Burst>, Failure> = testbed.run("burst.py", settings, &plan.devices, formats);
    let samples = sampler.stop()?;
    let bursts = bursts?;
    if bursts.len() != plan.devices.len() * formats.len() * plan.trials {
        return Err("Locust has not measured all bursts".into());
    }
    testbed.stop(bursts.iter().map(|burst| burst.devices as u64 - burst.failures).sum())?;
    group(server, replicas, plan.trials, bursts, &samples)
}

/// Puts the trials of each case together.
fn group(
    server: Server,
    replicas: usize,
    trials: usize,
    bursts: Vec<Burst>,
    samples: &Samples,
) -> Result<Vec<Case>, Failure> {
    let mut cases: Vec<Case> = Vec::new();
    for (n, burst) in bursts.into_iter().enumerate() {
        let usage = samples.usage(burst.begun, burst.ended)?;
        if n % trials == 0 {
            cases.push(Case { server, replicas, trials: Vec::new() });
        }
        cases.last_mut().ok_or("no trials")?.trials.push((burst, usage));
    }
    Ok(cases)
}

/// The median of the trials. Of an even number, the higher one.
fn median(runs: &[f64]) -> f64 {
    let mut sorted = runs.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.get(sorted.len() / 2).copied().unwrap_or(0.0)
}

impl Case {
    /// A figure of each trial, with one decimal.
    fn runs(&self, figure: impl Fn(&(Burst, Vec<Usage>)) -> f64) -> Vec<f64> {
        self.trials.iter().map(|trial| (10.0 * figure(trial)).round() / 10.0).collect()
    }

    /// The median of a figure of the replicas, for each of them.
    fn of_replicas(&self, figure: fn(&Usage) -> f64) -> String {
        let medians = (0..self.replicas).map(|n| median(&self.runs(|(_, usage)| figure(&usage[n]))));
        medians.map(|value| format!("{value:.0}")).collect::<Vec<_>>().join(", ")
    }
}

fn print(cases: &[Case], report: &mut Report) {
    report.line(
        "**Burst**: all devices are released at once. Medians of the trials, for the 95th percentile with the range of the trials; \
         times in ms, failures in %. Processor time (% of a core) and highest resident memory (MB) of each replica.\n",
    );
    report.line("| format | devices | replicas | server | min | median | mean | p95 | max | fail | last request began | last answer | cpu | memory |");
    report.line("|---|--:|--:|---|--:|--:|--:|--:|--:|--:|--:|--:|---|---|");
    for case in cases {
        let Some((burst, _)) = case.trials.first() else { continue };
        let figures = FIGURES.map(|(metric, figure, _)| {
            let runs = case.runs(|(burst, _)| figure(burst));
            let range = [f64::min, f64::max].map(|of| runs.iter().copied().reduce(of).unwrap_or(0.0));
            match metric {
                "p95_ms" => format!("{:.1} ({:.1} to {:.1})", median(&runs), range[0], range[1]),
                _ => format!("{:.1}", median(&runs)),
            }
        });
        report.line(&format!(
            "| {} | {} | {} | {} | {} | {} | {} |",
            burst.format,
            burst.devices,
            case.replicas,
            case.server.name(),
            figures.join(" | "),
            case.of_replicas(|usage| usage.cpu_percent),
            case.of_replicas(|usage| usage.resident_mb),
        ));
    }
    for (burst, _) in cases.iter().flat_map(|case| &case.trials).filter(|(burst, _)| burst.failures > 0) {
        report.line(&format!("{} devices, {}: {:?}", burst.devices, burst.format, burst.errors));
    }
}

/// Records the median of the trials with their range.
fn save(cases: &[Case]) -> Result<(), Failure> {
    let mut results = Results::of("burst");
    for case in cases {
        let Some((burst, _)) = case.trials.first() else { continue };
        let mut add = |target: &str, metric: &str, runs: &[f64], unit: &str| {
            let about = About { target, format: &burst.format, library: case.server.name() };
            results.add_runs(&about, metric, median(runs), runs, unit);
        };
        let target = paper::target(burst.devices, case.replicas);
        for (metric, figure, unit) in FIGURES {
            add(&target, metric, &case.runs(|(burst, _)| figure(burst)), unit);
        }
        for n in 0..case.replicas {
            let target = format!("{} devices, replica {} of {}", burst.devices, n + 1, case.replicas);
            add(&target, "cpu_percent", &case.runs(|(_, usage)| usage[n].cpu_percent), "%");
            add(&target, "resident_mb", &case.runs(|(_, usage)| usage[n].resident_mb), "MB");
        }
    }
    results.save()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_figures_are_those_of_all_answers() {
        let line = r#"{"devices": 20, "format": "packed", "begun": 10.0, "ended": 10.5, "last_start_ms": 7.0, "failures": 1,
            "times_ms": [20,19,18,17,16,15,14,13,12,11,10,9,8,7,6,5,4,3,2,1], "errors": ["504"]}"#;
        let burst: Burst = serde_json::from_str(line).expect("a burst");
        let figures = FIGURES.map(|(_, figure, _)| figure(&burst));
        assert_eq!(figures, [1.0, 10.0, 10.5, 19.0, 20.0, 5.0, 7.0, 500.0]);
    }

    #[test]
    fn the_median_of_three_trials_is_the_middle_one() {
        assert_eq!(median(&[9.0, 1.0, 5.0]), 5.0);
    }
}
