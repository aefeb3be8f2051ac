//! What all requests and the writer share.

use crate::{
    access::{Access, Limits},
    buffer::{Queue, Readers, Totals},
    config::Http,
    inputs::webhooks::hooks::Hooks,
    live::Live,
    metrics::Metrics,
    outputs::Outputs,
    profile::Profiles,
    requests::Requests,
    secret::SecretFiles,
    tls::Certificates,
};
use arc_swap::ArcSwap;
use std::sync::{
    Arc, Mutex, PoisonError,
    atomic::{AtomicBool, AtomicU64, Ordering},
};
use tokio::sync::{Semaphore, watch};

/// The state of a running gateway.
pub struct Shared {
    /// Limits of the HTTP input.
    pub http: Http,
    /// Who may send and read.
    pub access: Arc<Access>,
    /// How much they may send.
    pub limits: Limits,
    /// What inputs and outputs identify themselves with.
    pub secrets: SecretFiles,
    /// What providers of networks call.
    pub hooks: Hooks,
    /// What listeners with TLS show, if there is a certificate.
    pub certificates: Option<Arc<Certificates>>,
    /// Codecs by schema and device. Whoever handles a message takes them once.
    pub profiles: ArcSwap<Profiles>,
    /// The way to the writer.
    pub queue: Queue,
    /// The way to what is written.
    pub readers: Readers,
    /// Counts.
    pub board: Board,
    /// Who is watching.
    pub live: Live,
    /// Counts for Prometheus.
    pub metrics: Metrics,
    /// What outputs do.
    pub outputs: Outputs,
    /// Turns for decoding large messages, which takes memory and time.
    pub large: Semaphore,
    /// Says true when the gateway stops.
    pub stopping: watch::Receiver<bool>,
    /// What requests are called.
    pub requests: Requests,
    /// When it was started, in microseconds since 1970.
    pub started_at: i64,
}

/// Counts that anyone may read at any time.
pub struct Board {
    totals: Mutex<Totals>,
    /// Messages that arrived since the start.
    pub received: AtomicU64,
    /// Messages that were neither stored nor quarantined, over the life of the buffer.
    pub refused: AtomicU64,
    /// Whether the last batch could be written.
    pub writable: AtomicBool,
    commits: watch::Sender<()>,
}

impl Board {
    /// The board of a buffer that holds `totals`.
    pub fn new(totals: Totals) -> Board {
        Board {
            received: AtomicU64::new(0),
            refused: AtomicU64::new(totals.refused),
            writable: AtomicBool::new(true),
            totals: Mutex::new(totals),
            commits: watch::Sender::new(()),
        }
    }

    /// What the buffer holds, with the refusals up to now.
    pub fn totals(&self) -> Totals {
        let mut totals = self.totals.lock().unwrap_or_else(PoisonError::into_inner).clone();
        totals.refused = self.refused.load(Ordering::Relaxed);
        totals
    }

    /// Shows what the buffer holds now.
    pub fn show(&self, totals: &Totals) {
        self.totals.lock().unwrap_or_else(PoisonError::into_inner).clone_from(totals);
        self.commits.send_replace(());
    }

    /// Changes whenever something has been committed.
    pub fn commits(&self) -> watch::Receiver<()> {
        self.commits.subscribe()
    }
}

/// Waits until `signal` says true, as the one does that the gateway stops.
pub async fn said(signal: &mut watch::Receiver<bool>) {
    // An error means that nobody is there to say it any more, which is an end too.
    let _ = signal.wait_for(|said| *said).await;
}

/// A message on its way in. Unless the writer answers for it, it counts as refused, also when its client has left.
pub struct Arrival<'a>(Option<&'a Board>);

impl<'a> Arrival<'a> {
    /// Counts a message as received.
    pub fn new(board: &'a Board) -> Self {
        board.received.fetch_add(1, Ordering::Relaxed);
        Arrival(Some(board))
    }

    /// The writer answers for it from here.
    pub fn queued(&mut self) {
        self.0 = None;
    }
}

impl Drop for Arrival<'_> {
    fn drop(&mut self) {
        if let Some(board) = self.0 {
            board.refused.fetch_add(1, Ordering::Relaxed);
        }
    }
}
