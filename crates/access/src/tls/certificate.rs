//! The certificate of the listeners and its key, reloaded when their files change.

use super::{Acceptor, prepare};
use arc_swap::ArcSwap;
use documented::DocumentedFields;
use prometheus_client::metrics::counter::Counter;
use ring::digest::{Context, SHA256};
use rustls::{
    ServerConfig,
    crypto::ring::{Ticketer, default_provider},
    server::{ClientHello, ResolvesServerCert},
    sign::CertifiedKey,
};
use rustls_pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject};
use serde::{Deserialize, Serialize};
use std::{
    fmt, fs,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

/// How often the files are checked for changes.
const CHECK_INTERVAL: Duration = Duration::from_secs(5);

/// `[tls]`
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, DocumentedFields)]
#[serde(deny_unknown_fields, default)]
pub struct TlsSettings {
    /// The certificate chain of listeners with tls = true (PEM). It is read again when it changes. Empty: none.
    pub certificate: PathBuf,
    /// Its private key (PEM).
    pub key: PathBuf,
}

/// A certificate that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("[tls] {key}: {message}")]
pub struct TlsError {
    /// The key of `[tls]`.
    pub key: &'static str,
    /// Why.
    pub message: String,
}

/// Identifies the content of the files, to notice changes: a hash of their bytes, or the error.
type Stamp = Result<Vec<u8>, TlsError>;

/// The certificate of all listeners, and its key.
pub struct Certificates {
    settings: TlsSettings,
    current: Arc<Current>,
    /// The stamp of the files as they were last read.
    seen: Mutex<Stamp>,
    failures: Counter,
}

impl Certificates {
    /// Reads the certificate of `settings`, if they name one. `failures` counts failed handshakes.
    pub fn open(settings: &TlsSettings, failures: Counter) -> Result<Option<Certificates>, TlsError> {
        if settings.certificate.as_os_str().is_empty() {
            return Ok(None);
        }
        prepare();
        let files = Files::read(settings)?;
        let current = Arc::new(Current(ArcSwap::from_pointee(files.parse(settings)?)));
        let seen = Mutex::new(Ok(files.stamp()));
        Ok(Some(Certificates { settings: settings.clone(), current, seen, failures }))
    }

    /// Returns an acceptor for `protocols` (ALPN), which apply if the client names any. It answers clients without TLS with `plain`.
    pub fn acceptor(&self, protocols: &[&str], plain: &'static str) -> Result<Acceptor, TlsError> {
        let builder = ServerConfig::builder_with_provider(Arc::new(default_provider()));
        let builder = builder.with_safe_default_protocol_versions().map_err(|e| unusable(&e))?;
        let mut config = builder.with_no_client_auth().with_cert_resolver(Arc::clone(&self.current) as _);
        config.alpn_protocols = protocols.iter().map(|protocol| protocol.as_bytes().to_vec()).collect();
        // Tickets let devices resume a session without a full handshake, and the server keeps no state for them.
        config.ticketer = Ticketer::new().map_err(|e| unusable(&e))?;
        Ok(Acceptor::new(config, plain, self.failures.clone()))
    }

    /// Reads the files again, for `replace`. The stamp is stored even if they are invalid, so that `watch` does not report the same error
    /// again.
    pub fn read(&self) -> Result<CertifiedKey, TlsError> {
        let files = Files::read(&self.settings);
        *self.seen() = files.as_ref().map(Files::stamp).map_err(Clone::clone);
        files?.parse(&self.settings)
    }

    /// Uses `new` from the next connection on.
    pub fn replace(&self, new: CertifiedKey) {
        self.current.0.store(Arc::new(new));
    }

    /// Checks the files every 5 s, without end, and uses a certificate that has changed. If the new one is invalid, the previous one stays.
    pub async fn watch(self: Arc<Self>) {
        loop {
            tokio::time::sleep(CHECK_INTERVAL).await;
            let looking = Arc::clone(&self);
            // An error means that the runtime is shutting down.
            let _ = tokio::task::spawn_blocking(move || looking.look()).await;
        }
    }

    fn look(&self) {
        let files = Files::read(&self.settings);
        let stamp = files.as_ref().map(Files::stamp).map_err(Clone::clone);
        if *self.seen() == stamp {
            return;
        }
        *self.seen() = stamp;
        match files.and_then(|files| files.parse(&self.settings)) {
            Ok(new) => {
                self.replace(new);
                tracing::info!(certificate = %self.settings.certificate.display(), "the new certificate is in use");
            }
            Err(error) => {
                tracing::error!(%error, "the new certificate cannot be used; the previous one stays in use");
            }
        }
    }

    fn seen(&self) -> std::sync::MutexGuard<'_, Stamp> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Checks the files of `settings`, if they name any.
pub fn check(settings: &TlsSettings) -> Result<(), TlsError> {
    Certificates::open(settings, Counter::default()).map(|_| ())
}

/// The files' contents.
struct Files {
    certificate: Vec<u8>,
    key: Vec<u8>,
}

impl Files {
    fn read(settings: &TlsSettings) -> Result<Files, TlsError> {
        let read = |key, path: &Path| fs::read(path).map_err(|e| wrong(key, path, e));
        Ok(Files {
            certificate: read("certificate", &settings.certificate)?,
            key: read("key", &settings.key)?,
        })
    }

    fn stamp(&self) -> Vec<u8> {
        let mut context = Context::new(&SHA256);
        context.update(&self.certificate.len().to_be_bytes());
        context.update(&self.certificate);
        context.update(&self.key);
        context.finish().as_ref().to_vec()
    }

    fn parse(&self, settings: &TlsSettings) -> Result<CertifiedKey, TlsError> {
        let certificate = |message: &dyn fmt::Display| wrong("certificate", &settings.certificate, message);
        let key = |message: &dyn fmt::Display| wrong("key", &settings.key, message);
        let chain: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&self.certificate).collect();
        let chain = chain.map_err(|e| certificate(&e))?;
        if chain.is_empty() {
            return Err(certificate(&"the file contains no certificate in PEM"));
        }
        let secret = PrivateKeyDer::from_pem_slice(&self.key).map_err(|e| key(&e))?;
        CertifiedKey::from_der(chain, secret, &default_provider()).map_err(|e| match e {
            rustls::Error::InconsistentKeys(_) => key(&"the key does not belong to the certificate"),
            rustls::Error::InvalidCertificate(_) => certificate(&e),
            other => key(&other),
        })
    }
}

fn wrong(key: &'static str, path: &Path, message: impl fmt::Display) -> TlsError {
    TlsError { key, message: format!("{}: {message}", path.display()) }
}

fn unusable(error: &rustls::Error) -> TlsError {
    TlsError { key: "certificate", message: error.to_string() }
}

/// Resolves to the current certificate at each handshake.
#[derive(Debug)]
struct Current(ArcSwap<CertifiedKey>);

impl ResolvesServerCert for Current {
    fn resolve(&self, _: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        Some(self.0.load_full())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pair() -> (String, String) {
        let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
        (made.cert.pem(), made.signing_key.serialize_pem())
    }

    fn settings(folder: &Path, (certificate, key): &(String, String)) -> TlsSettings {
        let settings = TlsSettings { certificate: folder.join("c.pem"), key: folder.join("k.pem") };
        fs::write(&settings.certificate, certificate).unwrap();
        fs::write(&settings.key, key).unwrap();
        settings
    }

    #[test]
    fn what_cannot_be_used_is_said_with_its_key() {
        let folder = tempfile::tempdir().unwrap();
        let (good, other) = (pair(), pair());
        assert_eq!(check(&settings(folder.path(), &good)), Ok(()));
        assert_eq!(check(&TlsSettings::default()), Ok(()));
        for (pair, key, text) in [
            ((good.0.clone(), other.1), "key", "the key does not belong to the certificate"),
            (("nothing".into(), good.1.clone()), "certificate", "the file contains no certificate"),
            ((good.0.clone(), "nothing".into()), "key", "k.pem"),
            ((good.1.clone(), good.1.clone()), "certificate", "the file contains no certificate"),
        ] {
            let error = check(&settings(folder.path(), &pair)).unwrap_err();
            assert!(error.key == key && error.message.contains(text), "{error}");
        }
        let mut gone = settings(folder.path(), &good);
        gone.key = folder.path().join("gone.pem");
        assert_eq!(check(&gone).unwrap_err().key, "key");
    }

    #[test]
    fn files_that_change_are_used_when_they_fit_together() {
        let folder = tempfile::tempdir().unwrap();
        let (first, second) = (pair(), pair());
        let from = settings(folder.path(), &first);
        let certificates = Certificates::open(&from, Counter::default()).unwrap().unwrap();
        let shown = || CertificateDer::clone(&certificates.current.0.load().cert[0]);
        let before = shown();
        certificates.look();
        fs::write(&from.certificate, &second.0).unwrap();
        certificates.look();
        assert_eq!(shown(), before);
        fs::write(&from.key, &second.1).unwrap();
        certificates.look();
        assert_ne!(shown(), before);
    }
}
