//! TLS: for what the gateway calls, and for its listeners.

mod accept;
mod certificate;

pub use accept::Acceptor;
pub use certificate::{Certificates, TlsError, TlsSettings, check};

/// Chooses the cryptography of all TLS connections of this process. Called before the first is made, any number of times.
pub fn prepare() {
    // An error means that it is chosen already.
    let _ = rustls::crypto::ring::default_provider().install_default();
}
