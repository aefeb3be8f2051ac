//! Starts a gateway: first opens everything that can fail, then accepts messages.

#[cfg(unix)]
use crate::admin;
use crate::{
    Gateway, api,
    catalog::ProfileCatalog,
    commits::{self, Commits},
    config::Config,
    error::Error,
    fleet::Fleet,
    listeners,
    live::Live,
    metrics::Metrics,
    operations::register,
    rates::Rates,
    reload::Reloader,
    server,
    state::GatewayState,
};
use arc_swap::ArcSwap;
use dunnage_access::{
    Access, Keys, Limits, Tokens, keys,
    tls::{Acceptor, Certificates},
};
use dunnage_base::{clock, hex::hex};
use dunnage_buffer::{BufferError, IdleWriter, LayoutKey, Opened, Options};
use dunnage_clients::secret::SecretFiles;
use dunnage_ingest::{Ingest, Registered, profiles::Profiles};
use dunnage_inputs::{
    Environment, Hooks, InputError, Named,
    connections::{self, Connections},
};
use dunnage_outputs::{Outputs, Source};
use prometheus_client::registry::Registry;
use std::{
    collections::{HashMap, HashSet},
    net::SocketAddr,
    sync::{Arc, LazyLock},
    thread::JoinHandle,
    time::Duration,
};
use tokio::{
    net::TcpListener,
    sync::Mutex,
    task::{AbortHandle, JoinSet},
};
use tokio_util::sync::CancellationToken;

/// Everything that the configuration names, opened, but not running yet.
struct Parts {
    profiles: Profiles,
    tokens: Tokens,
    keys: Keys,
    metrics: Metrics,
    ingest_metrics: dunnage_ingest::Metrics,
    input_metrics: dunnage_inputs::Metrics,
    certificates: Option<Arc<Certificates>>,
    acceptor: Option<Acceptor>,
    inputs: Vec<Named>,
    addresses: HashMap<String, SocketAddr>,
    outputs: Vec<dunnage_outputs::Named>,
    opened: Opened,
    listener: TcpListener,
    address: SocketAddr,
    #[cfg(unix)]
    socket: Option<admin::Socket>,
}

impl Gateway {
    /// Opens the buffer, and starts inputs, outputs and the HTTP server. Must be called in a tokio runtime, on which they run.
    pub async fn start(config: Config) -> Result<Gateway, Error> {
        let mut parts = Parts::open(&config).await?;
        let (inputs, outputs) = (std::mem::take(&mut parts.inputs), std::mem::take(&mut parts.outputs));
        let hooks: Arc<Hooks> = Arc::new(inputs.iter().filter_map(|named| named.input.hook()).collect());
        let secrets = secrets(&inputs, &outputs);
        let mut positions = parts.opened.positions().clone();
        let before = parts.opened.totals().clone();
        let (acceptor, certificates) = (parts.acceptor.take(), parts.certificates.clone());
        let address = parts.address;
        #[cfg(unix)]
        let socket = parts.socket.take();
        let stopping = CancellationToken::new();
        let config = Arc::new(config);
        let Built { state, listener, writer } = parts.build(&config, secrets, &stopping);
        let writer = write(&state, writer).await?;

        let limits =
            connections::Limits { all: config.http.connections, of_address: config.http.address_connections };
        let connections = Connections::new(limits, state.env.metrics.http_connections());
        let router = api::router(&state, Arc::clone(&hooks));
        let listening =
            server::Listening { listener, address, tls: acceptor, connections: Arc::clone(&connections) };
        let renewals = certificates.map(|certificates| tokio::spawn(certificates.watch()).abort_handle());
        let leaving = CancellationToken::new();
        let mut forwarders = JoinSet::new();
        for output in outputs {
            let position = positions.remove(&*output.name).unwrap_or_default();
            forwarders.spawn(state.outputs.forwarder(output, position, leaving.clone()).run());
        }
        // After the outputs, because a scrape would show that one that is only beginning has nothing to deliver.
        tokio::spawn(server::serve(listening, router, Arc::clone(&state.env)));
        // After the outputs, because an input may wait for them.
        let mut inputs_running = JoinSet::new();
        for Named { input, .. } in inputs {
            inputs_running.spawn(input.run(Arc::clone(&state.env)));
        }
        let background = maintain(&state).into_iter().chain(renewals).collect();
        let reloader = Arc::new(Reloader::new(Arc::clone(&state), hooks, Arc::clone(&config)));
        #[cfg(unix)]
        let admin = socket.map(|socket| admin::serve(socket, Arc::clone(&state), Arc::clone(&reloader)));
        tracing::info!(%address, buffer = %config.buffer.path.display(), stored = before.stored, "gateway started");
        Ok(Gateway {
            state,
            before,
            stopping: stopping.drop_guard(),
            connections,
            inputs: inputs_running,
            leaving: leaving.drop_guard(),
            forwarders,
            background,
            reloader,
            #[cfg(unix)]
            admin,
            writer,
        })
    }
}

impl Parts {
    /// Opens files and binds sockets. No message is accepted yet.
    async fn open(config: &Config) -> Result<Parts, Error> {
        let profiles = Profiles::load(&config.schemas, &config.profiles)?;
        let tokens = Tokens::load(&config.tokens())?;
        let keys = Keys::load(&config.keys())?;
        listeners::warn(config, &tokens);
        keys::warn(&config.keys());
        let mut registry = Registry::with_prefix("dunnage");
        let ingest_metrics = dunnage_ingest::Metrics::new(&mut registry);
        let input_metrics = dunnage_inputs::Metrics::new(&mut registry);
        let metrics = Metrics::new(registry);
        metrics.buffer_limit_bytes.set(config.buffer.limit_bytes);
        let certificates = Certificates::open(&config.tls, metrics.handshakes.clone())?.map(Arc::new);
        let acceptor = certificates.as_ref().filter(|_| config.http.tls);
        let acceptor =
            acceptor.map(|certificates| certificates.acceptor(&["http/1.1"], server::PLAIN)).transpose()?;
        let mut inputs = dunnage_inputs::open_all(&config.inputs, config.beside_inputs())?;
        let outputs = dunnage_outputs::open_all(&config.outputs)?;
        let opened = open_buffer(config, &profiles)?;
        ingest_metrics.remembered(opened.duplicates());
        check_layouts(config, &profiles, opened.layouts())?;
        let failed = |source| Error::Listen { address: config.http.listen, source };
        let listener = TcpListener::bind(config.http.listen).await.map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        let addresses = listen(&mut inputs).await?;
        #[cfg(unix)]
        let socket = config.admin_socket().map(|path| admin::Socket::bind(&path)).transpose()?;
        Ok(Parts {
            profiles,
            tokens,
            keys,
            metrics,
            ingest_metrics,
            input_metrics,
            certificates,
            acceptor,
            inputs,
            addresses,
            outputs,
            opened,
            listener,
            address,
            #[cfg(unix)]
            socket,
        })
    }

    /// Builds the state of the gateway from its parts.
    fn build(self, config: &Arc<Config>, secrets: SecretFiles, stopping: &CancellationToken) -> Built {
        let Parts { mut opened, metrics, .. } = self;
        let register = Arc::new(register::load(opened.take_registered()));
        let profiles = self.profiles.with_register(Arc::clone(&register));
        let profiles = Arc::new(ArcSwap::from_pointee(profiles));
        let catalog = Arc::clone(&profiles);
        let fleet = Arc::new(Fleet::new(profiles.load_full(), opened.take_quarantined()));
        let rates = Rates::new(opened.totals());
        let (buffer, writer) = opened.start(config.http.body_limit_bytes);
        let source = Source {
            buffer: buffer.clone(),
            catalog: Arc::new(move || Arc::new(ProfileCatalog(catalog.load_full()))),
        };
        let drain = Duration::from_secs(config.http.drain_timeout_seconds);
        let outputs = Arc::new(Outputs::new(source, metrics.outputs.clone(), drain));
        let started_at = clock::now();
        let refusals = &metrics.refusals;
        let access = Arc::new(Access::new(&config.access, self.tokens, self.keys, refusals.clone()));
        let limits = Limits::new(&config.access, refusals.clone());
        let registered = Registered { register, settings: config.register.clone() };
        let ingest = Ingest::new(buffer, access, limits, profiles, registered, self.ingest_metrics);
        let delivered = Arc::clone(&outputs);
        let env = Environment {
            ingest,
            http: config.http.clone(),
            certificates: self.certificates,
            metrics: self.input_metrics,
            delivered: Box::new(move || delivered.delivered()),
            stopping: stopping.clone(),
        };
        let state = GatewayState {
            env: Arc::new(env),
            secrets,
            fleet,
            live: Live::new(),
            metrics,
            outputs,
            started_at,
            config: Arc::clone(config),
            address: self.address,
            addresses: self.addresses,
            rates,
            quarantine: Mutex::default(),
            register: Mutex::default(),
            bodies: register::memory(),
        };
        Built { state: Arc::new(state), listener: self.listener, writer }
    }
}

/// Starts the tasks that need no message to begin.
fn maintain(state: &Arc<GatewayState>) -> [AbortHandle; 6] {
    let expires = state.config.buffer.keep_delivered_hours > 0;
    [
        tokio::spawn(commits::tell_stats(Arc::clone(state))).abort_handle(),
        tokio::spawn(state.buffer().queue.clone().enforce_retention(expires)).abort_handle(),
        tokio::spawn(commits::store_late_deltas(Arc::clone(state))).abort_handle(),
        tokio::spawn(Arc::clone(&state.fleet).keep_loaded(state.buffer().readers.clone())).abort_handle(),
        tokio::spawn(Arc::clone(&state.ingest().access).look_again()).abort_handle(),
        tokio::spawn(commits::measure_rates(Arc::clone(state))).abort_handle(),
    ]
}

/// The state of a gateway that is not running yet.
struct Built {
    state: Arc<GatewayState>,
    listener: TcpListener,
    writer: IdleWriter,
}

/// Starts the thread that writes the buffer.
async fn write(state: &Arc<GatewayState>, writer: IdleWriter) -> Result<JoinHandle<()>, Error> {
    let commits = Commits::new(Arc::clone(state));
    state.ingest().watch_silence().await;
    writer.spawn(commits).map_err(Error::Thread)
}

/// The formats in which a message can be stored.
static FORMATS: LazyLock<Vec<&str>> = LazyLock::new(|| dunnage_ingest::stored_formats().collect());

fn open_buffer(config: &Config, profiles: &Profiles) -> Result<Opened, BufferError> {
    let options = Options {
        buffer: &config.buffer,
        quarantine: &config.quarantine,
        formats: &FORMATS,
        outputs: config.outputs.iter().map(|output| output.name.as_str().into()).collect(),
    };
    dunnage_buffer::open(options, &|sent| profiles.dedup_by_payload(&sent.into()))
}

/// Collects the files with the credentials of `inputs` and `outputs`, each with its table.
fn secrets(inputs: &[Named], outputs: &[dunnage_outputs::Named]) -> SecretFiles {
    let mut files = Vec::new();
    for Named { name, input } in inputs {
        let table = format!("[[input]] name = {name:?}");
        files.extend(input.secrets().into_iter().map(|file| (table.clone(), file)));
    }
    for dunnage_outputs::Named { name, output, .. } in outputs {
        let table = format!("[[output]] name = {name:?}");
        files.extend(output.secrets().into_iter().map(|file| (table.clone(), file)));
    }
    SecretFiles(files)
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
pub(crate) fn check_layouts(
    config: &Config,
    profiles: &Profiles,
    stored: &HashSet<Arc<LayoutKey>>,
) -> Result<(), Error> {
    let Some((before, slot)) = stored.iter().find_map(|before| Some((before, profiles.instead_of(before)?)))
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
