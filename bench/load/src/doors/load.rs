//! What one run over one door finds, however its clients speak.

use std::time::Duration;

/// What one client saw.
#[derive(Default)]
pub struct Seen {
    /// How long each acknowledgement took, in microseconds, of those that came before the end.
    pub micros: Vec<u32>,
    /// Acknowledgements that came after the end, to what was sent before.
    pub late: u64,
    /// Messages that were refused or never answered.
    pub failures: u64,
    /// The first thing that went wrong.
    pub error: Option<String>,
}

/// What all clients saw.
pub struct Load {
    pub rps: f64,
    pub p95_ms: f64,
    pub failures: u64,
    /// Messages that were acknowledged, also late ones.
    pub acknowledged: u64,
}

impl Seen {
    /// The client ends, with so many messages unanswered.
    pub fn broken(mut self, unanswered: u64, error: &impl ToString) -> Seen {
        self.failures += unanswered;
        self.error.get_or_insert_with(|| error.to_string());
        self
    }
}

impl Load {
    /// The same in messages, when each request had so many.
    pub fn of_batches(self, messages: usize) -> Load {
        Load {
            rps: self.rps * messages as f64,
            failures: self.failures * messages as u64,
            acknowledged: self.acknowledged * messages as u64,
            ..self
        }
    }
}

/// Puts together what clients saw in a run of `length`.
pub fn sum(all: &[Seen], length: Duration) -> Load {
    if let Some(error) = all.iter().find_map(|seen| seen.error.as_ref()) {
        eprintln!("a client failed: {error}");
    }
    let mut micros: Vec<u32> = all.iter().flat_map(|seen| &seen.micros).copied().collect();
    Load {
        rps: micros.len() as f64 / length.as_secs_f64(),
        failures: all.iter().map(|seen| seen.failures).sum(),
        acknowledged: micros.len() as u64 + all.iter().map(|seen| seen.late).sum::<u64>(),
        p95_ms: percentile_95(&mut micros),
    }
}

/// The 95th percentile of microseconds, in milliseconds; 0 of none.
pub fn percentile_95(micros: &mut [u32]) -> f64 {
    let at = micros.len() * 95 / 100;
    match micros.len() {
        0 => 0.0,
        _ => f64::from(*micros.select_nth_unstable(at).1) / 1e3,
    }
}
