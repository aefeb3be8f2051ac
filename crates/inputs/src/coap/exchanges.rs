//! Detects duplicate messages (RFC 7252, 4.5). A duplicate gets the same answer as before and has no other effect.

use super::{endpoint::Endpoint, reply::Reply};
use dunnage_buffer::Readers;
use std::{
    collections::{HashMap, VecDeque},
    net::SocketAddr,
    time::{Duration, Instant},
};

/// How long a duplicate can arrive after the message: `EXCHANGE_LIFETIME` (RFC 7252, 4.8.2).
pub const LIFETIME: Duration = Duration::from_secs(247);
/// The maximum number of remembered messages: 7/8 of a power of two, which fills a hash table.
const MAX_EXCHANGES: usize = (1 << 19) / 8 * 7;

/// Identifies a message. Two datagrams with the same exchange are duplicates.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Exchange {
    /// The sender.
    pub endpoint: Endpoint,
    /// Its message ID.
    pub id: u16,
}

/// The state of a message.
#[derive(Debug)]
pub enum State {
    /// It is not on disk yet.
    Taken {
        /// Whether it has been acknowledged, so that the answer comes separately.
        acknowledged: bool,
    },
    /// Its acknowledgement had the answer 2.04.
    Changed,
    /// Its acknowledgement was this datagram.
    Answered(Box<[u8]>),
    /// It was acknowledged, and the answer comes separately.
    Separate,
}

/// The recent messages.
#[derive(Default)]
pub struct Exchanges {
    known: HashMap<Exchange, State>,
    /// The oldest first.
    order: VecDeque<(Exchange, Instant)>,
}

impl Exchanges {
    /// Returns the state of a message that has arrived before.
    pub fn find(&mut self, exchange: &Exchange) -> Option<&mut State> {
        self.known.get_mut(exchange)
    }

    /// Remembers a new message.
    pub fn begin(&mut self, exchange: Exchange, now: Instant) {
        self.known.insert(exchange, State::Taken { acknowledged: false });
        self.order.push_back((exchange, now));
    }

    /// Remembers that the acknowledgement `datagram` contained the answer `reply`.
    pub fn answered(&mut self, exchange: &Exchange, reply: &Reply, datagram: &[u8]) {
        if let Some(state) = self.known.get_mut(exchange) {
            *state = if reply.is_plain() { State::Changed } else { State::Answered(datagram.into()) };
        }
    }

    /// Remembers that the answer comes separately.
    pub fn separate(&mut self, exchange: &Exchange) {
        if let Some(state) = self.known.get_mut(exchange) {
            *state = State::Separate;
        }
    }

    /// Removes messages that cannot be repeated any more, and the oldest ones beyond the maximum. Returns the number of the latter.
    pub fn remove_expired(&mut self, now: Instant) -> u64 {
        let mut forgotten = 0;
        // Unanswered messages are few, and are kept.
        for _ in 0..self.order.len() {
            let Some((exchange, at)) = self.order.front().copied() else { break };
            let expired = now.saturating_duration_since(at) >= LIFETIME;
            if !expired && self.order.len() <= MAX_EXCHANGES {
                break;
            }
            self.order.pop_front();
            if matches!(self.known.get(&exchange), Some(State::Taken { .. })) {
                self.order.push_back((exchange, at));
                continue;
            }
            self.known.remove(&exchange);
            forgotten += u64::from(!expired);
        }
        forgotten
    }

    /// Loads the messages that an earlier process stored, because their acknowledgements may not have arrived. `now` is in microseconds
    /// since 1970.
    pub async fn load(&mut self, input: &str, readers: &Readers, now: i64) {
        let lifetime = i64::try_from(LIFETIME.as_micros()).unwrap_or(i64::MAX);
        let found = readers.origins(now.saturating_sub(lifetime), MAX_EXCHANGES);
        let begun = Instant::now();
        for (received_at, origin) in found.await.unwrap_or_default().into_iter().rev() {
            let age = Duration::from_micros(now.saturating_sub(received_at).try_into().unwrap_or_default());
            if let Some(exchange) = read_origin(input, &origin) {
                self.begin(exchange, begun.checked_sub(age).unwrap_or(begun));
                self.known.insert(exchange, State::Changed);
            }
        }
    }
}

/// Returns the JSON to store with the message of an exchange; with DTLS, it includes the identity of the sender.
pub fn origin(input: &str, exchange: &Exchange, identity: Option<&str>) -> String {
    let Exchange { endpoint: Endpoint { address, .. }, id } = exchange;
    let mut origin = serde_json::json!({"input": input, "endpoint": address, "message_id": id});
    if let Some(identity) = identity {
        origin["identity"] = identity.into();
    }
    origin.to_string()
}

fn read_origin(input: &str, origin: &str) -> Option<Exchange> {
    #[derive(serde::Deserialize)]
    struct Origin<'a> {
        input: &'a str,
        endpoint: SocketAddr,
        message_id: u16,
    }
    let Origin { input: of, endpoint, message_id: id } = serde_json::from_str(origin).ok()?;
    (of == input).then_some(Exchange { endpoint: endpoint.into(), id })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn exchange(port: u16, id: u16) -> Exchange {
        Exchange { endpoint: SocketAddr::from(([127, 0, 0, 1], port)).into(), id }
    }

    #[test]
    fn the_memory_is_bounded_and_forgets_the_oldest_answered() {
        let mut exchanges = Exchanges::default();
        let begun = Instant::now();
        for n in 0..MAX_EXCHANGES + 4 {
            let exchange = exchange((n >> 16) as u16, n as u16);
            exchanges.begin(exchange, begun);
            if n != 1 {
                exchanges.separate(&exchange);
            }
        }
        assert_eq!(exchanges.remove_expired(begun), 4);
        assert_eq!((exchanges.known.len(), exchanges.order.len()), (MAX_EXCHANGES, MAX_EXCHANGES));
        assert!(exchanges.find(&exchange(0, 4)).is_none());
        assert!(matches!(exchanges.find(&exchange(0, 1)), Some(State::Taken { .. })));
        assert!(exchanges.find(&exchange(0, 5)).is_some());
        assert_eq!(exchanges.remove_expired(begun + LIFETIME), 0);
        assert_eq!((exchanges.known.len(), exchanges.order.len()), (1, 1));
    }

    #[test]
    fn an_exchange_is_read_from_its_origin_by_its_input_only() {
        let exchange = exchange(4711, 7);
        let origin = origin("coap", &exchange, None);
        assert_eq!(read_origin("coap", &origin), Some(exchange));
        assert_eq!(read_origin("other", &origin), None);
        assert_eq!(read_origin("coap", "{}"), None);
    }
}
