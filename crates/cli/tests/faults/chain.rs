//! From the devices through the gateway to the CSE, and the count at the end.

use crate::{
    Failure,
    acme::Acme,
    cse::{self, Delivered},
    fleet::{Fleet, Sent, Shape},
    gateway::{Gateway, Surroundings},
    process,
    row::Row,
    sender::{Post, Senders},
};
use rusqlite::{Connection, OpenFlags};
use serde_json::Value;
use std::{
    collections::{BTreeMap, HashSet},
    net::SocketAddr,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};
use tempfile::TempDir;

/// How long the CSE may go without a new message before the rest counts as lost.
const PATIENCE: Duration = Duration::from_secs(60);

/// How long it is tried to meet a moment, and how long an answer takes to its client.
const MEET: Duration = Duration::from_secs(3);
const SETTLE: Duration = Duration::from_millis(50);

/// A gateway with a buffer of its own, devices in front of it, and behind it an application of its own in a CSE.
pub struct Chain {
    pub gateway: Gateway,
    pub fleet: Fleet,
    /// The gateway behind the stream, if there is one.
    forwarder: Option<Gateway>,
    /// Messages that stood in a page that was destroyed: the only ones that may be missing.
    pub destroyed: HashSet<Name>,
    application: &'static str,
    buffer: PathBuf,
    folder: TempDir,
    begun: Instant,
}

/// A message: its device and its number.
pub type Name = (String, u64);

/// What there is to say at the end.
pub struct End {
    pub row: Row,
    pub sent: Sent,
    /// What the gateway says of its buffer.
    pub stats: Value,
}

/// Makes what sends to a gateway that was started.
pub type MakeSenders = Box<dyn FnOnce(&Gateway) -> Result<Senders, Failure>>;

/// What a chain is made of.
pub struct Plan {
    /// What the application is called in the CSE.
    pub application: &'static str,
    pub shape: Shape,
    /// How long the gateway waits for the CSE.
    pub timeout_seconds: u64,
    /// The servers of a NATS stream between two gateways.
    pub stream: Option<Vec<String>>,
    /// The buffer's file where it is not in the gateway's folder: as the gateway sees it, and as we do.
    pub buffer: Option<(PathBuf, PathBuf)>,
    pub surroundings: Surroundings,
    /// The ways in beside HTTP, as TOML.
    pub inputs: String,
    /// What sends, to the gateway that is started; without it, HTTP clients.
    pub senders: Option<MakeSenders>,
}

impl Default for Plan {
    fn default() -> Plan {
        let (shape, surroundings) = Default::default();
        Plan {
            application: "",
            shape,
            timeout_seconds: 10,
            stream: None,
            buffer: None,
            surroundings,
            inputs: String::new(),
            senders: None,
        }
    }
}

impl Chain {
    /// Starts what delivers to the CSE at `address`, and a fleet. Nothing is sent yet.
    pub fn start(plan: Plan, address: SocketAddr) -> Result<Chain, Failure> {
        let folder = TempDir::new()?;
        let beside = folder.path().join("buffer.sqlite3");
        let (inside, buffer) = plan.buffer.unwrap_or((beside.clone(), beside));
        let mut output = cse_output(address, plan.application, plan.timeout_seconds);
        let mut forwarder = None;
        if let Some(servers) = plan.stream {
            let beside = folder.path().join("forwarder");
            std::fs::create_dir(&beside)?;
            let buffer = beside.join("buffer.sqlite3");
            let config = format!("[buffer]\npath = {buffer:?}\n{}{output}", stream_input(&servers));
            forwarder = Some(Gateway::start(&beside, &config, Surroundings::default())?);
            output = stream_output(&servers);
        }
        let config = format!("[buffer]\npath = {inside:?}\n{}{output}", plan.inputs);
        let gateway = Gateway::start(folder.path(), &config, plan.surroundings)?;
        let senders = match plan.senders {
            Some(make) => make(&gateway)?,
            None => Post::senders(&format!("{}/ingest", gateway.url()), plan.shape.connections),
        };
        let fleet = Fleet::new(senders, plan.shape);
        let application = plan.application;
        let (destroyed, begun) = (HashSet::new(), Instant::now());
        Ok(Chain { gateway, fleet, forwarder, destroyed, application, buffer, folder, begun })
    }

    /// The buffer's file.
    pub fn buffer(&self) -> &Path {
        &self.buffer
    }

    /// Pauses the gateway in a moment in which it has stored messages that it has not acknowledged, for a kill, and says how many. That
    /// moment is short: where the machine is too slow to meet it, it is 0.
    pub fn pause_before_an_answer(&self) -> Result<u64, Failure> {
        let begun = Instant::now();
        // At another place of what the gateway does each time, and farther on when that is slow.
        let mut most = 1000;
        loop {
            self.gateway.pause()?;
            let answered = self.settled();
            let unacknowledged = stored(&self.buffer)?.saturating_sub(answered);
            if unacknowledged > 0 || begun.elapsed() > MEET {
                return Ok(unacknowledged);
            }
            self.fleet.release(2 * self.fleet.connections());
            self.gateway.resume()?;
            std::thread::sleep(Duration::from_micros(u64::from(begun.elapsed().subsec_micros()) % most));
            most += 500;
        }
    }

    /// How many messages are answered, once the answers that are on their way have arrived.
    fn settled(&self) -> u64 {
        let mut last = self.fleet.answered();
        loop {
            std::thread::sleep(SETTLE);
            match self.fleet.answered() {
                now if now == last => return now,
                now => last = now,
            }
        }
    }

    /// Waits until the CSE has so many messages, or gets no more.
    pub fn wait_until_delivered(&self, acme: &Acme, messages: u64) {
        let mut last = (cse::count(acme, self.application), Instant::now());
        while last.0 < messages && last.1.elapsed() < PATIENCE {
            std::thread::sleep(Duration::from_millis(200));
            let now = cse::count(acme, self.application);
            if now != last.0 {
                last = (now, Instant::now());
            } else if self.fleet.is_finished() && self.forwarder.is_none() && self.gateway.has_delivered() {
                break;
            }
        }
    }

    /// Waits until all that was released is acknowledged and delivered, ends the gateway, and counts.
    pub fn finish(mut self, acme: &Acme) -> Result<End, Failure> {
        let sent = std::mem::take(&mut self.fleet).finish();
        self.wait_until_delivered(acme, sent.messages() - self.destroyed.len() as u64);
        let stats = self.gateway.stats()?;
        self.gateway.stop()?;
        let mut row =
            compare(&sent, &self.destroyed, &cse::delivered(acme, self.application, &sent.acknowledged)?);
        row.stored = count(&self.buffer, "messages")?;
        row.quarantined = count(&self.buffer, "quarantine")?;
        if let Some(forwarder) = &mut self.forwarder {
            forwarder.stop()?;
            let stored = count(&self.folder.path().join("forwarder/buffer.sqlite3"), "messages")?;
            if stored != row.acknowledged {
                row.problems.push(format!("{stored} messages are in the forwarder"));
            }
        }
        row.took = self.begun.elapsed();
        if !row.problems().is_empty() {
            let kept = self.folder.keep();
            row.problems.push(format!("{}:\n{}", kept.display(), process::tail(&kept.join("gateway.log"))));
        }
        Ok(End { row, sent, stats })
    }
}

/// How many messages are in a buffer that is in use.
fn stored(buffer: &Path) -> Result<u64, Failure> {
    let buffer = Connection::open_with_flags(buffer, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
    Ok(buffer.query_row("SELECT count(*) FROM messages", [], |row| row.get(0))?)
}

/// How many rows a table of a buffer has.
fn count(buffer: &Path, table: &str) -> Result<u64, Failure> {
    let folder = TempDir::new()?;
    // SQLite would look for a file of another mount namespace in this one.
    let copy = folder.path().join("copy.sqlite3");
    std::fs::copy(buffer, &copy)?;
    let buffer = Connection::open_with_flags(&copy, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
    Ok(buffer.query_row(&format!("SELECT count(*) FROM {table}"), [], |row| row.get(0))?)
}

/// Into a stream of three servers.
fn stream_output(servers: &[String]) -> String {
    format!(
        "[[output]]\nname = \"stream\"\n[output.nats]\nservers = {servers:?}\nstream = \"DUNNAGE\"\npayload = \"raw\"\n\
         [output.nats.create]\nreplicas = 3\n"
    )
}

/// Out of that stream.
fn stream_input(servers: &[String]) -> String {
    format!(
        "[[input]]\nname = \"stream\"\n[input.nats]\nservers = {servers:?}\nstream = \"DUNNAGE\"\nconsumer = \"forwarder\"\n"
    )
}

/// Into an application of its own in the CSE.
fn cse_output(address: SocketAddr, application: &str, timeout_seconds: u64) -> String {
    format!(
        "[[output]]\nname = \"cse\"\n[output.onem2m]\nurl = \"http://{address}\"\ncse = \"cse-in\"\nae = {application:?}\n\
         originator = \"C{application}\"\napp_id = \"N{application}\"\ntimeout_seconds = {timeout_seconds}\n"
    )
}

/// Holds what the CSE has against what was acknowledged, message by message.
fn compare(sent: &Sent, destroyed: &HashSet<Name>, delivered: &BTreeMap<String, Delivered>) -> Row {
    let mut row = Row { acknowledged: sent.messages(), problems: sent.problems.clone(), ..Row::default() };
    row.destroyed = destroyed.len() as u64;
    for (device, Delivered { numbers, unfinished }) in delivered {
        let distinct: HashSet<_> = numbers.iter().chain(unfinished).collect();
        row.delivered += distinct.len() as u64;
        row.duplicates += (numbers.len() + unfinished.len() - distinct.len()) as u64;
        row.unfinished += unfinished.len() as u64;
        let left =
            |number: &&u64| !destroyed.contains(&(device.clone(), **number)) && !unfinished.contains(number);
        let expected: Vec<_> = sent.acknowledged[device].iter().filter(left).copied().collect();
        if expected != *numbers {
            let at = expected.iter().zip(numbers).take_while(|(a, b)| a == b).count();
            row.problems.push(format!(
                "{device}: from its message {at}, {:?} acknowledged, {:?} delivered",
                &expected[at..expected.len().min(at + 8)],
                &numbers[at..numbers.len().min(at + 8)]
            ));
        }
    }
    row
}
