//! The devices. Each sends one message after another, and repeats each message until it is acknowledged.

use crate::sender::{Sender, Senders};
use std::{
    collections::BTreeMap,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering::SeqCst},
    },
    thread::JoinHandle,
    time::{Duration, Instant},
};

/// How long a device repeats a message before giving up.
pub const PATIENCE: Duration = Duration::from_secs(120);
/// Wait before a message is repeated, after a cut connection or a 503.
const RETRY_DELAY: Duration = Duration::from_millis(100);

/// The size and messages of a fleet.
#[derive(Clone, Copy)]
pub struct Shape {
    pub connections: usize,
    pub devices: usize,
    /// Number of padding characters in each message.
    pub padding: usize,
    /// Every n-th message is malformed; 0 for none.
    pub malformed_every: u64,
}

impl Default for Shape {
    fn default() -> Shape {
        Shape { connections: 8, devices: 24, padding: 0, malformed_every: 0 }
    }
}

/// Devices that share keep-alive connections. They send the released messages, each as soon as the previous one is answered.
#[derive(Default)]
pub struct Fleet {
    shared: Arc<Shared>,
    threads: Vec<JoinHandle<Sent>>,
}

/// The messages that a fleet sent, and the answers.
#[derive(Default)]
pub struct Sent {
    /// The numbers of each device's messages in the order in which they were acknowledged.
    pub acknowledged: BTreeMap<String, Vec<u64>>,
    /// Malformed messages, answered 400.
    pub malformed: u64,
    /// Requests whose connection was cut (`cut`), and requests answered 503 (`unavailable`). All were repeated.
    pub cut: u64,
    pub unavailable: u64,
    /// Unexpected answers and missing answers.
    pub problems: Vec<String>,
}

#[derive(Default)]
struct Shared {
    shape: Shape,
    released: AtomicU64,
    tickets: AtomicU64,
    answered: AtomicU64,
    unavailable: AtomicU64,
    closed: AtomicBool,
}

impl Fleet {
    /// Creates devices that share `senders`. Nothing is released yet.
    pub fn new(senders: Senders, shape: Shape) -> Fleet {
        let shape = Shape { connections: senders.len(), ..shape };
        let shared = Arc::new(Shared { shape, ..Shared::default() });
        let connection = |(first, sender)| {
            let connection = Connection { shared: Arc::clone(&shared), sender, sent: Sent::default() };
            std::thread::spawn(move || connection.run(first))
        };
        let threads = senders.into_iter().enumerate().map(connection).collect();
        Fleet { shared, threads }
    }

    /// Lets the devices send `messages` more messages.
    pub fn release(&self, messages: u64) {
        self.shared.released.fetch_add(messages, SeqCst);
    }

    /// The maximum number of messages in flight.
    pub fn connections(&self) -> u64 {
        self.threads.len() as u64
    }

    /// The number of messages with a final answer.
    pub fn answered(&self) -> u64 {
        self.shared.answered.load(SeqCst)
    }

    /// The number of requests answered 503.
    pub fn unavailable(&self) -> u64 {
        self.shared.unavailable.load(SeqCst)
    }

    /// Waits until `messages` messages have a final answer, or none has been answered for [`PATIENCE`].
    pub fn wait_for(&self, messages: u64) {
        let mut last = (self.answered(), Instant::now());
        while self.answered() < messages && last.1.elapsed() < PATIENCE {
            std::thread::sleep(Duration::from_millis(1));
            if self.answered() != last.0 {
                last = (self.answered(), Instant::now());
            }
        }
    }

    /// Whether the fleet has no devices left.
    pub fn is_finished(&self) -> bool {
        self.threads.is_empty()
    }

    /// Waits until every released message has a final answer.
    pub fn finish(self) -> Sent {
        self.shared.closed.store(true, SeqCst);
        let mut all = Sent::default();
        for thread in self.threads {
            let sent = thread.join().unwrap();
            all.acknowledged.extend(sent.acknowledged);
            all.malformed += sent.malformed;
            all.cut += sent.cut;
            all.unavailable += sent.unavailable;
            all.problems.extend(sent.problems);
        }
        all
    }
}

impl Sent {
    /// The number of acknowledged messages.
    pub fn messages(&self) -> u64 {
        self.acknowledged.values().map(|numbers| numbers.len() as u64).sum()
    }
}

/// The idempotency key of a message.
pub fn key(device: &str, number: u64) -> String {
    format!("{device}-{number}")
}

struct Connection {
    shared: Arc<Shared>,
    sender: Box<dyn Sender>,
    sent: Sent,
}

impl Connection {
    /// Sends for this connection's devices in turn, beginning with the device `first`.
    fn run(mut self, first: usize) -> Sent {
        let Shape { connections, devices, .. } = self.shared.shape;
        for number in 0.. {
            for device in (first..devices).step_by(connections) {
                let Some(ticket) = self.ticket() else { return self.sent };
                self.send(&format!("d{device:03}"), number, ticket);
            }
        }
        self.sent
    }

    /// Waits until a message may be sent. Returns its sequence number, or `None` after the last message.
    fn ticket(&self) -> Option<u64> {
        let ticket = self.shared.tickets.fetch_add(1, SeqCst);
        while self.shared.released.load(SeqCst) <= ticket {
            // Read `closed` first, so that messages released before it was closed are still sent.
            let closed = self.shared.closed.load(SeqCst);
            if closed && self.shared.released.load(SeqCst) <= ticket {
                return None;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        Some(ticket)
    }

    /// Sends one message until it has a final answer.
    fn send(&mut self, device: &str, number: u64, ticket: u64) {
        let Shape { padding, malformed_every, .. } = self.shared.shape;
        let malformed = malformed_every > 0 && ticket % malformed_every == malformed_every - 1;
        let end = if malformed { "" } else { "}" };
        let body = format!("{{\"n\":{number},\"text\":\"{}\"{end}", "x".repeat(padding));
        let begun = Instant::now();
        loop {
            match (self.sender.send(device, &key(device, number), &body), malformed) {
                (Some(204), false) => {
                    self.sent.acknowledged.entry(device.to_owned()).or_default().push(number);
                    break;
                }
                (Some(400), true) => {
                    self.sent.malformed += 1;
                    break;
                }
                (Some(503), _) => {
                    self.sent.unavailable += 1;
                    self.shared.unavailable.fetch_add(1, SeqCst);
                }
                (None, _) => self.sent.cut += 1,
                (Some(status), _) => {
                    self.sent.problems.push(format!("message {number} of {device} was answered {status}"));
                    break;
                }
            }
            if begun.elapsed() > PATIENCE {
                self.sent.problems.push(format!("message {number} of {device} was never answered"));
                break;
            }
            std::thread::sleep(RETRY_DELAY);
        }
        self.shared.answered.fetch_add(1, SeqCst);
    }
}
