//! The state of a running gateway, which the API, the admin interface and a reload work on.

use crate::{fleet::Fleet, live::Live, metrics::Metrics};
use dunnage_clients::secret::SecretFiles;
use dunnage_ingest::Ingest;
use dunnage_inputs::Environment;
use dunnage_outputs::Outputs;
use std::sync::Arc;

/// The state of a running gateway.
pub struct GatewayState {
    /// What running inputs share, with the way to the buffer.
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
}

impl GatewayState {
    /// Returns what makes messages durable: profiles, queue, buffer.
    pub fn ingest(&self) -> &Ingest {
        &self.env.ingest
    }
}
