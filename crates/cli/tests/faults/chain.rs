//! The chain of devices, gateway and CSE, and the final count of messages.

use crate::{
    Failure,
    cse::Delivered,
    fleet::{Fleet, Sent, Shape},
    gateway::{Gateway, ProcessSettings},
    process,
    row::Row,
    sender::{Post, Senders},
};
use rusqlite::{Connection, ErrorCode, OpenFlags};
use serde_json::Value;
use std::{
    collections::{BTreeMap, HashSet},
    net::SocketAddr,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};
use tempfile::TempDir;

/// Longest time without a new message in the receiver before the missing ones count as lost.
const PATIENCE: Duration = Duration::from_secs(60);

/// How long to try to pause the gateway between a commit and its answers (`PAUSE_TIMEOUT`), and how long an answer takes to reach its
/// client (`ANSWER_TRANSIT`).
const PAUSE_TIMEOUT: Duration = Duration::from_secs(3);
const ANSWER_TRANSIT: Duration = Duration::from_millis(50);

/// A gateway with its own buffer, and a fleet of devices that send to it. It delivers to a receiver, for instance to its own application in
/// a CSE.
pub struct Chain {
    pub gateway: Gateway,
    pub fleet: Fleet,
    /// The gateway that reads from the stream, if there is a stream.
    forwarder: Option<Gateway>,
    /// Messages that were stored in a destroyed page. Only these may be missing.
    pub destroyed: HashSet<Name>,
    /// Stored messages that are not the fleet's.
    pub others: u64,
    application: &'static str,
    buffer: PathBuf,
    folder: TempDir,
    begun: Instant,
}

/// Identifies a message: its device and its number.
pub type Name = (String, u64);

/// The results of a chain.
pub struct End {
    pub row: Row,
    pub sent: Sent,
    /// The gateway's statistics, from `/api/stats`.
    pub stats: Value,
}

/// Creates the senders for a started gateway.
pub type MakeSenders = Box<dyn FnOnce(&Gateway) -> Result<Senders, Failure>>;

/// The system that the gateway delivers to.
pub trait Receiver {
    /// The number of messages that it has from the application `application`.
    fn count(&self, application: &str) -> u64;

    /// The acknowledged messages that it has from that application, by device.
    fn delivered(
        &self,
        application: &str,
        acknowledged: &BTreeMap<String, Vec<u64>>,
    ) -> Result<BTreeMap<String, Delivered>, Failure>;
}

/// The configuration of a chain.
pub struct Plan {
    /// The name of the application in the CSE.
    pub application: &'static str,
    pub shape: Shape,
    /// The gateway's timeout for the CSE.
    pub timeout_seconds: u64,
    /// The server URLs of a NATS stream between two gateways.
    pub stream: Option<Vec<String>>,
    /// The path of the buffer if it is not in the gateway's folder: first as the gateway sees it, then as the test sees it.
    pub buffer: Option<(PathBuf, PathBuf)>,
    pub process_settings: ProcessSettings,
    /// Inputs in addition to HTTP, as TOML.
    pub inputs: String,
    /// Creates the senders; if `None`, HTTP clients send.
    pub senders: Option<MakeSenders>,
}

impl Default for Plan {
    fn default() -> Plan {
        let (shape, process_settings) = Default::default();
        Plan {
            application: "",
            shape,
            timeout_seconds: 10,
            stream: None,
            buffer: None,
            process_settings,
            inputs: String::new(),
            senders: None,
        }
    }
}

impl Chain {
    /// Starts the gateways, which deliver to the CSE at `address`, and a fleet. Nothing is sent yet.
    pub fn start(plan: Plan, address: SocketAddr) -> Result<Chain, Failure> {
        let output = cse_output(address, plan.application, plan.timeout_seconds);
        Chain::start_with(plan, output)
    }

    /// Starts the gateways with an output, as TOML, and a fleet. Nothing is sent yet.
    pub fn start_with(plan: Plan, mut output: String) -> Result<Chain, Failure> {
        let folder = TempDir::new()?;
        let default_path = folder.path().join("buffer.sqlite3");
        let (inside, buffer) = plan.buffer.unwrap_or((default_path.clone(), default_path));
        let mut forwarder = None;
        if let Some(servers) = plan.stream {
            let forwarder_folder = folder.path().join("forwarder");
            std::fs::create_dir(&forwarder_folder)?;
            let buffer = forwarder_folder.join("buffer.sqlite3");
            let config = format!("[buffer]\npath = {buffer:?}\n{}{output}", stream_input(&servers));
            forwarder = Some(Gateway::start(&forwarder_folder, &config, ProcessSettings::default())?);
            output = stream_output(&servers);
        }
        let config = format!("[buffer]\npath = {inside:?}\n{}{output}", plan.inputs);
        let gateway = Gateway::start(folder.path(), &config, plan.process_settings)?;
        let senders = match plan.senders {
            Some(make) => make(&gateway)?,
            None => Post::senders(&format!("{}/ingest", gateway.url()), plan.shape.connections),
        };
        let fleet = Fleet::new(senders, plan.shape);
        let application = plan.application;
        let (destroyed, begun) = (HashSet::new(), Instant::now());
        Ok(Chain { gateway, fleet, forwarder, destroyed, others: 0, application, buffer, folder, begun })
    }

    /// The path of the buffer.
    pub fn buffer(&self) -> &Path {
        &self.buffer
    }

    /// The number of messages in the buffer, which may be in use.
    pub fn stored(&self) -> Result<u64, Failure> {
        stored(&self.buffer)
    }

    /// Pauses the gateway, for a kill, at a moment when it has stored messages but not yet acknowledged them. Returns the number
    /// of these messages. The moment is short, so the number is 0 if a slow machine does not hit it in time.
    pub fn pause_before_an_answer(&self) -> Result<u64, Failure> {
        let begun = Instant::now();
        // Each attempt pauses at another point of the gateway's cycle. The range grows, to cover the cycle of a slow machine.
        let mut max_sleep = 1000;
        loop {
            self.gateway.pause()?;
            let answered = self.answered_after_transit();
            let unacknowledged = match stored(&self.buffer) {
                Ok(stored) => stored.saturating_sub(answered),
                // It was paused while it held a lock of the buffer.
                Err(error) if is_locked(&*error) => 0,
                Err(error) => return Err(error),
            };
            if unacknowledged > 0 || begun.elapsed() > PAUSE_TIMEOUT {
                return Ok(unacknowledged);
            }
            self.fleet.release(2 * self.fleet.connections());
            self.gateway.resume()?;
            std::thread::sleep(Duration::from_micros(u64::from(begun.elapsed().subsec_micros()) % max_sleep));
            max_sleep += 500;
        }
    }

    /// The number of answered messages, after answers in flight have arrived.
    fn answered_after_transit(&self) -> u64 {
        let mut last = self.fleet.answered();
        loop {
            std::thread::sleep(ANSWER_TRANSIT);
            match self.fleet.answered() {
                now if now == last => return now,
                now => last = now,
            }
        }
    }

    /// Waits until the receiver has `messages` messages, or stops receiving.
    pub fn wait_until_delivered(&self, receiver: &dyn Receiver, messages: u64) {
        let mut last = (receiver.count(self.application), Instant::now());
        while last.0 < messages && last.1.elapsed() < PATIENCE {
            std::thread::sleep(Duration::from_millis(200));
            let now = receiver.count(self.application);
            if now != last.0 {
                last = (now, Instant::now());
            } else if self.fleet.is_finished() && self.forwarder.is_none() && self.gateway.has_delivered() {
                break;
            }
        }
    }

    /// Waits until every released message is acknowledged and delivered, stops the gateway, and counts. Messages that retention dropped
    /// were delivered, and count as stored.
    pub fn finish(mut self, receiver: &dyn Receiver) -> Result<End, Failure> {
        let sent = std::mem::take(&mut self.fleet).finish();
        self.wait_until_delivered(receiver, sent.messages() + self.others - self.destroyed.len() as u64);
        let stats = self.gateway.stats()?;
        self.gateway.stop()?;
        let delivered = receiver.delivered(self.application, &sent.acknowledged)?;
        let mut row = compare(&sent, &self.destroyed, &delivered);
        let dropped = stats["dropped"].as_u64().unwrap_or_default();
        row.stored = count(&self.buffer, "messages")? + dropped - self.others;
        row.quarantined = count(&self.buffer, "quarantine")?;
        if let Some(forwarder) = &mut self.forwarder {
            forwarder.stop()?;
            let stored = count(&self.folder.path().join("forwarder/buffer.sqlite3"), "messages")?;
            if stored != row.acknowledged {
                row.problems.push(format!("{stored} messages are in the forwarder"));
            }
        }
        row.duration = self.begun.elapsed();
        if !row.problems().is_empty() {
            let kept = self.folder.keep();
            row.problems.push(format!("{}:\n{}", kept.display(), process::tail(&kept.join("gateway.log"))));
        }
        Ok(End { row, sent, stats })
    }
}

/// The number of messages in a buffer that is in use.
fn stored(buffer: &Path) -> Result<u64, Failure> {
    let buffer = Connection::open_with_flags(buffer, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
    Ok(buffer.query_row("SELECT count(*) FROM messages", [], |row| row.get(0))?)
}

fn is_locked(error: &(dyn std::error::Error + 'static)) -> bool {
    let code = error.downcast_ref::<rusqlite::Error>().and_then(rusqlite::Error::sqlite_error_code);
    code == Some(ErrorCode::FileLockingProtocolFailed)
}

/// The number of rows in a table of a buffer.
fn count(buffer: &Path, table: &str) -> Result<u64, Failure> {
    let folder = TempDir::new()?;
    // Reads a copy, because SQLite looks for the files of another mount namespace in its own.
    let copy = folder.path().join("copy.sqlite3");
    std::fs::copy(buffer, &copy)?;
    let buffer = Connection::open_with_flags(&copy, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
    Ok(buffer.query_row(&format!("SELECT count(*) FROM {table}"), [], |row| row.get(0))?)
}

/// An output to a stream on three servers.
fn stream_output(servers: &[String]) -> String {
    format!(
        "[[output]]\nname = \"stream\"\n[output.nats]\nservers = {servers:?}\nstream = \"DUNNAGE\"\npayload = \"raw\"\n\
         [output.nats.create]\nreplicas = 3\n"
    )
}

/// An input from that stream.
fn stream_input(servers: &[String]) -> String {
    format!(
        "[[input]]\nname = \"stream\"\n[input.nats]\nservers = {servers:?}\nstream = \"DUNNAGE\"\nconsumer = \"forwarder\"\n"
    )
}

/// An output to an application in the CSE.
fn cse_output(address: SocketAddr, application: &str, timeout_seconds: u64) -> String {
    format!(
        "[[output]]\nname = \"cse\"\n[output.onem2m]\nurl = \"http://{address}\"\ncse = \"cse-in\"\nae = {application:?}\n\
         originator = \"C{application}\"\napp_id = \"N{application}\"\ntimeout_seconds = {timeout_seconds}\n"
    )
}

/// Compares the messages in the CSE with the acknowledged ones, device by device and in order.
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
