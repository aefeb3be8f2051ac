//! Mutated frames against a real gateway over real sockets, while a well-behaved client measures how long it waits.

mod attack;
mod client;
mod frames;
mod mutate;
mod sessions;
mod well_behaved;

use crate::{
    Failure, datagrams,
    dtls::Key,
    inputs,
    report::Report,
    results::{About, Results},
    server::{Running, Server, memory_mb},
};
use clap::ValueEnum as _;
use client::Attack;
use std::{
    net::SocketAddr,
    sync::{Arc, atomic::Ordering::Relaxed},
    time::{Duration, Instant},
};
use tokio::sync::watch;
use well_behaved::Latencies;

/// When the queue of the gateway's UDP socket has more than `FULL_QUEUE` bytes, the clients wait. The usual queues hold at least 208 KiB.
/// `CHECK_INTERVAL` is the time between two checks of the queue.
const FULL_QUEUE: u64 = 96 << 10;
const CHECK_INTERVAL: Duration = Duration::from_millis(20);

/// The input that is attacked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Input {
    Mqtt,
    Coap,
    Coaps,
    Udp,
    Http,
    Webhook,
}

/// Options of the attack.
#[derive(Debug, clap::Args)]
pub struct Plan {
    /// Attack only this input; without it, attack all in turn and write the table into the README
    #[arg(long, value_enum)]
    input: Option<Input>,
    /// Mutated frames for each input
    #[arg(long, default_value_t = 10_000_000)]
    frames: u64,
    /// Frames per second while the well-behaved client is measured; the other frames follow at up to eight times this rate
    #[arg(long, default_value_t = 10_000)]
    rate: u64,
    /// Seconds that the well-behaved client is measured alone and during well-formed frames; four times as long during mutated ones
    #[arg(long, default_value_t = 5)]
    seconds: u64,
    /// Seed of the mutations
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

/// Prints a table. Fails if the gateway panicked, ended or left a connection open, or if the well-behaved client was not served.
pub async fn measure(plan: &Plan, report: &mut Report) -> Result<(), Failure> {
    report.line(
        "| input | mutated frames | dropped by the kernel | seconds | panics | not closed | memory at start, middle, end (MB) | \
         p95 alone (ms) | with well-formed | with mutated | ratio to alone | to well-formed | failures |",
    );
    report.line("|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|");
    let inputs = plan.input.as_ref().map_or(Input::value_variants(), std::slice::from_ref);
    let mut passed = true;
    for input in inputs {
        let measurement = measure_input(plan, *input).await?;
        report.line(&measurement.row(*input));
        measurement.save(plan, *input)?;
        passed &= measurement.has_passed();
    }
    if plan.input.is_none() {
        report.save("hostile input")?;
    }
    if passed { Ok(()) } else { Err("the gateway failed the attack".into()) }
}

/// Returns the address of `input`.
fn address_of(input: Input, running: &Running) -> Result<SocketAddr, Failure> {
    match input {
        Input::Mqtt => running.input("mqtt"),
        Input::Coap | Input::Coaps => running.input("coap"),
        Input::Udp => running.input("udp"),
        Input::Http | Input::Webhook => Ok(running.address),
    }
}

/// Returns the keys with which an attacker tries DTLS: the gateway's `key`, and one that it does not know.
fn attackers_keys(key: Option<&Key>) -> Result<Vec<Key>, Failure> {
    match key {
        Some(key) => Ok(vec![key.clone(), Key::new("not-the-key-of-anybody")?]),
        None => Ok(Vec::new()),
    }
}

/// Starts a gateway with `input` and attacks it.
async fn measure_input(plan: &Plan, input: Input) -> Result<Measurement, Failure> {
    let folder = tempfile::tempdir()?;
    // The frames are created before the port is known, so their Host cannot contain it.
    let config = format!("[access]\nwho = \"anyone\"\n{}", frames::config(input, folder.path())?);
    let key = (input == Input::Coaps).then(|| Key::of_gateway(folder.path())).transpose()?;
    let mut running = Running::start_configured(Server::Dunnage, folder.path(), &config)?;
    let address = address_of(input, &running)?;
    let alone = async {
        tokio::time::sleep(Duration::from_secs(plan.seconds)).await;
        Ok(())
    };
    let alone = measure_during(input, &running, key.as_ref(), alone).await?;
    let keys = attackers_keys(key.as_ref())?;
    let attack = |mutated, count, rate| {
        let seed = plan.seed.wrapping_add(rate);
        let (sent, not_closed, queue_is_full) = Default::default();
        let (frames, keys) = (frames::for_input(input), keys.clone());
        Arc::new(Attack {
            input,
            address,
            frames,
            keys,
            mutated,
            count,
            rate,
            seed,
            sent,
            queue_is_full,
            not_closed,
        })
    };
    let valid = attack(false, plan.rate * plan.seconds, plan.rate);
    let well_formed = measure_during(input, &running, key.as_ref(), attack::run(valid)).await?;
    let begin = memory_mb(running.process(), "VmRSS")?;
    let begun = Instant::now();
    let measured = attack(true, (4 * plan.rate * plan.seconds).min(plan.frames), plan.rate);
    let mutated = measure_during(input, &running, key.as_ref(), attack::run(Arc::clone(&measured))).await?;
    let flood = attack(true, plan.frames - measured.count, 8 * plan.rate);
    let middle = hold_back(&flood, running.process());
    let (flooded, middle) = tokio::try_join!(
        measure_during(input, &running, key.as_ref(), attack::run(Arc::clone(&flood))),
        middle
    )?;
    let seconds = begun.elapsed().as_secs_f64();
    let end = memory_mb(running.process(), "VmRSS")?;
    let dropped = datagrams::socket(address)?.dropped; // 0 for a TCP port
    let measurement = Measurement {
        sent: measured.sent.load(Relaxed) + flood.sent.load(Relaxed),
        seconds,
        panics: running.panics(),
        alive: running.is_running()?,
        not_closed: measured.not_closed.load(Relaxed) + flood.not_closed.load(Relaxed),
        failures: mutated.failures + flooded.failures,
        dropped,
        memory: [begin, middle, end],
        p95: [alone, well_formed, mutated].map(|mut latencies| inputs::percentile_95(&mut latencies.micros)),
    };
    running.stop()?;
    Ok(measurement)
}

/// The results of a run.
struct Measurement {
    sent: u64,
    seconds: f64,
    panics: u64,
    alive: bool,
    not_closed: u64,
    dropped: u64,
    /// Messages of the well-behaved client that were not acknowledged.
    failures: u64,
    /// Memory in MB: before the mutated frames, after half of the flood, and at the end.
    memory: [f64; 3],
    /// The well-behaved client's 95th percentile in ms: alone, during well-formed frames, and during mutated ones.
    p95: [f64; 3],
}

impl Measurement {
    fn has_passed(&self) -> bool {
        self.alive && self.panics == 0 && self.not_closed == 0 && self.failures == 0
    }

    fn row(&self, input: Input) -> String {
        let Measurement { sent, seconds, panics, not_closed, dropped, failures, .. } = self;
        let [begin, middle, end] = self.memory;
        let [alone, well_formed, mutated] = self.p95;
        let input = format!("{input:?}").to_lowercase();
        format!(
            "| {input} | {sent} | {dropped} | {seconds:.0} | {panics} | {not_closed} | {begin:.0}, {middle:.0}, {end:.0} | {alone:.2} | {well_formed:.2} | \
             {mutated:.2} | {:.2} | {:.2} | {failures} |",
            mutated / alone,
            mutated / well_formed
        )
    }

    /// Each input has its own operation in the results, so that inputs do not replace one another's lines.
    fn save(&self, plan: &Plan, input: Input) -> Result<(), Failure> {
        let [.., memory] = self.memory;
        let [_, well_formed, mutated] = self.p95;
        let target = format!("{} mutated frames, {} a second", plan.frames, plan.rate);
        let about = About { target: &target, format: "json", library: "dunnage" };
        let mut results = Results::of(input.operation());
        results.add(&about, "failures", (self.panics + self.not_closed + self.failures) as f64, "1");
        results.add(&about, "memory_mb", memory.round(), "MB");
        results.add(&about, "p95_ms", mutated, "ms");
        results.add(&about, "ratio", (100.0 * mutated / well_formed).round() / 100.0, "1");
        results.save()
    }
}

impl Input {
    fn operation(self) -> &'static str {
        match self {
            Input::Mqtt => "hostile mqtt",
            Input::Coap => "hostile coap",
            Input::Coaps => "hostile coaps",
            Input::Udp => "hostile udp",
            Input::Http => "hostile http",
            Input::Webhook => "hostile webhook",
        }
    }
}

/// Measures the well-behaved client while `work` runs.
async fn measure_during(
    input: Input,
    running: &Running,
    key: Option<&Key>,
    work: impl Future<Output = Result<(), Failure>>,
) -> Result<Latencies, Failure> {
    let (end, ended) = watch::channel(false);
    let work = async {
        let result = work.await;
        let _ = end.send(true);
        result
    };
    let (latencies, result) = tokio::join!(well_behaved::run(input, running, key, ended), work);
    result?;
    latencies
}

/// Makes the clients of `attack` wait while the gateway's UDP queue is full, until all frames are sent. Returns the memory of `process`
/// in MB after half of the frames. A check takes the kernel a millisecond, so no waiting times are measured during this phase.
async fn hold_back(attack: &Attack, process: u32) -> Result<f64, Failure> {
    let mut middle = None;
    loop {
        let sent = attack.sent.load(Relaxed);
        if middle.is_none() && sent >= attack.count / 2 {
            middle = Some(memory_mb(process, "VmRSS")?);
        }
        attack.queue_is_full.store(datagrams::socket(attack.address)?.waiting > FULL_QUEUE, Relaxed);
        match middle {
            Some(middle) if sent >= attack.count => return Ok(middle),
            _ => tokio::time::sleep(CHECK_INTERVAL).await,
        }
    }
}
