//! The error of a failed start.

#[cfg(unix)]
use crate::admin::SocketError;
use dunnage_access::{TokensError, tls::TlsError};
use dunnage_buffer::BufferError;
use dunnage_ingest::profiles::settings::ProfileError;
use dunnage_inputs::InputError;
use dunnage_outputs::OutputError;
use std::net::SocketAddr;

/// Why a gateway could not be started.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A schema or a profile cannot be used.
    #[error(transparent)]
    Profile(#[from] ProfileError),
    /// The token file or the key file cannot be used.
    #[error(transparent)]
    Tokens(#[from] TokensError),
    /// The certificate cannot be used.
    #[error(transparent)]
    Tls(#[from] TlsError),
    /// The buffer cannot be used.
    #[error(transparent)]
    Buffer(#[from] BufferError),
    /// An input cannot be used.
    #[error(transparent)]
    Input(#[from] InputError),
    /// An output cannot be used.
    #[error(transparent)]
    Output(#[from] OutputError),
    /// A slot has another layout than the messages that the buffer has of it.
    #[error(
        "{origin}: slot {slot} of the schema {schema:?} has the layout {now}, but the messages in {buffer} have the layout \
         {before}. Messages of devices that still use the old layout would be misread: give the new layout another \
         x-dunnage-slot, and keep the old one as {schema}.json or {schema}.SUFFIX.json in the folder [schemas] path"
    )]
    ChangedLayout {
        /// The schema's file, or its name if it is a bundled one.
        origin: String,
        /// The schema's name.
        schema: String,
        /// The slot.
        slot: u8,
        /// The fingerprint of its layout.
        now: String,
        /// The fingerprint of the layout that the buffer remembers.
        before: String,
        /// The buffer's file.
        buffer: String,
    },
    /// The admin socket cannot be created.
    #[cfg(unix)]
    #[error(transparent)]
    Socket(#[from] SocketError),
    /// The HTTP listener cannot be bound.
    #[error("cannot listen on {address}: {source}")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// Why.
        source: std::io::Error,
    },
    /// The writer's thread cannot be started.
    #[error("cannot start the writer: {0}")]
    Thread(std::io::Error),
}
