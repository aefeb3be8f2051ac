//! TLS, for the connections that the gateway makes and for its listeners.

mod accept;
mod certificate;

pub use accept::Acceptor;
pub use certificate::{Certificates, TlsError, TlsSettings, check};

/// Installs the cryptography of all TLS connections of this process. Must be called before the first connection; further calls do nothing.
pub fn prepare() {
    // An error means that one is installed already.
    let _ = rustls::crypto::ring::default_provider().install_default();
}
