//! Reacts to commits: updates counts and metrics, writes the log, and sends a sample of the messages to the event stream.

use crate::{
    api::objects::{MessageObject, RejectObject, StatsObject},
    operations::register,
    quarantine_log::QuarantineLog,
    rates,
    state::GatewayState,
};
use dunnage_buffer::{Devices, Duplicates, InQuarantine, NewMessage, Observer, Sent, Totals, WriteOp};
use std::{
    collections::HashMap,
    sync::Arc,
    time::{Duration, Instant},
};
use tokio::{runtime::Handle, time::MissedTickBehavior};

/// Most messages in the event stream, per second and at once.
const PER_SECOND: f64 = 50.0;
/// Larger messages, in bytes of JSON or of hexadecimal digits, are left out of the event stream.
const MAX_BYTES: usize = 64 << 10;

/// The observer of the writer.
pub struct Commits {
    state: Arc<GatewayState>,
    quarantine_log: QuarantineLog,
    allowance: f64,
    at: Instant,
    runtime: Handle,
}

impl Commits {
    /// Creates an observer for the writer of `state`.
    pub fn new(state: Arc<GatewayState>) -> Commits {
        let quarantine_log = QuarantineLog::new();
        Commits {
            state,
            quarantine_log,
            allowance: PER_SECOND,
            at: Instant::now(),
            runtime: Handle::current(),
        }
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
        let profiles = self.state.ingest().profiles.load();
        for entry in sample {
            match entry {
                WriteOp::Message(message, _) => {
                    message_id += 1;
                    if message.json.len() <= MAX_BYTES
                        && let Some(object) = MessageObject::of_new(&now.name, message_id, message, &profiles)
                    {
                        self.state.live.send("message", &message.provenance.device, &object);
                    }
                }
                WriteOp::Quarantine(quarantined, _) => {
                    reject_id += 1;
                    if 2 * quarantined.raw.len() <= MAX_BYTES {
                        let object = RejectObject::of_new(reject_id, quarantined, &profiles);
                        self.state.live.send("quarantine", &quarantined.provenance.device, &object);
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
        let state = &self.state;
        state.metrics.stored(before, now);
        state.ingest().committed(batch, before);
        let profiles = state.ingest().profiles.load();
        for entry in batch {
            match entry {
                WriteOp::Message(NewMessage { provenance, .. }, _) => {
                    let silence = &state.ingest().metrics.silence;
                    silence.heard(&profiles, &provenance.into(), provenance.received_at);
                }
                WriteOp::Quarantine(quarantined, _) => {
                    state.metrics.quarantined(quarantined.kind);
                    self.quarantine_log.add(quarantined);
                }
                _ => {}
            }
        }
        state.metrics.batch_messages.observe(batch.len() as f64);
        state.metrics.commit_seconds.observe(took.as_secs_f64());
        if state.live.is_watched() {
            self.show(batch, now);
        }
    }

    fn counted(&mut self, batch: &[WriteOp], devices: &Devices, left: &[String]) {
        let profiles = self.state.ingest().profiles.load_full();
        self.state.fleet.committed(&profiles, batch, devices, left);
    }

    fn reopened(&mut self, quarantined: HashMap<String, InQuarantine>) {
        self.state.fleet.reopened(quarantined);
        // On a task of its own, because this is the writer, which makes it durable.
        self.runtime.spawn(register::restore(Arc::clone(&self.state)));
    }

    fn dedup_by_payload(&self, sent: Sent<'_>) -> bool {
        self.state.ingest().profiles.load().dedup_by_payload(&sent.into())
    }

    fn remembered(&mut self, duplicates: &Duplicates) {
        self.state.ingest().metrics.remembered(duplicates);
    }

    fn failed(&mut self) {
        self.state.metrics.write_errors.inc();
    }
}

/// Decodes deltas again whose reference arrived after them.
pub async fn store_late_deltas(state: Arc<GatewayState>) {
    state.ingest().find_late_deltas().await;
    loop {
        let stored = state.ingest().store_late_deltas().await;
        state.metrics.requeued.inc_by(stored);
    }
}

/// Adds a point to the rates each minute, without end.
pub async fn measure_rates(state: Arc<GatewayState>) {
    let mut minutes = tokio::time::interval(rates::INTERVAL);
    minutes.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        minutes.tick().await;
        state.rates.end_minute(&state.buffer().stats.totals(), state.metrics.requeued.get());
    }
}

/// Sends the stats once a second if they have changed and someone watches. Those of outputs change without new messages, too.
pub async fn tell_stats(state: Arc<GatewayState>) {
    let mut seconds = tokio::time::interval(Duration::from_secs(1));
    let mut last = None;
    loop {
        seconds.tick().await;
        if !state.live.is_watched() {
            continue;
        }
        let now = StatsObject::of(&state);
        if last.as_ref() != Some(&now) {
            state.live.stats(&now);
            last = Some(now);
        }
    }
}
