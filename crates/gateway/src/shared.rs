//! The state that all requests, inputs and the writer share.

use crate::{
    http_settings::HttpSettings, live::Live, metrics::Metrics, profiles::Profiles, requests::Requests,
    silence,
};
use arc_swap::ArcSwap;
use dunnage_access::{Access, Limits, tls::Certificates};
use dunnage_buffer::{BufferStats, Queue, Readers};
use dunnage_clients::secret::SecretFiles;
use dunnage_outputs::Outputs;
use std::sync::Arc;
use tokio::sync::{Semaphore, watch};

/// The state of a running gateway.
pub struct Shared {
    /// Limits of the HTTP input.
    pub http: HttpSettings,
    /// Who may send and read.
    pub access: Arc<Access>,
    /// The limits of messages per device and address.
    pub limits: Limits,
    /// The files with the credentials of inputs and outputs.
    pub secrets: SecretFiles,
    /// The certificate of listeners with TLS, if there is one.
    pub certificates: Option<Arc<Certificates>>,
    /// Codecs by schema and device. Load it once for each message, so that a reload cannot change it halfway.
    pub profiles: Arc<ArcSwap<Profiles>>,
    /// The queue to the writer.
    pub queue: Queue,
    /// The readers of the buffer.
    pub readers: Readers,
    /// Counts of the buffer, and whether it can be written.
    pub stats: Arc<BufferStats>,
    /// The event stream.
    pub live: Live,
    /// The metrics for Prometheus.
    pub metrics: Metrics,
    /// The running outputs.
    pub outputs: Arc<Outputs>,
    /// Permits to decode large messages, which takes memory and time.
    pub large: Semaphore,
    /// Becomes true when the gateway stops.
    pub stopping: watch::Receiver<bool>,
    /// The source of request IDs.
    pub requests: Requests,
    /// When the gateway was started, in microseconds since 1970.
    pub started_at: i64,
}

impl Shared {
    /// Watches the devices that the profiles want watched. The buffer knows when they last sent.
    pub async fn watch_silence(&self) {
        silence::watch(&self.metrics.silence, &self.profiles.load_full(), &self.readers).await;
    }
}

/// Waits until `signal` becomes true.
pub async fn said(signal: &mut watch::Receiver<bool>) {
    // An error means that the sender was dropped, which is an end too.
    let _ = signal.wait_for(|said| *said).await;
}

/// A message between its arrival and the queue. Dropping this counts the message as refused unless it was queued, so that one whose client
/// disconnects is counted too.
pub struct InFlight<'a>(Option<&'a BufferStats>);

impl<'a> InFlight<'a> {
    /// Counts a message as received.
    pub fn new(stats: &'a BufferStats) -> Self {
        stats.receive();
        InFlight(Some(stats))
    }

    /// Hands the responsibility for the message to the writer.
    pub fn queued(&mut self) {
        self.0 = None;
    }
}

impl Drop for InFlight<'_> {
    fn drop(&mut self) {
        if let Some(stats) = self.0 {
            stats.refuse(1);
        }
    }
}
