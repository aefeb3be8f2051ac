//! What all requests and the writer share.

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
    /// How much they may send.
    pub limits: Limits,
    /// What inputs and outputs identify themselves with.
    pub secrets: SecretFiles,
    /// What listeners with TLS show, if there is a certificate.
    pub certificates: Option<Arc<Certificates>>,
    /// Codecs by schema and device. Whoever handles a message takes them once.
    pub profiles: Arc<ArcSwap<Profiles>>,
    /// The way to the writer.
    pub queue: Queue,
    /// The way to what is written.
    pub readers: Readers,
    /// What the buffer holds, and whether it can be written.
    pub stats: Arc<BufferStats>,
    /// Who is watching.
    pub live: Live,
    /// Counts for Prometheus.
    pub metrics: Metrics,
    /// What outputs do.
    pub outputs: Arc<Outputs>,
    /// Turns for decoding large messages, which takes memory and time.
    pub large: Semaphore,
    /// Says true when the gateway stops.
    pub stopping: watch::Receiver<bool>,
    /// What requests are called.
    pub requests: Requests,
    /// When it was started, in microseconds since 1970.
    pub started_at: i64,
}

impl Shared {
    /// Watches the devices that the profiles want watched, from when the buffer says that they last sent.
    pub async fn watch_silence(&self) {
        silence::watch(&self.metrics.silence, &self.profiles.load_full(), &self.readers).await;
    }
}

/// Waits until `signal` says true, as the one does that the gateway stops.
pub async fn said(signal: &mut watch::Receiver<bool>) {
    // An error means that nobody is there to say it any more, which is an end too.
    let _ = signal.wait_for(|said| *said).await;
}

/// A message on its way in. Unless the writer becomes responsible for it, it counts as refused, also when its client has left.
pub struct InFlight<'a>(Option<&'a BufferStats>);

impl<'a> InFlight<'a> {
    /// Counts a message as received.
    pub fn new(stats: &'a BufferStats) -> Self {
        stats.receive();
        InFlight(Some(stats))
    }

    /// The writer is responsible for it from here.
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
