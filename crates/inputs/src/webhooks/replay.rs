//! Detects replays of signed requests. A signature says who sent a request, but not that it is sent for the first time. Within the
//! duplicate window, a replay is a duplicate. After that, the order of the device's messages decides.

use super::CLOCKS;
use crate::provider::envelope::{Signed, unauthorized};
use dunnage_base::clock;
use dunnage_buffer::Last;
use dunnage_ingest::{Ingest, Rejected};
use serde::Deserialize;
use std::{
    collections::{HashSet, VecDeque},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

/// How many quarantined messages are remembered: the default size of the quarantine.
const REMEMBERED: usize = 10_000;

/// The signed messages that this process has put into the quarantine. They are not in the duplicate window, and without this memory an
/// attacker could push everything else out of the quarantine by repeating one of them.
#[derive(Default)]
pub struct Quarantined(Mutex<Names>);

/// The names of these messages.
#[derive(Default)]
struct Names {
    known: HashSet<Arc<str>>,
    /// The oldest first.
    order: VecDeque<Arc<str>>,
}

impl Quarantined {
    /// Remembers that the message `key` of `device` is in the quarantine.
    pub fn add(&self, device: &str, key: &str) {
        let Names { known, order } = &mut *self.lock();
        let name: Arc<str> = name(device, key).into();
        if known.insert(Arc::clone(&name)) {
            order.push_back(name);
        }
        if order.len() > REMEMBERED
            && let Some(oldest) = order.pop_front()
        {
            known.remove(&oldest);
        }
    }

    /// Returns whether the message `key` of `device` went into the quarantine.
    pub fn knows(&self, device: &str, key: &str) -> bool {
        self.lock().known.contains(&*name(device, key))
    }

    fn lock(&self) -> MutexGuard<'_, Names> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns a unique name, because a key contains no space.
fn name(device: &str, key: &str) -> String {
    format!("{device} {key}")
}

/// Returns whether the signed message `key` is the last one that was stored of `device`. Fails if it may have been stored before: it was
/// signed longer ago than `fresh`, and was not sent after the last stored message.
pub async fn is_last(
    ingest: &Ingest,
    fresh: Duration,
    device: &str,
    key: &str,
    signed: &Signed,
) -> Result<bool, Rejected> {
    if signed.at.is_some_and(|at| is_fresh(at, clock::now(), fresh)) {
        return Ok(false);
    }
    let of = device.to_owned();
    let last = ingest.buffer.readers.last_of(of).await.map_err(|_| Rejected::not_written())?;
    let Some(last) = last else { return Ok(false) };
    if last.key.as_deref() == Some(key) {
        return Ok(true);
    }
    if signed.sent.is_some_and(|sent| sent > sent_at(&last)) {
        return Ok(false);
    }
    tracing::warn!(device, key, "a signed message is refused, as it may be a replay");
    Err(unauthorized("the signature is too old: a newer message of the device is already stored"))
}

/// Returns whether a message signed `at` would still be known as a duplicate. Apart from the difference of the clocks, it cannot have
/// arrived before it was signed.
fn is_fresh(at: i64, now: i64, fresh: Duration) -> bool {
    let age = now.saturating_sub(at);
    let micros = |duration: Duration| i64::try_from(duration.as_micros()).unwrap_or(i64::MAX);
    -micros(CLOCKS) <= age && age < micros(fresh)
}

/// Returns when the device sent its last message, or when that arrived if this is unknown.
fn sent_at(last: &Last) -> i64 {
    #[derive(Deserialize)]
    struct Origin {
        sent_at: String,
    }
    let origin = last.origin.as_deref().and_then(|origin| serde_json::from_str::<Origin>(origin).ok());
    origin.and_then(|origin| clock::parse(&origin.sent_at)).unwrap_or(last.received_at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signature_is_fresh_for_less_than_what_came_is_remembered() {
        let (now, second) = (1_700_000_000_000_000, 1_000_000);
        let fresh = |age: i64| is_fresh(now - age * second, now, Duration::from_secs(3540));
        assert!(fresh(0) && fresh(3539) && fresh(-60));
        assert!(!fresh(3540) && !fresh(-61) && !fresh(1 << 40));
        assert!(!is_fresh(now, now, Duration::ZERO));
    }

    #[test]
    fn the_time_that_the_provider_says_comes_before_that_of_arrival() {
        let last =
            |origin: Option<&str>| Last { key: None, received_at: 7, origin: origin.map(str::to_owned) };
        assert_eq!(sent_at(&last(None)), 7);
        assert_eq!(sent_at(&last(Some(r#"{"input":"x"}"#))), 7);
        assert_eq!(sent_at(&last(Some(r#"{"sent_at":"1970-01-01T00:00:01.000Z"}"#))), 1_000_000);
    }
}
