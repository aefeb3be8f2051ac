//! What a connection has of Sparkplug: the will, and what arrives from hosts: the state of the primary host, and commands to the node.

use super::{
    datatype::DataType,
    payload::{Metric, Payload, Value},
    topics::Topics,
};
use crate::publisher::Protocol;
use dunnage_base::clock;
use dunnage_clients::mqtt::{Publication, Publish};
use prost::Message;
use serde::Deserialize;
use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};
use tokio::sync::watch;

/// The metric that numbers connections, and the one that hosts set.
const BD_SEQ: &str = "bdSeq";
const REBIRTH: &str = "Node Control/Rebirth";
/// Largest payload of a host that is read: decoded, it may take 50 times as much.
const HOST_BYTES: usize = 16 << 10;

/// What connections and deliveries share.
pub struct Link {
    topics: Arc<Topics>,
    host: watch::Sender<Host>,
    /// Whether a host asks for all births.
    rebirth: AtomicBool,
}

/// What is known of the primary host.
#[derive(Debug, Clone, Copy, Default)]
pub struct Host {
    /// The connection over which it is known. A later one begins anew.
    session: u64,
    state: Option<State>,
    /// Whether it has left since it was online. Then the connection must end, also if the host comes back before.
    is_lost: bool,
}

/// The payload of a STATE message.
#[derive(Debug, Clone, Copy, Deserialize)]
struct State {
    online: bool,
    /// In milliseconds since 1970.
    timestamp: f64,
}

impl Link {
    pub fn new(topics: Arc<Topics>) -> Link {
        Link { topics, host: watch::Sender::default(), rebirth: AtomicBool::new(false) }
    }

    /// Returns the metrics of an NBIRTH over a connection; `attempt` is the number of CONNECT packets before.
    pub fn birth(attempt: u64) -> Vec<Metric> {
        let rebirth = Metric::new(REBIRTH, now(), DataType::BOOLEAN.number(), Some(Value::Boolean(false)));
        vec![number(attempt), rebirth]
    }

    /// Returns the state of the primary host, as it changes.
    pub fn host(&self) -> watch::Receiver<Host> {
        self.host.subscribe()
    }

    /// Returns whether a host has asked for all births, and whether it is the time to send them. If so, the request is done.
    pub fn take_rebirth(&self) -> bool {
        self.rebirth.swap(false, Ordering::Relaxed)
    }

    fn hear_state(&self, session: u64, payload: &[u8]) {
        let Ok(state) = serde_json::from_slice::<State>(payload) else {
            tracing::debug!("a state of the primary host cannot be read");
            return;
        };
        self.host.send_modify(|host| {
            if host.session != session {
                *host = Host { session, ..Host::default() };
            }
            // The will of an earlier connection of the host may come after its birth over a later one.
            if host.state.is_none_or(|before| state.timestamp >= before.timestamp) {
                host.is_lost |= host.state.is_some_and(|before| before.online) && !state.online;
                host.state = Some(state);
            }
        });
    }
}

impl Host {
    /// Returns whether the host is online, as it says over the connection `session`; `None` if it has said nothing.
    pub fn is_online(&self, session: u64) -> Option<bool> {
        self.state.filter(|_| self.session == session).map(|state| state.online && !self.is_lost)
    }

    /// Returns whether the host has left during the connection `session`.
    pub fn is_lost(&self, session: u64) -> bool {
        self.session == session && self.is_lost
    }
}

impl Protocol for Link {
    fn will(&self, attempt: u64) -> Publication {
        let death = Payload { timestamp: Some(now()), metrics: vec![number(attempt)], seq: None };
        let payload = death.encode_to_vec().into();
        Publication { topic: self.topics.ndeath.clone(), payload, ..Publication::default() }
    }

    fn filters(&self) -> Vec<String> {
        std::iter::once(self.topics.ncmd.clone()).chain(self.topics.state.clone()).collect()
    }

    fn receive(&self, session: u64, message: &Publish) {
        if message.payload.len() > HOST_BYTES {
            return;
        }
        if Some(&message.topic) == self.topics.state.as_ref() {
            self.hear_state(session, &message.payload);
        } else if message.topic == self.topics.ncmd && !message.retain && is_rebirth(&message.payload) {
            self.rebirth.store(true, Ordering::Relaxed);
        }
    }
}

/// Returns the metric with the number of a connection, which its NBIRTH and its NDEATH have in common.
fn number(attempt: u64) -> Metric {
    Metric::new(BD_SEQ, now(), DataType::INT64.number(), Some(Value::Long(attempt % 256)))
}

/// Returns whether a command asks for all births.
fn is_rebirth(payload: &[u8]) -> bool {
    let asks = |metric: &Metric| metric.name() == REBIRTH && metric.value == Some(Value::Boolean(true));
    Payload::decode(payload).is_ok_and(|payload| payload.metrics.iter().any(asks))
}

/// Returns the current time, in milliseconds since 1970.
pub fn now() -> u64 {
    millis(clock::now())
}

/// Returns a time in milliseconds since 1970; `micros` are microseconds.
pub fn millis(micros: i64) -> u64 {
    u64::try_from(micros / 1000).unwrap_or(0)
}
