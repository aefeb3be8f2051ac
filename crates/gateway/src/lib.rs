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
mod check;
mod commits;
mod config;
mod config_file;
mod connections;
mod error;
#[cfg(any(test, feature = "fuzzing"))]
pub mod fuzzing;
mod http_settings;
mod inputs;
mod listeners;
mod live;
pub mod log;
mod media_types;
mod metrics;
mod problem;
mod profiles;
mod quarantine_log;
mod query;
mod reload;
mod requests;
mod segment;
mod server;
mod shared;
mod silence;
mod view;

#[cfg(unix)]
pub use admin::{AdminClient, AdminError, SocketError};
pub use api::openapi::document as openapi;
pub use check::check;
pub use config::{Admin, Config, Log, LogFormat};
pub use config_file::ConfigError;
pub use dunnage_access::{
    AccessSettings, Right, Token, TokensError, Until, Who, edit as tokens, edit_keys as keys,
    tls::{TlsError, TlsSettings},
};
pub use dunnage_base::Mistake;
pub use dunnage_buffer::{BufferError, BufferSettings, DeadLetter, QuarantineSettings, WhenFull};
pub use dunnage_clients::{mqtt, secret::SecretError};
#[cfg(feature = "kafka")]
pub use dunnage_outputs::kafka as kafka_output;
pub use dunnage_outputs::{
    Breaker, Class, DeadLetterError, OutputError, OutputKind, OutputSettings, Status, Which,
    files as files_output, http as http_output, nats as nats_output, onem2m as onem2m_output,
};
pub use error::Error;
pub use http_settings::HttpSettings;
pub use inputs::{InputError, InputKind, InputSettings, nats as nats_input, webhooks as webhook_input};
pub use profiles::settings::{Duplicates, FormatName, Mapping, Profile, ProfileError, SchemaSettings};
pub use reload::{ReloadError, Reloaded};

use arc_swap::ArcSwap;
use commits::Commits;
use connections::Connections;
use dunnage_base::{clock, hex::hex};
use dunnage_buffer::{BufferStats, Opened, Options, Queue, Readers, Shares, Totals, Writer};
use dunnage_formats::Id;
use dunnage_outputs::{Outputs, Source, open_all as open_outputs};
use inputs::{Hooks, Named};
use live::Live;
use metrics::Metrics;
use profiles::Profiles;
use reload::Reloader;
use requests::Requests;
use shared::Shared;
use std::{
    collections::HashMap,
    net::SocketAddr,
    sync::{Arc, LazyLock},
    thread::JoinHandle,
    time::Duration,
};
use tokio::{
    net::TcpListener,
    sync::{Semaphore, watch},
    task::{AbortHandle, JoinSet},
};

/// A running gateway.
pub struct Gateway {
    address: SocketAddr,
    shared: Arc<Shared>,
    before: Totals,
    stopping: watch::Sender<bool>,
    connections: Arc<Connections>,
    inputs: HashMap<String, SocketAddr>,
    takers: JoinSet<()>,
    leaving: watch::Sender<bool>,
    forwarders: JoinSet<()>,
    stats: AbortHandle,
    retention: AbortHandle,
    looks: AbortHandle,
    renewals: Option<AbortHandle>,
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
    /// Opens the buffer, and starts inputs, outputs and the HTTP server. Must be called in a tokio runtime, on which they run.
    pub async fn start(config: Config) -> Result<Gateway, Error> {
        let profiles = Profiles::load(&config.schemas, &config.profiles)?;
        let tokens = dunnage_access::Tokens::load(&config.tokens())?;
        let keys = dunnage_access::Keys::load(&config.keys())?;
        listeners::warn(&config, &tokens);
        dunnage_access::keys::warn(&config.keys());
        let metrics = Metrics::new();
        metrics.buffer_limit_bytes.set(config.buffer.limit_bytes);
        let certificates =
            dunnage_access::tls::Certificates::open(&config.tls, metrics.handshakes.clone())?.map(Arc::new);
        let acceptor = certificates.as_ref().filter(|_| config.http.tls);
        let acceptor =
            acceptor.map(|certificates| certificates.acceptor(&["http/1.1"], server::PLAIN)).transpose()?;
        let mut inputs = inputs::open_all(&config.inputs, config.beside_inputs())?;
        let hooks: Arc<Hooks> = Arc::new(inputs.iter().filter_map(|named| named.input.hook()).collect());
        let outputs = open_outputs(&config.outputs)?;
        let opened = open_buffer(&config, &profiles)?;
        metrics.remembered(opened.duplicates());
        check_layouts(&config, &profiles, &opened)?;
        let failed = |source| Error::Listen { address: config.http.listen, source };
        let listener = TcpListener::bind(config.http.listen).await.map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        let addresses = listen(&mut inputs).await?;

        #[cfg(unix)]
        let socket = config.admin_socket().map(|path| admin::Socket::bind(&path)).transpose()?;
        let (stopping, watching) = watch::channel(false);
        let shares = Shares::of(config.buffer.queue_bytes, config.http.body_limit_bytes);
        let (queue, receiver) = Queue::new(config.buffer.queue_messages, shares);
        let totals = opened.totals().clone();
        let cursors = opened.cursors().clone();
        let started_at = clock::now();
        let readers = Readers::new(&opened, queue.clone());
        let refusals = &metrics.refusals;
        let stats = Arc::new(BufferStats::new(totals.clone()));
        let profiles = Arc::new(ArcSwap::from_pointee(profiles));
        let catalog = Arc::clone(&profiles);
        let source = Source {
            queue: queue.clone(),
            readers: readers.clone(),
            stats: Arc::clone(&stats),
            catalog: Arc::new(move || catalog.load_full()),
        };
        let drain = Duration::from_secs(config.http.drain_timeout_seconds);
        let running = Outputs::new(source, metrics.outputs.clone(), drain);
        let shared = Arc::new(Shared {
            http: config.http.clone(),
            access: Arc::new(dunnage_access::Access::new(&config.access, tokens, keys, refusals.clone())),
            limits: dunnage_access::Limits::new(&config.access, refusals.clone()),
            secrets: secrets(&inputs, &outputs),
            certificates: certificates.clone(),
            profiles,
            queue,
            readers,
            stats,
            live: Live::new(),
            metrics,
            outputs: Arc::new(running),
            large: Semaphore::new(inputs::decode::LARGE_AT_A_TIME),
            stopping: watching,
            requests: Requests::new(&totals.name, started_at),
            started_at,
        });
        let commits = Commits::new(Arc::clone(&shared));
        let writer =
            Writer::new(opened, receiver, shared.readers.clone(), Arc::clone(&shared.stats), commits);
        shared.watch_silence().await;
        let writer = std::thread::Builder::new().name("dunnage-writer".into()).spawn(move || writer.run());
        let writer = writer.map_err(Error::Thread)?;

        let limits =
            connections::Limits { all: config.http.connections, of_address: config.http.address_connections };
        let connections = Connections::new(limits, shared.metrics.http_connections());
        let router = api::router(&shared, Arc::clone(&hooks));
        let listening =
            server::Listening { listener, address, tls: acceptor, connections: Arc::clone(&connections) };
        tokio::spawn(server::serve(listening, router, Arc::clone(&shared)));
        let renewals = certificates.map(|certificates| tokio::spawn(certificates.watch()).abort_handle());
        let (leaving, left) = watch::channel(false);
        let mut forwarders = JoinSet::new();
        for output in outputs {
            let cursor = cursors.get(&*output.name).copied().unwrap_or_default();
            forwarders.spawn(shared.outputs.forwarder(output, cursor, left.clone()).run());
        }
        // After the outputs, because an input may wait for them.
        let mut takers = JoinSet::new();
        for Named { input, .. } in inputs {
            takers.spawn(input.run(Arc::clone(&shared), shared.stopping.clone()));
        }
        let stats = tokio::spawn(commits::tell_stats(Arc::clone(&shared))).abort_handle();
        let retention = shared.queue.clone().enforce_retention(config.buffer.keep_delivered_hours > 0);
        let retention = tokio::spawn(retention).abort_handle();
        let looks = tokio::spawn(Arc::clone(&shared.access).look_again()).abort_handle();
        let config = Arc::new(config);
        let reloader = Arc::new(Reloader::new(Arc::clone(&shared), hooks, Arc::clone(&config)));
        #[cfg(unix)]
        let admin = socket.map(|socket| {
            admin::serve(socket, Arc::clone(&shared), Arc::clone(&config), Arc::clone(&reloader), address)
        });
        tracing::info!(%address, buffer = %config.buffer.path.display(), stored = totals.stored, "gateway started");
        Ok(Gateway {
            address,
            inputs: addresses,
            shared,
            before: totals,
            stopping,
            connections,
            takers,
            leaving,
            forwarders,
            stats,
            retention,
            looks,
            renewals,
            reloader,
            #[cfg(unix)]
            admin,
            writer,
        })
    }

    /// Returns the address of the HTTP listener.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Returns the address of the input `name`, if it has a listener.
    pub fn input_address(&self, name: &str) -> Option<SocketAddr> {
        self.inputs.get(name).copied()
    }

    /// Returns the status of each output.
    pub fn outputs(&self) -> Vec<Status> {
        self.shared.outputs.statuses(self.shared.stats.totals().last_message_id)
    }

    /// Returns dead letters of `output`, the oldest first: at most `limit`, with message IDs above `after`.
    pub async fn dead_letters(
        &self,
        output: &str,
        after: i64,
        limit: u32,
    ) -> Result<Vec<DeadLetter>, DeadLetterError> {
        self.shared.outputs.dead_letters(output, after, limit).await
    }

    /// Has `output` retry dead letters. Returns how many.
    pub async fn retry(&self, output: &str, which: Which) -> Result<u64, DeadLetterError> {
        self.shared.outputs.retry(output, which).await
    }

    /// Discards dead letters of `output`. Returns how many.
    pub async fn discard(&self, output: &str, which: Which) -> Result<u64, DeadLetterError> {
        self.shared.outputs.discard(output, which).await
    }

    /// Reads profiles, schemas, tokens, keys, secrets and the certificate again, and uses them for messages that arrive from now on. A
    /// mistake is logged and returned, and leaves everything as it was.
    pub async fn reload(&self) -> Result<Reloaded, ReloadError> {
        self.reloader.reload().await
    }

    /// Stops accepting connections, answers the requests in progress, writes the queue, and closes the buffer. Returns the counts since the
    /// start.
    pub async fn stop(mut self) -> Summary {
        tracing::info!("stopping: finishing the requests under way");
        let _ = self.stopping.send(true);
        self.stats.abort();
        self.retention.abort();
        self.looks.abort();
        self.renewals.iter().for_each(AbortHandle::abort);
        let limits = &self.shared.http;
        let drain = Duration::from_secs(limits.drain_timeout_seconds);
        if tokio::time::timeout(drain, self.connections.drained()).await.is_err() {
            tracing::warn!("some connections did not end in time and were aborted");
        }
        if tokio::time::timeout(drain, async { while self.takers.join_next().await.is_some() {} })
            .await
            .is_err()
        {
            tracing::warn!("some inputs did not end in time and were aborted");
            self.takers.shutdown().await;
        }
        let _ = self.leaving.send(true);
        // Forwarders enforce their own deadlines. This one is for a forwarder that hangs.
        let patience = drain + 2 * dunnage_outputs::CLOSING;
        if tokio::time::timeout(patience, async { while self.forwarders.join_next().await.is_some() {} })
            .await
            .is_err()
        {
            tracing::warn!("some outputs did not end in time and were aborted");
            self.forwarders.shutdown().await;
        }
        #[cfg(unix)]
        if let Some(admin) = &self.admin {
            admin.abort();
        }
        self.shared.readers.close().await;
        self.shared.queue.stop().await;
        let writer = self.writer;
        // The writer ends with a checkpoint, which may take a while.
        let _ = tokio::task::spawn_blocking(move || writer.join()).await;
        let totals = self.shared.stats.totals();
        let before = self.before;
        let summary = Summary {
            received: self.shared.stats.received(),
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

/// The formats in which a message can be stored.
static FORMATS: LazyLock<Vec<&str>> = LazyLock::new(|| Id::readable().map(Id::name).collect());

fn open_buffer(config: &Config, profiles: &Profiles) -> Result<Opened, BufferError> {
    let options = Options {
        buffer: &config.buffer,
        quarantine: &config.quarantine,
        formats: &FORMATS,
        outputs: config.outputs.iter().map(|output| output.name.as_str().into()).collect(),
    };
    dunnage_buffer::open(options, &|device| profiles.dedup_by_payload(device))
}

/// Collects the files with the credentials of `inputs` and `outputs`, each with its table.
fn secrets(inputs: &[Named], outputs: &[dunnage_outputs::Named]) -> dunnage_clients::secret::SecretFiles {
    let mut files = Vec::new();
    for Named { name, input } in inputs {
        let table = format!("[[input]] name = {name:?}");
        files.extend(input.secrets().into_iter().map(|file| (table.clone(), file)));
    }
    for dunnage_outputs::Named { name, output, .. } in outputs {
        let table = format!("[[output]] name = {name:?}");
        files.extend(output.secrets().into_iter().map(|file| (table.clone(), file)));
    }
    dunnage_clients::secret::SecretFiles(files)
}

/// Binds every listening input; returns their addresses by input name.
async fn listen(inputs: &mut [Named]) -> Result<HashMap<String, SocketAddr>, Error> {
    let mut addresses = HashMap::new();
    for Named { name, input } in inputs {
        let listening = input.listen().await;
        let listening = listening.map_err(|e| InputError { name: name.clone(), message: e.to_string() })?;
        if let Some(address) = listening {
            tracing::info!(input = *name, %address, "listens");
            addresses.insert(name.clone(), address);
        }
    }
    Ok(addresses)
}

/// Rejects a layout whose slot holds messages of another layout: devices that still send the old one would be misread.
fn check_layouts(config: &Config, profiles: &Profiles, opened: &Opened) -> Result<(), Error> {
    let Some((before, slot)) =
        opened.layouts().iter().find_map(|before| Some((before, profiles.instead_of(before)?)))
    else {
        return Ok(());
    };
    Err(Error::ChangedLayout {
        origin: slot.origin.clone(),
        schema: before.schema.to_string(),
        slot: before.slot,
        now: hex(&slot.key.fingerprint),
        before: hex(&before.fingerprint),
        buffer: config.buffer.path.display().to_string(),
    })
}
