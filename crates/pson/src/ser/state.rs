//! The state of a serializer. Apart from what serde's traits need of it, so that maps and arrays being written can hold it.

use crate::{Error, Kind, Options, Sink, encode::Encoder};

/// Writes a message as serde hands over its parts.
pub(crate) struct Serializer<S> {
    pub encoder: Encoder<S>,
    /// How many more maps and arrays may be opened.
    pub room: u8,
}

impl<S: Sink> Serializer<S> {
    pub fn new(sink: S, options: Options) -> Self {
        Serializer { encoder: Encoder::new(sink, options), room: options.nesting }
    }

    #[cold]
    pub fn error(&self, kind: Kind, reason: &'static str) -> Error {
        Error::new(kind, self.encoder.len(), reason)
    }
}
