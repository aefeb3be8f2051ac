//! Reacts to commits: updates counts and metrics, writes the log, and sends a sample of the messages to the event stream.

use crate::{
    api::objects::{MessageObject, RejectObject, StatsObject},
    quarantine_log::QuarantineLog,
    shared::Shared,
};
use dunnage_buffer::{Duplicates, NewMessage, Observer, Provenance, Totals, WriteOp};
use std::{
    sync::Arc,
    time::{Duration, Instant},
};

/// Most messages in the event stream, per second and at once.
const PER_SECOND: f64 = 50.0;
/// Larger messages, in bytes of JSON or of hexadecimal digits, are left out of the event stream.
const MAX_BYTES: usize = 64 << 10;

/// The observer of the writer.
pub struct Commits {
    shared: Arc<Shared>,
    quarantine_log: QuarantineLog,
    allowance: f64,
    at: Instant,
}

impl Commits {
    /// Creates an observer for the writer of `shared`.
    pub fn new(shared: Arc<Shared>) -> Commits {
        let quarantine_log = QuarantineLog::new();
        Commits { shared, quarantine_log, allowance: PER_SECOND, at: Instant::now() }
    }

    /// Returns how many events may be sent now.
    fn allow(&mut self) -> usize {
        let now = Instant::now();
        let earned = now.duration_since(self.at).as_secs_f64() * PER_SECOND;
        self.allowance = (self.allowance + earned).min(PER_SECOND);
        self.at = now;
        self.allowance as usize
    }

    /// Sends a sample of a batch: its last entries, which are the newest.
    fn show(&mut self, batch: &[WriteOp], now: &Totals) {
        let allowed = self.allow().min(batch.len());
        let sample = &batch[batch.len() - allowed..];
        let count = |of: fn(&&WriteOp) -> bool| sample.iter().filter(of).count() as i64;
        let mut message_id = now.last_message_id - count(|entry| matches!(entry, WriteOp::Message(..)));
        let mut reject_id = now.last_quarantine_id - count(|entry| matches!(entry, WriteOp::Quarantine(..)));
        for entry in sample {
            match entry {
                WriteOp::Message(message, _) => {
                    message_id += 1;
                    if message.json.len() <= MAX_BYTES
                        && let Some(object) = MessageObject::of_new(message_id, message)
                    {
                        self.shared.live.send("message", &object);
                    }
                }
                WriteOp::Quarantine(quarantined, _) => {
                    reject_id += 1;
                    if 2 * quarantined.raw.len() <= MAX_BYTES {
                        let profiles = self.shared.profiles.load();
                        let object = RejectObject::of_new(reject_id, quarantined, &profiles);
                        self.shared.live.send("quarantine", &object);
                    }
                }
                WriteOp::Duplicate(_) | WriteOp::Change(..) | WriteOp::Damaged(..) => {}
                WriteOp::EnforceRetention | WriteOp::CheckFiles | WriteOp::Stop => {}
            }
        }
        self.allowance -= allowed as f64;
    }
}

impl Observer for Commits {
    fn committed(&mut self, batch: &[WriteOp], before: &Totals, now: &Totals, took: Duration) {
        let shared = &self.shared;
        shared.metrics.stored(before, now);
        let profiles = shared.profiles.load();
        for entry in batch {
            match entry {
                WriteOp::Message(
                    NewMessage { provenance: Provenance { device, received_at, .. }, .. },
                    _,
                ) => {
                    shared.metrics.silence.heard(&profiles, device, *received_at);
                }
                WriteOp::Quarantine(quarantined, _) => {
                    shared.metrics.quarantined(quarantined.kind);
                    self.quarantine_log.add(quarantined);
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

    fn dedup_by_payload(&self, device: &str) -> bool {
        self.shared.profiles.load().dedup_by_payload(device)
    }

    fn remembered(&mut self, duplicates: &Duplicates) {
        self.shared.metrics.remembered(duplicates);
    }

    fn failed(&mut self) {
        self.shared.metrics.write_errors.inc();
    }
}

/// Sends the stats once a second if they have changed and someone watches. Those of outputs change without new messages, too.
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
