//! The gateway: receives messages, stores them durably, and acknowledges them only then.
//!
//! Each input decodes the raw bytes that arrive into a message and adds its provenance. The message waits in a bounded queue until one
//! thread writes it, many messages in one transaction; the input acknowledges after the commit (`dunnage_buffer`). Outputs read the buffer
//! from their own cursors. The API and the page show what is stored. `spec/ingest.md` specifies the inputs.
//!
//! The order of [`Gateway::start`] matters: everything that can fail comes before the first message is accepted, and outputs start before
//! the inputs that may wait for them. [`Gateway::stop`] ends connections and inputs first, then outputs, then the writer.

#[cfg(unix)]
mod admin;
mod api;
mod catalog;
mod check;
mod commits;
mod config;
mod config_file;
mod error;
mod explain;
mod fleet;
mod listeners;
mod live;
pub mod log;
mod metrics;
mod operations;
mod placed;
mod quarantine_log;
mod rates;
mod reload;
mod server;
mod start;
mod state;
mod visible;

#[cfg(unix)]
pub use admin::{AdminClient, AdminError, SocketError};
pub use api::openapi::document as openapi;
pub use check::check;
pub use config::{Admin, Config, Log, LogFormat};
pub use config_file::ConfigError;
pub use dunnage_access::{
    AccessSettings, Right, Scope, Token, TokensError, Until, Who, edit as tokens, edit_keys as keys,
    tls::{TlsError, TlsSettings},
};
pub use dunnage_base::Mistake;
pub use dunnage_buffer::{BufferError, BufferSettings, DeadLetter, QuarantineSettings, WhenFull};
pub use dunnage_clients::{mqtt, secret::SecretError};
pub use dunnage_ingest::KEPT_KINDS;
pub use dunnage_ingest::profiles::settings::{
    Binary32, Duplicates, FormatName, Mapping, Profile, ProfileError, SchemaSettings,
};
pub use dunnage_inputs::{
    HttpSettings, InputError, InputKind, InputSettings, nats as nats_input, provider::Provider,
    webhooks as webhook_input,
};
pub use dunnage_outputs::kafka as kafka_output;
pub use dunnage_outputs::{
    Breaker, Class, DeadLetterError, Expressions, OutputError, OutputKind, OutputSettings, Status, Which,
    files as files_output, http as http_output, nats as nats_output, onem2m as onem2m_output,
    postgres as postgres_output,
};
pub use error::Error;
pub use explain::{Applied, Explained, Sample, Tried, explain};
pub use reload::{ReloadError, Reloaded};

use dunnage_buffer::Totals;
use dunnage_inputs::connections::Connections;
use reload::Reloader;
use state::GatewayState;
use std::{net::SocketAddr, sync::Arc, thread::JoinHandle, time::Duration};
use tokio::task::{AbortHandle, JoinSet};
use tokio_util::sync::DropGuard;

/// A running gateway.
pub struct Gateway {
    state: Arc<GatewayState>,
    before: Totals,
    /// Dropping it stops connections and inputs.
    stopping: DropGuard,
    connections: Arc<Connections>,
    inputs: JoinSet<()>,
    /// Dropping it stops the forwarders.
    leaving: DropGuard,
    forwarders: JoinSet<()>,
    /// Tasks that are aborted at the stop.
    background: Vec<AbortHandle>,
    reloader: Arc<Reloader>,
    #[cfg(unix)]
    admin: Option<AbortHandle>,
    writer: JoinHandle<()>,
}

/// Counts of the messages since the start: `received` = `stored` + `quarantined` + `refused` + `duplicates`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Summary {
    /// Messages that arrived, completely or not.
    pub received: u64,
    /// Messages stored durably.
    pub stored: u64,
    /// Messages that could not be decoded or broke their schema, and are in the quarantine.
    pub quarantined: u64,
    /// Messages that were neither stored nor quarantined. Their senders were told, or had disconnected.
    pub refused: u64,
    /// Duplicates of stored messages.
    pub duplicates: u64,
}

impl Gateway {
    /// Returns the address of the HTTP listener.
    pub fn address(&self) -> SocketAddr {
        self.state.address
    }

    /// Returns the address of the input `name`, if it has a listener.
    pub fn input_address(&self, name: &str) -> Option<SocketAddr> {
        self.state.addresses.get(name).copied()
    }

    /// Returns the status of each output.
    pub fn outputs(&self) -> Vec<Status> {
        self.state.outputs.statuses(self.state.buffer().stats.totals().last_message_id)
    }

    /// Returns dead letters of `output`, the oldest first: at most `limit`, with message IDs above `after`.
    pub async fn dead_letters(
        &self,
        output: &str,
        after: i64,
        limit: u32,
    ) -> Result<Vec<DeadLetter>, DeadLetterError> {
        self.state.outputs.dead_letters(output, after, limit).await
    }

    /// Has `output` retry dead letters. Returns how many.
    pub async fn retry(&self, output: &str, which: Which) -> Result<u64, DeadLetterError> {
        self.state.outputs.retry(output, which).await
    }

    /// Discards dead letters of `output`. Returns how many.
    pub async fn discard(&self, output: &str, which: Which) -> Result<u64, DeadLetterError> {
        self.state.outputs.discard(output, which).await
    }

    /// Reads profiles, schemas, tokens, keys, secrets and the certificate again, and uses them for messages that arrive from now on. A
    /// mistake is logged and returned, and leaves everything as it was.
    pub async fn reload(&self) -> Result<Reloaded, ReloadError> {
        self.reloader.reload().await
    }

    /// Stops accepting connections, answers the requests in progress, writes the queue, and closes the buffer. Returns the counts since the
    /// start.
    pub async fn stop(self) -> Summary {
        tracing::info!("stopping: finishing the requests under way");
        drop(self.stopping);
        self.background.iter().for_each(AbortHandle::abort);
        let limits = &self.state.env.http;
        let drain = Duration::from_secs(limits.drain_timeout_seconds);
        if tokio::time::timeout(drain, self.connections.drained()).await.is_err() {
            tracing::warn!("some connections did not end in time and were aborted");
        }
        end("inputs", self.inputs, drain).await;
        drop(self.leaving);
        // Forwarders enforce their own deadlines. This one is for a forwarder that hangs.
        end("outputs", self.forwarders, drain + 2 * dunnage_outputs::CLOSING).await;
        #[cfg(unix)]
        if let Some(admin) = &self.admin {
            admin.abort();
        }
        self.state.buffer().close().await;
        let writer = self.writer;
        // The writer ends with a checkpoint, which may take a while.
        let _ = tokio::task::spawn_blocking(move || writer.join()).await;
        let totals = self.state.buffer().stats.totals();
        let before = self.before;
        let summary = Summary {
            received: self.state.buffer().stats.received(),
            stored: totals.stored - before.stored,
            // Messages from before the start may have left the quarantine since.
            quarantined: totals.quarantined.saturating_sub(before.quarantined),
            refused: totals.refused - before.refused,
            duplicates: totals.duplicates - before.duplicates,
        };
        tracing::info!(
            received = summary.received,
            stored = summary.stored,
            quarantined = summary.quarantined,
            refused = summary.refused,
            duplicates = summary.duplicates,
            "gateway stopped"
        );
        summary
    }
}

/// Waits for `tasks`, and aborts those that do not end within `limit`.
async fn end(what: &str, mut tasks: JoinSet<()>, limit: Duration) {
    if tokio::time::timeout(limit, async { while tasks.join_next().await.is_some() {} }).await.is_err() {
        tracing::warn!("some {what} did not end in time and were aborted");
        tasks.shutdown().await;
    }
}
