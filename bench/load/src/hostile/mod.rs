//! Mutated frames against a real gateway over real sockets, while a well-behaved client measures how long it waits.

mod attack;
mod frames;
mod guest;
mod mutate;

use crate::{
    Failure, datagrams, doors,
    report::Report,
    results::{About, Results},
    server::{Running, Server, memory_mb},
};
use attack::Attack;
use clap::ValueEnum as _;
use guest::Waited;
use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    time::{Duration, Instant},
};
use tokio::sync::watch;

/// What is attacked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Door {
    Mqtt,
    Coap,
    Udp,
    Http,
    Webhook,
}

/// What is run.
#[derive(Debug, clap::Args)]
pub struct Plan {
    /// One door alone; without it all doors in turn, and the table goes into the README
    #[arg(long, value_enum)]
    door: Option<Door>,
    /// Mutated frames for each door
    #[arg(long, default_value_t = 10_000_000)]
    frames: u64,
    /// Frames a second while the well-behaved client is measured; the rest comes eight times as fast, if the door bears it
    #[arg(long, default_value_t = 10_000)]
    rate: u64,
    /// How long the well-behaved client is measured alone, beside well-formed frames, and four times as long beside mutated ones
    #[arg(long, default_value_t = 5)]
    seconds: u64,
    /// What the mutations begin with
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

/// Prints a table, and fails if the gateway did, or if its well-behaved client was not served.
pub async fn measure(plan: &Plan, report: &mut Report) -> Result<(), Failure> {
    report.line(
        "| door | mutated frames | of them dropped by the kernel | seconds | panics | not closed | memory at begin, middle, end (MB) | \
         p95 alone (ms) | beside well-formed | beside mutated | ratio to alone | to well-formed | failures |",
    );
    report.line("|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|");
    let doors = plan.door.as_ref().map_or(Door::value_variants(), std::slice::from_ref);
    let mut borne = true;
    for door in doors {
        let found = attacked(plan, *door).await?;
        report.line(&found.row(*door));
        found.save(plan, *door)?;
        borne &= found.is_borne();
    }
    if plan.door.is_none() {
        report.save("hostile input")?;
    }
    if borne { Ok(()) } else { Err("the gateway did not bear it".into()) }
}

/// A gateway with `door` open, attacked through it.
async fn attacked(plan: &Plan, door: Door) -> Result<Found, Failure> {
    let folder = tempfile::tempdir()?;
    let config = frames::config(door, folder.path())?;
    let mut running = Running::start_configured(Server::Dunnage, folder.path(), &config)?;
    let address = match door {
        Door::Mqtt => running.door("mqtt")?,
        Door::Coap => running.door("coap")?,
        Door::Udp => running.door("udp")?,
        Door::Http | Door::Webhook => running.address,
    };
    let alone = beside(door, &running, async {
        tokio::time::sleep(Duration::from_secs(plan.seconds)).await;
        Ok(())
    });
    let alone = alone.await?;
    let attack = |mutated, count, rate| {
        let seed = plan.seed.wrapping_add(rate);
        let (sent, hung) = (AtomicU64::new(0), AtomicU64::new(0));
        Arc::new(Attack { door, address, frames: frames::of(door), mutated, count, rate, seed, sent, hung })
    };
    let valid = attack(false, plan.rate * plan.seconds, plan.rate);
    let calm = beside(door, &running, attack::run(valid)).await?;
    let begin = memory_mb(running.process(), "VmRSS")?;
    let begun = Instant::now();
    let measured = attack(true, (4 * plan.rate * plan.seconds).min(plan.frames), plan.rate);
    let under = beside(door, &running, attack::run(Arc::clone(&measured))).await?;
    let flood = attack(true, plan.frames - measured.count, 8 * plan.rate);
    let middle = watch_half(&flood, running.process());
    let (flooded, middle) = tokio::join!(beside(door, &running, attack::run(Arc::clone(&flood))), middle);
    let (flooded, middle, seconds) = (flooded?, middle?, begun.elapsed().as_secs_f64());
    let end = memory_mb(running.process(), "VmRSS")?;
    // A TCP port has none.
    let dropped = datagrams::socket(address)?.dropped;
    let found = Found {
        sent: measured.sent.load(Relaxed) + flood.sent.load(Relaxed),
        seconds,
        panics: running.panics(),
        alive: running.is_running()?,
        hung: measured.hung.load(Relaxed) + flood.hung.load(Relaxed),
        failures: under.failures + flooded.failures,
        dropped,
        memory: [begin, middle, end],
        p95: [alone, calm, under].map(|mut waited| doors::percentile_95(&mut waited.micros)),
    };
    running.stop()?;
    Ok(found)
}

/// What a run found.
struct Found {
    sent: u64,
    seconds: f64,
    panics: u64,
    alive: bool,
    hung: u64,
    dropped: u64,
    /// Messages of the well-behaved client that were not acknowledged.
    failures: u64,
    /// In MB: before, half way and after.
    memory: [f64; 3],
    /// In ms: alone, beside well-formed frames, beside mutated ones.
    p95: [f64; 3],
}

impl Found {
    fn is_borne(&self) -> bool {
        self.alive && self.panics == 0 && self.hung == 0 && self.failures == 0
    }

    fn row(&self, door: Door) -> String {
        let Found { sent, seconds, panics, hung, dropped, failures, .. } = self;
        let [begin, middle, end] = self.memory;
        let [alone, calm, under] = self.p95;
        let door = format!("{door:?}").to_lowercase();
        format!(
            "| {door} | {sent} | {dropped} | {seconds:.0} | {panics} | {hung} | {begin:.0}, {middle:.0}, {end:.0} | {alone:.2} | {calm:.2} | \
             {under:.2} | {:.2} | {:.2} | {failures} |",
            under / alone,
            under / calm
        )
    }

    /// Each door has lines of its own, so that the doors do not replace one another.
    fn save(&self, plan: &Plan, door: Door) -> Result<(), Failure> {
        let [.., memory] = self.memory;
        let [_, calm, under] = self.p95;
        let target = format!("{} mutated frames, {} a second", plan.frames, plan.rate);
        let about = About { target: &target, format: "json", library: "dunnage", source: "measured" };
        let mut results = Results::of(door.operation());
        results.add(&about, "failures", (self.panics + self.hung + self.failures) as f64, "1");
        results.add(&about, "memory_mb", memory.round(), "MB");
        results.add(&about, "p95_ms", under, "ms");
        results.add(&about, "ratio", (100.0 * under / calm).round() / 100.0, "1");
        results.save()
    }
}

impl Door {
    fn operation(self) -> &'static str {
        match self {
            Door::Mqtt => "hostile mqtt",
            Door::Coap => "hostile coap",
            Door::Udp => "hostile udp",
            Door::Http => "hostile http",
            Door::Webhook => "hostile webhook",
        }
    }
}

/// What the well-behaved client waits for while `work` is done.
async fn beside(
    door: Door,
    running: &Running,
    work: impl Future<Output = Result<(), Failure>>,
) -> Result<Waited, Failure> {
    let (end, ended) = watch::channel(false);
    let work = async {
        let done = work.await;
        let _ = end.send(true);
        done
    };
    let (waited, done) = tokio::join!(guest::visit(door, running, ended), work);
    done?;
    waited
}

/// The memory of the process when half of the frames are sent.
async fn watch_half(attack: &Attack, process: u32) -> Result<f64, Failure> {
    while attack.sent.load(Relaxed) < attack.count / 2 {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    memory_mb(process, "VmRSS")
}
