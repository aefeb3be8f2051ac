//! The configuration: one TOML file, overridden by the environment.

use documented::DocumentedFields;
use dunnage_access::{AccessSettings, tls::TlsSettings};
use dunnage_buffer::{BufferSettings, QuarantineSettings};
use dunnage_ingest::{
    RegisterSettings,
    profiles::settings::{Profile, SchemaSettings},
};
use dunnage_inputs::{Beside, HttpSettings, InputSettings};
use dunnage_outputs::OutputSettings;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// The whole configuration. `Config::default()` is what `dunnage gateway` uses where nothing is set.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// The HTTP input and API.
    pub http: HttpSettings,
    /// The rights to send and to read.
    pub access: AccessSettings,
    /// The certificate of listeners with TLS.
    pub tls: TlsSettings,
    /// The buffer.
    pub buffer: BufferSettings,
    /// The quarantine.
    pub quarantine: QuarantineSettings,
    /// The register of devices.
    pub register: RegisterSettings,
    /// The schemas.
    pub schemas: SchemaSettings,
    /// The admin socket.
    pub admin: Admin,
    /// The log.
    pub log: Log,
    /// The profiles; the first one whose pattern matches a device applies to it.
    #[serde(rename = "profile", skip_serializing_if = "Vec::is_empty")]
    pub profiles: Vec<Profile>,
    /// The inputs besides HTTP.
    #[serde(rename = "input", skip_serializing_if = "Vec::is_empty")]
    pub inputs: Vec<InputSettings>,
    /// The outputs.
    #[serde(rename = "output", skip_serializing_if = "Vec::is_empty")]
    pub outputs: Vec<OutputSettings>,
    /// The file that this was read from, for a reload.
    #[serde(skip)]
    pub file: Option<PathBuf>,
}

/// `[admin]`
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, DocumentedFields)]
#[serde(deny_unknown_fields, default)]
pub struct Admin {
    /// The Unix socket of `dunnage gateway status` and similar commands, relative to the buffer's folder; empty: none.
    pub socket: PathBuf,
}

/// `[log]`
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, DocumentedFields)]
#[serde(deny_unknown_fields, default)]
pub struct Log {
    /// human or json.
    pub format: LogFormat,
    /// error, warn, info, debug or trace, or directives of tracing's EnvFilter.
    pub level: String,
}

/// The format of a log line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LogFormat {
    /// For people.
    Human,
    /// A JSON object per line.
    Json,
}

impl Default for Admin {
    fn default() -> Self {
        Admin { socket: "admin.sock".into() }
    }
}

impl Config {
    /// Returns the path of the admin socket, if one is set.
    pub fn admin_socket(&self) -> Option<PathBuf> {
        (!self.admin.socket.as_os_str().is_empty()).then(|| self.state().join(&self.admin.socket))
    }

    /// Returns what inputs need to know about the other sections.
    pub(crate) fn beside_inputs(&self) -> Beside {
        Beside {
            certificate: !self.tls.certificate.as_os_str().is_empty(),
            outputs: !self.outputs.is_empty(),
        }
    }

    /// Returns the path of the token file.
    pub fn tokens(&self) -> PathBuf {
        self.state().join(&self.access.tokens)
    }

    /// Returns the path of the key file of DTLS.
    pub fn keys(&self) -> PathBuf {
        self.state().join(&self.access.keys)
    }

    /// Returns the folder of the buffer, at which relative paths of other files start.
    fn state(&self) -> &Path {
        self.buffer.path.parent().unwrap_or(Path::new(""))
    }
}

impl Default for Log {
    fn default() -> Self {
        Log { format: LogFormat::Human, level: "info".into() }
    }
}
