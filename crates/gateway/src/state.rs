//! The state of a running gateway, which the API, the admin interface and a reload work on.

use crate::{config::Config, fleet::Fleet, live::Live, metrics::Metrics, rates::Rates};
use dunnage_buffer::{Buffer, Memory};
use dunnage_clients::secret::SecretFiles;
use dunnage_ingest::Ingest;
use dunnage_inputs::Environment;
use dunnage_outputs::Outputs;
use std::{collections::HashMap, net::SocketAddr, sync::Arc};
use tokio::sync::Mutex;

/// The state of a running gateway.
pub struct GatewayState {
    /// The state that running inputs share, with access to the buffer.
    pub env: Arc<Environment>,
    /// The files with the credentials of inputs and outputs.
    pub secrets: SecretFiles,
    /// The list of devices.
    pub fleet: Arc<Fleet>,
    /// The event stream.
    pub live: Live,
    /// The metrics for Prometheus.
    pub metrics: Metrics,
    /// The running outputs.
    pub outputs: Arc<Outputs>,
    /// When the gateway was started, in microseconds since 1970.
    pub started_at: i64,
    /// The configuration that it was started with.
    pub config: Arc<Config>,
    /// The address of the HTTP listener.
    pub address: SocketAddr,
    /// The addresses of the inputs that listen, by name.
    pub addresses: HashMap<String, SocketAddr>,
    /// The rates of the last hours.
    pub rates: Rates,
    /// Held while a request changes the quarantine: one at a time.
    pub quarantine: Mutex<()>,
    /// Held while a request changes the register: one at a time.
    pub register: Mutex<()>,
    /// The memory of the bodies of operations.
    pub bodies: Memory,
}

impl GatewayState {
    /// Returns what makes messages durable: profiles, queue, buffer.
    pub fn ingest(&self) -> &Ingest {
        &self.env.ingest
    }

    /// Returns the buffer.
    pub fn buffer(&self) -> &Buffer {
        &self.ingest().buffer
    }
}
