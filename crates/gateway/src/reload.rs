//! Reload: reads profiles, schemas, tokens, keys, the secrets of inputs and outputs, and the certificate again while messages arrive.
//!
//! Everything is read and checked before any of it is used, so that a mistake leaves the gateway as it was.

use crate::{
    config::Config,
    config_file::{ConfigError, differences},
    placed,
    state::GatewayState,
};
use dunnage_access::{Keys, Tokens, TokensError, tls::TlsError};
use dunnage_buffer::{LayoutKey, Use};
use dunnage_clients::secret::SecretError;
use dunnage_ingest::profiles::{Profiles, settings::ProfileError, slots::Slot};
use dunnage_inputs::{Hooks, InputError};
use serde::Serialize;
use std::sync::Arc;
use tokio::sync::Mutex;

/// Why a reload failed. Everything stays as it was.
#[derive(Debug, thiserror::Error)]
pub enum ReloadError {
    /// The configuration is invalid.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// A schema or a profile cannot be used.
    #[error(transparent)]
    Profile(#[from] ProfileError),
    /// The token file or the key file cannot be used.
    #[error(transparent)]
    Tokens(#[from] TokensError),
    /// The certificate cannot be used.
    #[error(transparent)]
    Tls(#[from] TlsError),
    /// The tokens or the key of a webhook cannot be used.
    #[error(transparent)]
    Input(#[from] InputError),
    /// The credentials of an input or output cannot be read.
    #[error(transparent)]
    Secret(#[from] SecretError),
    /// A slot has another layout than before.
    #[error(
        "{origin}: slot {slot} of the schema {schema:?} has another layout than {}. Messages of devices that still use the \
         old layout would be misread: give the new layout another x-dunnage-slot, and keep the old one beside it",
        if *.stored { "the stored messages" } else { "the one that is loaded; if no message has that, restart" }
    )]
    ChangedLayout {
        /// The schema's file, or its name if it is a bundled one.
        origin: String,
        /// The schema's name.
        schema: String,
        /// The slot.
        slot: u8,
        /// Whether the buffer has messages of the previous layout.
        stored: bool,
    },
    /// The buffer, which remembers layouts, cannot be read; the log says why.
    #[error("the buffer cannot be read; the log says why")]
    Buffer,
}

/// The result of a reload.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Reloaded {
    /// Number of profiles.
    pub profiles: usize,
    /// Number of schemas, with the bundled ones.
    pub schemas: usize,
    /// Number of tokens, with expired ones.
    pub tokens: usize,
    /// Number of keys of DTLS, with expired ones.
    pub keys: usize,
    /// Changed settings that need a restart.
    pub needs_restart: Vec<String>,
    /// Layouts that are no longer loaded although the buffer has messages of them: `slot 30 of the schema "hive"`.
    pub gone_layouts: Vec<String>,
}

/// Reloads a gateway.
pub struct Reloader {
    state: Arc<GatewayState>,
    hooks: Arc<Hooks>,
    /// The configuration that the gateway was started with.
    config: Arc<Config>,
    /// Held during a reload: one runs at a time.
    turn: Mutex<()>,
}

impl Reloader {
    /// Creates a reloader for a gateway that was started with `config`.
    pub fn new(state: Arc<GatewayState>, hooks: Arc<Hooks>, config: Arc<Config>) -> Reloader {
        Reloader { state, hooks, config, turn: Mutex::new(()) }
    }

    /// Reads the configuration file and everything that it names again, and uses it for messages that arrive from now on. A mistake leaves
    /// everything as it was.
    pub async fn reload(&self) -> Result<Reloaded, ReloadError> {
        let _turn = self.turn.lock().await;
        let reloaded = self.attempt().await;
        match &reloaded {
            Ok(Reloaded { profiles, schemas, tokens, keys, needs_restart, gone_layouts }) => {
                tracing::info!(profiles, schemas, tokens, keys, "profiles, schemas and tokens were reloaded");
                for what in needs_restart {
                    tracing::warn!(what, "a changed setting takes effect only after a restart");
                }
                for layout in gone_layouts {
                    tracing::warn!(
                        layout,
                        "a layout that stored messages use is no longer loaded; devices that still send it are rejected"
                    );
                }
            }
            Err(error) => {
                tracing::error!(%error, "profiles, schemas and tokens were not reloaded; the previous ones stay");
            }
        }
        reloaded
    }

    async fn attempt(&self) -> Result<Reloaded, ReloadError> {
        let started_with = Arc::clone(&self.config);
        let (certificates, state) = (self.state.env.certificates.clone(), Arc::clone(&self.state));
        let hooks = Arc::clone(&self.hooks);
        let read = tokio::task::spawn_blocking(move || -> Result<_, ReloadError> {
            let config = match &started_with.file {
                Some(file) => Config::load(Some(file))?,
                None => Config::clone(&started_with),
            };
            let profiles = placed::profiles(&config)?;
            // Another buffer needs a restart, so paths relative to its folder start at the old one.
            let beside = Config { access: config.access.clone(), ..Config::clone(&started_with) };
            let tokens = Tokens::load(&beside.tokens())?;
            let keys = Keys::load(&beside.keys())?;
            let access = &state.ingest().access;
            tokens.carry(&access.tokens());
            keys.carry(&access.all_keys());
            let guards = hooks.read()?;
            let secrets = state.secrets.read()?;
            let certificate = certificates.map(|certificates| certificates.read()).transpose()?;
            Ok((config, profiles, tokens, keys, (guards, secrets), certificate))
        });
        let (config, profiles, tokens, keys, (guards, secrets), certificate) =
            read.await.map_err(|_| ReloadError::Buffer)??;
        let gone_layouts = self.check_layouts(&profiles).await?;
        let reloaded = Reloaded {
            profiles: config.profiles.len(),
            schemas: profiles.schemas(),
            tokens: tokens.len(),
            keys: keys.len(),
            needs_restart: differences(&self.config, &config),
            gone_layouts,
        };
        let register = Arc::clone(&self.state.ingest().registered.register);
        self.state.ingest().profiles.store(Arc::new(profiles.with_register(register)));
        self.state.ingest().watch_silence().await;
        self.state.ingest().access.replace(tokens, keys);
        guards.replace();
        secrets.replace();
        if let (Some(certificates), Some(new)) = (&self.state.env.certificates, certificate) {
            certificates.replace(new);
        }
        Ok(reloaded)
    }

    /// Rejects a slot whose layout has changed. Messages with any loaded layout may be under way, so those layouts count as well as the
    /// stored ones. Returns the layouts that are loaded and stored, and that `new` does not have.
    async fn check_layouts(&self, new: &Profiles) -> Result<Vec<String>, ReloadError> {
        let changed = |key: &LayoutKey, slot: &Slot, stored| ReloadError::ChangedLayout {
            origin: slot.origin.clone(),
            schema: key.schema.to_string(),
            slot: key.slot,
            stored,
        };
        let stored =
            self.state.buffer().readers.of(Use::Admin).layouts().await.map_err(|_| ReloadError::Buffer)?;
        let loaded = self.state.ingest().profiles.load_full();
        let all = stored.iter().map(|key| (&**key, true));
        for (key, stored) in all.chain(loaded.layouts().map(|key| (key, false))) {
            if let Some(slot) = new.instead_of(key) {
                return Err(changed(key, slot, stored));
            }
        }
        let is_gone = |key: &&LayoutKey| {
            stored.iter().any(|stored| **stored == **key) && new.layouts().all(|other| other != *key)
        };
        let gone = loaded.layouts().filter(is_gone);
        Ok(gone.map(|key| format!("slot {} of the schema {:?}", key.slot, key.schema)).collect())
    }
}
