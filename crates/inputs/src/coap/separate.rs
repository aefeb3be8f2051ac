//! Separate responses, which follow an empty acknowledgement (RFC 7252, 5.2.2): retransmits them until they are acknowledged.

use super::endpoint::Endpoint;
use std::{
    collections::{BTreeMap, HashMap},
    time::{Duration, Instant},
};

/// `ACK_TIMEOUT` and `MAX_RETRANSMIT` (4.8). The first wait is up to half as long again.
const TIMEOUT: Duration = Duration::from_secs(2);
const RETRANSMIT: u32 = 4;
/// The maximum number of answers that are retransmitted; further ones are sent once.
const MAX_RETRANSMITTED: usize = 8192;

/// The answers that have not been acknowledged.
#[derive(Default)]
pub struct Separate {
    waiting: HashMap<(Endpoint, u16), Waiting>,
    /// When each is due. The number distinguishes those of the same instant.
    due: BTreeMap<(Instant, u64), (Endpoint, u16)>,
    next: u64,
}

struct Waiting {
    datagram: Vec<u8>,
    wait: Duration,
    sent: u32,
    due: (Instant, u64),
}

impl Separate {
    /// Schedules retransmissions of the answer `datagram`, which was sent to `endpoint` under the message ID `id`.
    pub fn sent(&mut self, endpoint: Endpoint, id: u16, datagram: Vec<u8>, now: Instant) {
        if self.waiting.len() < MAX_RETRANSMITTED {
            let wait = TIMEOUT + TIMEOUT.mul_f64(fastrand::f64() / 2.0);
            let due = self.schedule((endpoint, id), now + wait);
            if let Some(old) = self.waiting.insert((endpoint, id), Waiting { datagram, wait, sent: 0, due }) {
                self.due.remove(&old.due);
            }
        }
    }

    /// Ends the retransmissions of the answer `id` to `endpoint`, which was acknowledged or rejected.
    pub fn settle(&mut self, endpoint: Endpoint, id: u16) {
        if let Some(waiting) = self.waiting.remove(&(endpoint, id)) {
            self.due.remove(&waiting.due);
        }
    }

    /// Returns when the next retransmission is due.
    pub fn next(&self) -> Option<Instant> {
        self.due.first_key_value().map(|((at, _), _)| *at)
    }

    /// Returns a retransmission that is due at `now`, and its receiver.
    pub fn due(&mut self, now: Instant) -> Option<(Endpoint, Vec<u8>)> {
        while self.next().is_some_and(|at| at <= now) {
            let (_, key) = self.due.pop_first()?;
            let Some(mut waiting) = self.waiting.remove(&key) else { continue };
            if waiting.sent < RETRANSMIT {
                waiting.sent += 1;
                waiting.wait *= 2;
                waiting.due = self.schedule(key, now + waiting.wait);
                let datagram = waiting.datagram.clone();
                self.waiting.insert(key, waiting);
                return Some((key.0, datagram));
            }
        }
        None
    }

    fn schedule(&mut self, key: (Endpoint, u16), at: Instant) -> (Instant, u64) {
        self.next += 1;
        self.due.insert((at, self.next), key);
        (at, self.next)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_sent_five_times_at_most_and_not_after_it_arrived() {
        let endpoint = Endpoint::from(std::net::SocketAddr::from(([127, 0, 0, 1], 1)));
        let begun = Instant::now();
        let mut separate = Separate::default();
        separate.sent(endpoint, 1, vec![1], begun);
        separate.sent(endpoint, 2, vec![2], begun);
        assert!(separate.due(begun).is_none());
        separate.settle(endpoint, 2);
        let mut times = Vec::new();
        let mut now = begun;
        while let Some(next) = separate.next() {
            now = next;
            times.extend(separate.due(now).map(|sent| (now - begun, sent)));
        }
        assert_eq!(times.len(), 4);
        assert!(times.iter().all(|(_, sent)| *sent == (endpoint, vec![1])));
        assert!(times[0].0 >= TIMEOUT && times[0].0 <= TIMEOUT.mul_f64(1.5));
        // MAX_TRANSMIT_WAIT.
        assert!(now - begun <= Duration::from_secs(93));
        assert!(separate.waiting.is_empty() && separate.due.is_empty());
    }
}
