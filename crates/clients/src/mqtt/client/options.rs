//! The options of a connection, messages to publish, and the limits of the broker.

use super::Version;
use bytes::Bytes;
use rustls::{ClientConfig, RootCertStore};
use rustls_pki_types::{CertificateDer, pem::PemObject};
use std::{sync::Arc, time::Duration};

/// Address and credentials of the broker, and settings of the connection.
#[derive(Clone)]
pub struct Options {
    /// Name or address.
    pub host: String,
    /// Port.
    pub port: u16,
    /// The certificates to trust, for TLS; `None` for plain TCP.
    pub tls: Option<Trust>,
    /// The version of MQTT.
    pub version: Version,
    /// The client ID, which must be unique at the broker.
    pub client_id: String,
    /// User and password.
    pub login: Option<(String, Vec<u8>)>,
    /// Whether the broker discards the session of an earlier connection.
    pub clean: bool,
    /// How long the broker keeps the session after the connection, in seconds (MQTT 5).
    pub session_expiry_seconds: u32,
    /// The message that the broker publishes, with QoS 1, when the connection breaks. [`Client::close`](super::Client::close) publishes it, too.
    pub will: Option<Publication>,
    /// Most unacknowledged messages of QoS 1 that the broker sends (MQTT 5). At least 1.
    pub receive_maximum: u16,
    /// Largest packet to accept, in bytes.
    pub packet_limit: usize,
    /// How often to ping the broker, unless it asks for more (MQTT 5). At least a second.
    pub keep_alive: Duration,
}

impl Options {
    /// Returns options for a new session without TLS and password, with packets of up to 1 MiB, and a ping every 20 s.
    pub fn new(version: Version, client_id: impl Into<String>, host: impl Into<String>, port: u16) -> Self {
        Options {
            host: host.into(),
            port,
            tls: None,
            version,
            client_id: client_id.into(),
            login: None,
            clean: true,
            session_expiry_seconds: 0,
            will: None,
            receive_maximum: u16::MAX,
            packet_limit: 1 << 20,
            keep_alive: Duration::from_secs(20),
        }
    }
}

/// Certificates to trust.
#[derive(Clone)]
pub struct Trust(Arc<ClientConfig>);

impl Trust {
    /// Trusts the certificates of `pem`, or else the system's.
    pub fn new(pem: Option<&[u8]>) -> Result<Trust, String> {
        dunnage_access::tls::prepare();
        let mut roots = RootCertStore::empty();
        match pem {
            None => {
                roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
            }
            Some(pem) => {
                for certificate in CertificateDer::pem_slice_iter(pem) {
                    let certificate = certificate.map_err(|e| format!("invalid PEM certificate: {e}"))?;
                    roots.add(certificate).map_err(|e| format!("a certificate cannot be used: {e}"))?;
                }
            }
        }
        if roots.is_empty() {
            return Err("no trusted certificate was found".into());
        }
        let config = ClientConfig::builder().with_root_certificates(roots).with_no_client_auth();
        Ok(Trust(Arc::new(config)))
    }

    /// Returns the settings of connections, for clients of other protocols.
    pub fn config(&self) -> Arc<ClientConfig> {
        Arc::clone(&self.0)
    }
}

/// A message to publish.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Publication {
    /// Its topic.
    pub topic: String,
    /// Its payload.
    pub payload: Bytes,
    /// Whether the broker keeps it for later subscribers.
    pub retain: bool,
    /// The media type of the payload; not sent with MQTT 3.1.1.
    pub content_type: Option<String>,
    /// User properties; not sent with MQTT 3.1.1.
    pub user: Vec<(&'static str, String)>,
}

/// What a broker accepts, as its CONNACK says (MQTT 5).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Most messages of QoS 1 that may be unacknowledged.
    pub receive_maximum: u16,
    /// Largest packet, in bytes.
    pub packet_bytes: usize,
    /// Whether it accepts messages of QoS 1.
    pub qos_1: bool,
    /// Whether it retains messages.
    pub retain: bool,
    /// The interval in which it expects packets, if it asks for one.
    pub keep_alive: Option<Duration>,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            receive_maximum: u16::MAX,
            packet_bytes: usize::MAX,
            qos_1: true,
            retain: true,
            keep_alive: None,
        }
    }
}
