//! The configuration: one TOML file, then the environment.

use crate::{
    http_settings::HttpSettings,
    inputs::{Beside, InputSettings},
    profiles::settings::{Profile, SchemaSettings},
};
use dunnage_access::{AccessSettings, tls::TlsSettings};
use dunnage_buffer::{BufferSettings, QuarantineSettings};
use dunnage_outputs::OutputSettings;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// Everything that can be set. `Config::default()` is what `dunnage gateway` runs with when nothing is.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// The HTTP input and API.
    pub http: HttpSettings,
    /// Who may send and read.
    pub access: AccessSettings,
    /// What listeners with TLS show.
    pub tls: TlsSettings,
    /// Where messages become durable.
    pub buffer: BufferSettings,
    /// What could not be decoded.
    pub quarantine: QuarantineSettings,
    /// What messages may be.
    pub schemas: SchemaSettings,
    /// What operators ask.
    pub admin: Admin,
    /// What the gateway says about itself.
    pub log: Log,
    /// What devices send; the first profile whose pattern matches a device is used.
    #[serde(rename = "profile", skip_serializing_if = "Vec::is_empty")]
    pub profiles: Vec<Profile>,
    /// Where messages come from, beside HTTP.
    #[serde(rename = "input", skip_serializing_if = "Vec::is_empty")]
    pub inputs: Vec<InputSettings>,
    /// Where messages go.
    #[serde(rename = "output", skip_serializing_if = "Vec::is_empty")]
    pub outputs: Vec<OutputSettings>,
    /// The file that all this was read from, to be read again by a reload.
    #[serde(skip)]
    pub file: Option<PathBuf>,
}

/// `[admin]`
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Admin {
    /// A Unix socket; a relative path starts at the buffer's folder. Empty for none.
    pub socket: PathBuf,
}

/// `[log]`
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Log {
    /// How a line looks.
    pub format: LogFormat,
    /// A level (error, warn, info, debug, trace), or directives of tracing's `EnvFilter`.
    pub level: String,
}

/// How a line of the log looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LogFormat {
    /// For people.
    Human,
    /// An object a line.
    Json,
}

impl Default for Admin {
    fn default() -> Self {
        Admin { socket: "admin.sock".into() }
    }
}

impl Config {
    /// Where the admin socket is, if there is to be one.
    pub fn admin_socket(&self) -> Option<PathBuf> {
        (!self.admin.socket.as_os_str().is_empty()).then(|| self.state().join(&self.admin.socket))
    }

    /// What inputs need to know of the rest.
    pub(crate) fn beside_inputs(&self) -> Beside {
        Beside {
            certificate: !self.tls.certificate.as_os_str().is_empty(),
            outputs: !self.outputs.is_empty(),
        }
    }

    /// Where the tokens are.
    pub fn tokens(&self) -> PathBuf {
        self.state().join(&self.access.tokens)
    }

    /// Where the keys of DTLS are.
    pub fn keys(&self) -> PathBuf {
        self.state().join(&self.access.keys)
    }

    /// The folder of what the gateway keeps.
    fn state(&self) -> &Path {
        self.buffer.path.parent().unwrap_or(Path::new(""))
    }
}

impl Default for Log {
    fn default() -> Self {
        Log { format: LogFormat::Human, level: "info".into() }
    }
}
