//! A client of the attack: it schedules and generates its frames.

use super::{
    Input,
    frames::Frames,
    mutate::{Random, mutate},
};
use crate::dtls::Key;
use std::{
    net::SocketAddr,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering::Relaxed},
    },
    time::{Duration, Instant},
};

/// How much lost time the clients make up for after the server kept them waiting.
const BURST: Duration = Duration::from_millis(10);
/// Delay between two checks while the server's queue is full.
const QUEUE_CHECK_INTERVAL: Duration = Duration::from_millis(5);

/// The frames to send, their destination and their rate.
pub struct Attack {
    pub input: Input,
    pub address: SocketAddr,
    pub frames: Frames,
    /// Keys of DTLS clients: the gateway's key, and a wrong one.
    pub keys: Vec<Key>,
    /// Whether frames are mutated before they are sent.
    pub mutated: bool,
    pub count: u64,
    /// Frames a second.
    pub rate: u64,
    /// The seed of the mutations.
    pub seed: u64,
    pub sent: AtomicU64,
    /// Whether the server's queue is full.
    pub queue_is_full: AtomicBool,
    /// Connections that the server did not close after the client had.
    pub not_closed: AtomicU64,
}

/// The time of the next frame.
struct Pace(Mutex<Instant>);

impl Pace {
    /// Reserves the next time slot at `rate` frames per second.
    fn next(&self, rate: u64) -> Instant {
        let mut next = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let due = (*next).max(Instant::now() - BURST);
        *next = due + Duration::from_nanos(1_000_000_000 / rate);
        due
    }
}

/// One of the clients.
pub struct Client {
    pub attack: Arc<Attack>,
    pub random: Random,
    pace: Arc<Pace>,
}

impl Client {
    /// `count` clients of `attack`, which together keep its rate.
    pub fn all(attack: &Arc<Attack>, count: u64) -> impl Iterator<Item = Client> {
        let pace = Arc::new(Pace(Mutex::new(Instant::now())));
        (0..count).map(move |number| Client {
            attack: Arc::clone(attack),
            random: Random::new(attack.seed * count + number + 1),
            pace: Arc::clone(&pace),
        })
    }

    /// Waits until the next frame is due; `None` after the last one.
    pub async fn wait_for_turn(&self) -> Option<()> {
        let number = self.attack.sent.fetch_add(1, Relaxed);
        if number >= self.attack.count {
            self.attack.sent.fetch_sub(1, Relaxed);
            return None;
        }
        tokio::time::sleep_until(self.pace.next(self.attack.rate).into()).await;
        while self.attack.queue_is_full.load(Relaxed) {
            tokio::time::sleep(QUEUE_CHECK_INTERVAL).await;
        }
        Some(())
    }

    /// Waits until the next frame is due and returns it; `None` after the last one.
    pub async fn frame(&mut self) -> Option<Vec<u8>> {
        self.wait_for_turn().await?;
        let valid = &self.attack.frames.valid;
        let mut frame = self.random.pick(valid).clone();
        if !self.attack.mutated {
            return Some(frame.bytes());
        }
        // Half of the mutations change only the body of an HTTP request, so that they reach more than the HTTP parser.
        if self.random.below(2) == 0 {
            mutate(&mut frame.body, valid, &mut self.random);
            return Some(frame.bytes());
        }
        let mut frame = frame.bytes();
        mutate(&mut frame, valid, &mut self.random);
        Some(frame)
    }
}
