//! Metrics of listeners and protocols. They count from the start of the process.

use crate::connections::Counts;
use prometheus_client::{
    encoding::EncodeLabelSet,
    metrics::{counter::Counter, family::Family, gauge::Gauge},
    registry::Registry,
};

/// The name of the HTTP listener, where inputs have theirs.
const HTTP: &str = "http";

/// Labels of metrics by input, with its name in the configuration.
#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct ByName {
    input: String,
}

/// Labels of metrics by listener and reason.
#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Closed {
    input: String,
    reason: &'static str,
}

/// Labels of metrics by input and outcome of a datagram.
#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct ByOutcome {
    input: &'static str,
    outcome: &'static str,
}

/// Labels of metrics by provider and event.
#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct ByEvent {
    provider: &'static str,
    event: &'static str,
}

/// Labels of metrics by result.
#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct ByResult {
    result: &'static str,
}

/// Counts DTLS handshakes by their results.
#[derive(Debug, Clone, Default)]
pub struct Handshakes(Family<ByResult, Counter>);

impl Handshakes {
    /// Counts one handshake.
    pub fn count(&self, result: &'static str) {
        self.0.get_or_create(&ByResult { result }).inc();
    }
}

/// The metrics of all listeners.
#[derive(Default)]
pub struct Metrics {
    events: Family<ByEvent, Counter>,
    datagrams: Family<ByOutcome, Counter>,
    /// CoAP exchanges that were forgotten while their messages could still be repeated.
    pub forgotten_exchanges: Counter,
    connections: Gauge,
    closed_connections: Family<Closed, Counter>,
    input_connections: Family<ByName, Gauge>,
    /// DTLS handshakes by their results.
    pub dtls: Handshakes,
}

impl Metrics {
    /// Creates metrics that are zero, and registers them.
    pub fn new(registry: &mut Registry) -> Metrics {
        let metrics = Metrics::default();
        let r = registry;
        r.register("hook_events", "Requests of providers, and messages of their brokers and streams, that carry no message of a device", metrics.events.clone());
        r.register("datagrams", "Datagrams of inputs over UDP, by outcome", metrics.datagrams.clone());
        r.register(
            "forgotten_exchanges",
            "CoAP messages forgotten while their sender could still repeat them",
            metrics.forgotten_exchanges.clone(),
        );
        r.register("open_connections", "Open connections of the HTTP input", metrics.connections.clone());
        r.register(
            "closed_connections",
            "Connections closed for lack of room: idle ones, or new ones from an address that had too many",
            metrics.closed_connections.clone(),
        );
        r.register(
            "dtls_handshakes",
            "DTLS handshakes of clients that proved their address, by result",
            metrics.dtls.0.clone(),
        );
        r.register(
            "input_connections",
            "Open connections and DTLS sessions of the inputs other than HTTP",
            metrics.input_connections.clone(),
        );
        metrics
    }

    /// Returns the gauge of open connections of the input `name`.
    pub fn input_connections(&self, name: &str) -> Gauge {
        self.input_connections.get_or_create_owned(&ByName { input: name.to_owned() })
    }

    /// Returns the number of open connections of the HTTP listener.
    pub fn open_http_connections(&self) -> Option<i64> {
        Some(self.connections.get())
    }

    /// Returns the number of open connections or DTLS sessions of the input `name`, if it has such.
    pub fn open_connections(&self, name: &str) -> Option<i64> {
        self.input_connections.get(&ByName { input: name.to_owned() }).map(|open| open.get())
    }

    /// Returns the connection metrics of the HTTP listener.
    pub fn http_connections(&self) -> Counts {
        self.connections(HTTP, self.connections.clone())
    }

    /// Returns the connection metrics of the input `name`.
    pub fn connections_of(&self, name: &str) -> Counts {
        self.connections(name, self.input_connections(name))
    }

    fn connections(&self, name: &str, open: Gauge) -> Counts {
        let closed =
            |reason| self.closed_connections.get_or_create_owned(&Closed { input: name.to_owned(), reason });
        Counts { open, gave_way: closed("idle"), refused: closed("address") }
    }

    /// Counts a request of `provider` that carries no message.
    pub fn event(&self, provider: &'static str, event: &'static str) {
        self.events.get_or_create(&ByEvent { provider, event }).inc();
    }

    /// Counts a datagram of `input`, by its outcome.
    pub fn datagram(&self, input: &'static str, outcome: &'static str) {
        self.datagrams.get_or_create(&ByOutcome { input, outcome }).inc();
    }
}
