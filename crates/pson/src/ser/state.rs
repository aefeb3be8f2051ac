//! The state of a serializer. It is separate from serde's traits so that the writers of maps and arrays can hold it.

use crate::{Error, Kind, Options, Sink, encode::Encoder};

/// Writes the parts of a message as serde passes them.
pub(crate) struct Serializer<S> {
    pub encoder: Encoder<S>,
    /// The number of maps and arrays that may still be opened.
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
