//! The results of one run through one input, whatever its protocol.

use std::time::Duration;

/// The results of one client.
#[derive(Default)]
pub struct ClientResult {
    /// Microseconds until each acknowledgement that arrived before the end of the run.
    pub micros: Vec<u32>,
    /// Acknowledgements that arrived after the end, for messages that were sent before it.
    pub late: u64,
    /// Messages that were rejected or never answered.
    pub failures: u64,
    /// The first error.
    pub error: Option<String>,
}

/// The results of all clients.
pub struct Totals {
    pub rps: f64,
    pub p95_ms: f64,
    pub failures: u64,
    /// Acknowledged messages, including late ones.
    pub acknowledged: u64,
}

impl ClientResult {
    /// The result of a client that ended with `error`. Counts its `unanswered` messages as failures.
    pub fn fail(mut self, unanswered: u64, error: &impl ToString) -> ClientResult {
        self.failures += unanswered;
        self.error.get_or_insert_with(|| error.to_string());
        self
    }
}

impl Totals {
    /// Converts results in requests to results in messages, with `messages` per request.
    pub fn of_batches(self, messages: usize) -> Totals {
        Totals {
            rps: self.rps * messages as f64,
            failures: self.failures * messages as u64,
            acknowledged: self.acknowledged * messages as u64,
            ..self
        }
    }
}

/// Combines the results of the clients in a run of `length`.
pub fn total(all: &[ClientResult], length: Duration) -> Totals {
    if let Some(error) = all.iter().find_map(|result| result.error.as_ref()) {
        eprintln!("a client failed: {error}");
    }
    let mut micros: Vec<u32> = all.iter().flat_map(|result| &result.micros).copied().collect();
    Totals {
        rps: micros.len() as f64 / length.as_secs_f64(),
        failures: all.iter().map(|result| result.failures).sum(),
        acknowledged: micros.len() as u64 + all.iter().map(|result| result.late).sum::<u64>(),
        p95_ms: percentile_95(&mut micros),
    }
}

/// The 95th percentile of `micros`, in milliseconds; 0 if it is empty.
pub fn percentile_95(micros: &mut [u32]) -> f64 {
    let at = micros.len() * 95 / 100;
    match micros.len() {
        0 => 0.0,
        _ => f64::from(*micros.select_nth_unstable(at).1) / 1e3,
    }
}
