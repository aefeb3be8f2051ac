//! The devices: each sends one message after the other, and the same again until it is acknowledged.

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

/// How long a message is sent again before its device gives up.
pub const PATIENCE: Duration = Duration::from_secs(120);
/// How long a device waits after a request that was cut, and at most after one that was answered 503.
const PAUSE: Duration = Duration::from_millis(100);

/// What a fleet is like.
#[derive(Clone, Copy)]
pub struct Shape {
    pub connections: usize,
    pub devices: usize,
    /// Characters in each message that say nothing.
    pub padding: usize,
    /// Each so many-th message is malformed; 0 for none.
    pub malformed_every: u64,
}

impl Default for Shape {
    fn default() -> Shape {
        Shape { connections: 8, devices: 24, padding: 0, malformed_every: 0 }
    }
}

/// Devices that share keep-alive connections, and send as many messages as are released, as fast as they are answered.
#[derive(Default)]
pub struct Fleet {
    shared: Arc<Shared>,
    threads: Vec<JoinHandle<Sent>>,
}

/// What was sent.
#[derive(Default)]
pub struct Sent {
    /// The numbers of each device's messages in the order in which they were acknowledged.
    pub acknowledged: BTreeMap<String, Vec<u64>>,
    /// Malformed messages, answered 400.
    pub malformed: u64,
    /// Requests that were cut, and requests answered 503; all were sent again.
    pub cut: u64,
    pub turned_away: u64,
    /// What should not have happened.
    pub problems: Vec<String>,
}

#[derive(Default)]
struct Shared {
    shape: Shape,
    released: AtomicU64,
    taken: AtomicU64,
    answered: AtomicU64,
    turned_away: AtomicU64,
    closed: AtomicBool,
}

impl Fleet {
    /// Devices that share `senders`. Nothing is released yet.
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

    /// Lets the devices send so many messages more.
    pub fn release(&self, messages: u64) {
        self.shared.released.fetch_add(messages, SeqCst);
    }

    /// How many messages can be under way at a time.
    pub fn connections(&self) -> u64 {
        self.threads.len() as u64
    }

    /// How many messages were answered for good.
    pub fn answered(&self) -> u64 {
        self.shared.answered.load(SeqCst)
    }

    /// How many requests were answered 503.
    pub fn turned_away(&self) -> u64 {
        self.shared.turned_away.load(SeqCst)
    }

    /// Waits until so many messages were answered, or none is any more.
    pub fn wait_for(&self, messages: u64) {
        let mut last = (self.answered(), Instant::now());
        while self.answered() < messages && last.1.elapsed() < PATIENCE {
            std::thread::sleep(Duration::from_millis(1));
            if self.answered() != last.0 {
                last = (self.answered(), Instant::now());
            }
        }
    }

    /// Whether there are no devices any more.
    pub fn is_finished(&self) -> bool {
        self.threads.is_empty()
    }

    /// Waits until every message that was released is answered for good.
    pub fn finish(self) -> Sent {
        self.shared.closed.store(true, SeqCst);
        let mut all = Sent::default();
        for thread in self.threads {
            let sent = thread.join().unwrap();
            all.acknowledged.extend(sent.acknowledged);
            all.malformed += sent.malformed;
            all.cut += sent.cut;
            all.turned_away += sent.turned_away;
            all.problems.extend(sent.problems);
        }
        all
    }
}

impl Sent {
    /// Messages that were acknowledged.
    pub fn messages(&self) -> u64 {
        self.acknowledged.values().map(|numbers| numbers.len() as u64).sum()
    }
}

/// What a device calls its message.
pub fn key(device: &str, number: u64) -> String {
    format!("{device}-{number}")
}

struct Connection {
    shared: Arc<Shared>,
    sender: Box<dyn Sender>,
    sent: Sent,
}

impl Connection {
    /// Sends for its devices in turn, of which `first` is the first.
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

    /// Waits until a message may be sent. `None` when there will be no more.
    fn ticket(&self) -> Option<u64> {
        let ticket = self.shared.taken.fetch_add(1, SeqCst);
        while self.shared.released.load(SeqCst) <= ticket {
            // Closed first: what was released before it was closed is sent.
            let closed = self.shared.closed.load(SeqCst);
            if closed && self.shared.released.load(SeqCst) <= ticket {
                return None;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        Some(ticket)
    }

    /// Sends one message until it is answered for good.
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
                    self.sent.turned_away += 1;
                    self.shared.turned_away.fetch_add(1, SeqCst);
                }
                (None, _) => self.sent.cut += 1,
                (Some(status), _) => {
                    self.sent.problems.push(format!("{device} {number} is answered {status}"));
                    break;
                }
            }
            if begun.elapsed() > PATIENCE {
                self.sent.problems.push(format!("{device} {number} is never answered"));
                break;
            }
            std::thread::sleep(PAUSE);
        }
        self.shared.answered.fetch_add(1, SeqCst);
    }
}
