//! What watchers see: a stream of events. It is a view, not a log: under load it carries a sample.

use crate::{
    access::network,
    api::objects::{MessageObject, RejectObject, StatsObject},
    buffer::{Duplicates, Entry, Observer, Totals},
    quarantine_log::QuarantineLog,
    reading::{Provenance, Reading},
    shared::Shared,
};
use std::{
    collections::HashMap,
    fmt::Display,
    net::IpAddr,
    sync::{Arc, Mutex, MutexGuard, PoisonError, atomic::Ordering},
    time::{Duration, Instant},
};
use tokio::sync::broadcast;

/// Most messages in the stream, per second; also how many may come at once.
const PER_SECOND: f64 = 50.0;
/// Messages over this many bytes (as JSON or as hex) are not in the stream.
const MAX_BYTES: usize = 64 << 10;
/// Events that a watcher may lag behind; then it misses some.
const LAG: usize = 128;

/// One server-sent event.
#[derive(Debug, Clone)]
pub struct Event {
    /// `message`, `quarantine` or `stats`.
    pub name: &'static str,
    /// A JSON object.
    pub data: Arc<str>,
}

/// Most watchers, and most of an address (of IPv6, a /64), so that no one address takes the places of all.
pub const WATCHERS: (usize, usize) = (256, 64);

/// The stream of events.
pub struct Live {
    events: broadcast::Sender<Event>,
    watchers: Arc<Watchers>,
}

/// How many watch, by their networks.
#[derive(Default)]
struct Watchers(Mutex<HashMap<IpAddr, usize>>);

/// The place of a watcher, for as long as this lives.
pub struct Watching {
    watchers: Arc<Watchers>,
    network: IpAddr,
}

impl Watchers {
    fn networks(&self) -> MutexGuard<'_, HashMap<IpAddr, usize>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Watching {
    fn drop(&mut self) {
        let mut networks = self.watchers.networks();
        if let Some(count) = networks.get_mut(&self.network) {
            *count -= 1;
            if *count == 0 {
                networks.remove(&self.network);
            }
        }
    }
}

impl Live {
    /// A stream that nobody watches yet.
    pub fn new() -> Live {
        Live { events: broadcast::Sender::new(LAG), watchers: Arc::default() }
    }

    /// What happens from now on, for a watcher at `address`. An error says how many may watch at a time.
    pub fn watch(&self, address: IpAddr) -> Result<(broadcast::Receiver<Event>, Watching), String> {
        let network = network(address);
        let mut networks = self.watchers.networks();
        if networks.values().sum::<usize>() >= WATCHERS.0 {
            return Err(format!("{} event streams are open, and no more are possible", WATCHERS.0));
        }
        let count = networks.entry(network).or_default();
        if *count >= WATCHERS.1 {
            return Err(format!(
                "{} event streams of this address are open, and no more are possible",
                WATCHERS.1
            ));
        }
        *count += 1;
        Ok((self.events.subscribe(), Watching { watchers: Arc::clone(&self.watchers), network }))
    }

    /// Whether anybody watches.
    fn is_watched(&self) -> bool {
        self.events.receiver_count() > 0
    }

    /// Sends an event to all watchers.
    pub fn send<T: serde::Serialize>(&self, name: &'static str, object: &T) {
        if let Ok(data) = serde_json::to_string(object) {
            // An error means that nobody watches.
            let _ = self.events.send(Event { name, data: data.into() });
        }
    }
}

/// Takes what the writer did to the counts, the metrics and the watchers.
pub struct Commits {
    shared: Arc<Shared>,
    quarantine_log: QuarantineLog,
    allowance: f64,
    at: Instant,
}

impl Commits {
    /// An observer for the writer of `shared`.
    pub fn new(shared: Arc<Shared>) -> Commits {
        let quarantine_log = QuarantineLog::new();
        Commits { shared, quarantine_log, allowance: PER_SECOND, at: Instant::now() }
    }

    /// How many of the next events watchers may see.
    fn allow(&mut self) -> usize {
        let now = Instant::now();
        let earned = now.duration_since(self.at).as_secs_f64() * PER_SECOND;
        self.allowance = (self.allowance + earned).min(PER_SECOND);
        self.at = now;
        self.allowance as usize
    }

    /// Shows a sample of a batch: its last entries, which are the newest.
    fn show(&mut self, batch: &[Entry], now: &Totals) {
        let allowed = self.allow().min(batch.len());
        let sample = &batch[batch.len() - allowed..];
        let count = |of: fn(&&Entry) -> bool| sample.iter().filter(of).count() as i64;
        let mut message_id = now.last_message_id - count(|entry| matches!(entry, Entry::Message(..)));
        let mut reject_id = now.last_quarantine_id - count(|entry| matches!(entry, Entry::Reject(..)));
        for entry in sample {
            match entry {
                Entry::Message(reading, _) => {
                    message_id += 1;
                    if reading.json.len() <= MAX_BYTES
                        && let Some(object) = MessageObject::of_reading(message_id, reading)
                    {
                        self.shared.live.send("message", &object);
                    }
                }
                Entry::Reject(reject, _) => {
                    reject_id += 1;
                    if 2 * reject.raw.len() <= MAX_BYTES {
                        let profiles = self.shared.profiles.load();
                        let object = RejectObject::of_reject(reject_id, reject, &profiles);
                        self.shared.live.send("quarantine", &object);
                    }
                }
                Entry::Duplicate(_) | Entry::Change(..) | Entry::Damaged(..) => {}
                Entry::Tidy | Entry::Check | Entry::Stop => {}
            }
        }
        self.allowance -= allowed as f64;
    }
}

impl Observer for Commits {
    fn refused(&self) -> u64 {
        self.shared.board.refused.load(Ordering::Relaxed)
    }

    fn committed(&mut self, batch: &[Entry], before: &Totals, now: &Totals, took: Duration) {
        let shared = &self.shared;
        shared.board.show(now);
        if !shared.board.writable.swap(true, Ordering::Relaxed) {
            tracing::info!("the buffer can be written again");
        }
        shared.metrics.stored(before, now);
        let profiles = shared.profiles.load();
        for entry in batch {
            match entry {
                Entry::Message(Reading { provenance: Provenance { device, received_at, .. }, .. }, _) => {
                    shared.metrics.silence.heard(&profiles, device, *received_at);
                }
                Entry::Reject(reject, _) => {
                    shared.metrics.quarantined(reject.kind);
                    self.quarantine_log.add(reject);
                }
                _ => {}
            }
        }
        shared.metrics.batch_messages.observe(batch.len() as f64);
        shared.metrics.commit_seconds.observe(took.as_secs_f64());
        if shared.live.is_watched() {
            self.show(batch, now);
        }
    }

    fn by_bytes(&self, device: &str) -> bool {
        self.shared.profiles.load().by_bytes(device)
    }

    fn full(&mut self, full: bool) {
        match (self.shared.queue.set_buffer_full(full), full) {
            (false, true) => tracing::error!(
                "the buffer is at [buffer] limit_bytes; messages are refused until there is room"
            ),
            (true, false) => tracing::info!("the buffer has room for messages again"),
            _ => {}
        }
    }

    fn mended(&mut self, totals: &Totals) {
        self.shared.board.show(totals);
    }

    fn remembered(&mut self, duplicates: &Duplicates) {
        self.shared.metrics.remembered(duplicates);
    }

    fn failed(&mut self, messages: Option<usize>, error: &dyn Display) {
        let shared = &self.shared;
        if let Some(messages) = messages {
            shared.metrics.write_errors.inc();
            shared.board.refused.fetch_add(messages as u64, Ordering::Relaxed);
        }
        if shared.board.writable.swap(false, Ordering::Relaxed) {
            tracing::error!(%error, "the buffer cannot be written; messages are refused until it can");
        }
    }
}

/// Sends the stats once a second when they changed and someone watches; those of outputs change when no message comes, too.
pub async fn tell_stats(shared: Arc<Shared>) {
    let mut seconds = tokio::time::interval(Duration::from_secs(1));
    let mut last = None;
    loop {
        seconds.tick().await;
        if !shared.live.is_watched() {
            continue;
        }
        let now = StatsObject::of(&shared);
        if last.as_ref() != Some(&now) {
            shared.live.send("stats", &now);
            last = Some(now);
        }
    }
}
