//! Two gateways that take turns under the same load, over the same connections, with the same load generator on the same cores.
//!
//! Each gateway first receives messages for a turn, so that neither its start nor what it reads once for each device is measured. Then they
//! take turns in short rounds, in which the other one waits, and each round begins with the one that came last in the round before: what else
//! the machine does slows both down. A round has one ratio, and the median of the ratios is the figure.

use crate::{
    Failure,
    payload::Payload,
    rates::{self, Run},
    report::Report,
    server::{Running, Server},
};
use std::fmt;
use tempfile::TempDir;

/// Options of the turns.
#[derive(Debug, clap::Args)]
pub struct Plan {
    /// Number of keep-alive connections
    #[arg(long, default_value_t = 64)]
    connections: usize,
    /// Rounds, in each of which both gateways have a turn
    #[arg(long, default_value_t = 11)]
    rounds: usize,
    /// Length of a turn in seconds
    #[arg(long, default_value_t = 2)]
    seconds: usize,
}

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} connections, turns of {} s", self.connections, self.seconds)
    }
}

/// A gateway and what it receives.
pub struct Gateway {
    pub payload: Payload,
    pub folder: TempDir,
    running: Running,
    /// How many messages it has acknowledged.
    acknowledged: u64,
    turns: usize,
}

impl Gateway {
    /// Starts a gateway with its files in `folder`.
    pub fn start(payload: Payload, folder: TempDir, config: &str) -> Result<Gateway, Failure> {
        payload.write_bodies(&folder.path().join("bodies"))?;
        let running = Running::start_configured(Server::Dunnage, folder.path(), config)?;
        Ok(Gateway { payload, folder, running, acknowledged: 0, turns: 0 })
    }

    /// The gateway's peak memory in MB.
    pub fn memory_mb(&self) -> Result<f64, Failure> {
        self.running.memory_mb()
    }

    /// Measures a turn. Fails if a message is refused.
    fn turn(&mut self, plan: &Plan) -> Result<Run, Failure> {
        let (folder, payload) = (self.folder.path(), &self.payload);
        let (run, acknowledged) =
            rates::run_on(&self.running, folder, payload, plan.connections, plan.seconds)?;
        if run.failures > 0 {
            return Err(format!("{}: {} messages were refused", self.payload.name, run.failures).into());
        }
        self.acknowledged += acknowledged;
        self.turns += 1;
        Ok(run)
    }

    /// Stops the gateway. Fails if the stored messages contradict the acknowledged ones.
    fn finish(self, plan: &Plan) -> Result<(), Failure> {
        self.running.stop()?;
        let in_flight = self.turns * plan.connections;
        rates::check_stored(self.folder.path(), &self.payload, self.acknowledged, in_flight)
    }
}

/// The ratios of the second gateway to the first, over all rounds: the least, the median and the largest.
pub struct Ratios {
    /// Of the rates.
    pub rate: [f64; 3],
    /// Of the processor time for a message. Other load on the machine changes it less than the rate.
    pub cpu: [f64; 3],
}

/// Prints each round with its ratio: the rate of the second gateway as a share of that of the first.
pub fn ratios(
    plan: &Plan,
    (name, mut first): (&str, Gateway),
    (other, mut second): (&str, Gateway),
    report: &mut Report,
) -> Result<Ratios, Failure> {
    report.line(&format!("| round | {name} | cpu | {other} | cpu | of {name} |\n|--:|--:|--:|--:|--:|--:|"));
    // The turn before the first round is not counted.
    first.turn(plan)?;
    second.turn(plan)?;
    let (mut rates, mut cpus) = (Vec::new(), Vec::new());
    for round in 1..=plan.rounds {
        let (of_first, of_second) = if round % 2 == 0 {
            let earlier = first.turn(plan)?;
            (earlier, second.turn(plan)?)
        } else {
            let earlier = second.turn(plan)?;
            (first.turn(plan)?, earlier)
        };
        let ratio = of_second.rps / of_first.rps;
        report.line(&format!(
            "| {round} | {:.0} | {:.1} | {:.0} | {:.1} | {ratio:.2} |",
            of_first.rps, of_first.cpu_us, of_second.rps, of_second.cpu_us
        ));
        rates.push(ratio);
        cpus.push(of_second.cpu_us / of_first.cpu_us);
    }
    first.finish(plan)?;
    second.finish(plan)?;
    let summed_up = |mut ratios: Vec<f64>| {
        ratios.sort_by(f64::total_cmp);
        [0, ratios.len() / 2, ratios.len() - 1].map(|at| ratios[at])
    };
    Ok(Ratios { rate: summed_up(rates), cpu: summed_up(cpus) })
}
