//! The state of a receiver of deltas.

use super::delta::{Decoded, Reference, is_delta};
use super::window::Window;
use crate::Known;
use crate::{Error, Layout};
use dunnage_pson::{Kind, Value};
use std::borrow::Borrow;

/// Decodes the messages of one device in any form, and keeps the last ones as references of deltas.
///
/// `L` is `&Layout`, `Arc<Layout>` or a `Layout`.
///
/// ```
/// use dunnage_packed::{Layout, Receiver, Sender, Training, Value};
/// use dunnage_schema::Model;
///
/// let model = Model::compile(r#"{"type": "integer", "minimum": 0, "maximum": 999999, "x-dunnage-changes": 2}"#)?;
/// let statistics = Training::assumed(&Layout::untrained(&model))?;
/// let model = model.with_statistics(statistics.as_deref());
/// let layout = Layout::new(&model)?;
///
/// let (mut sender, mut receiver) = (Sender::new(&layout, 1), Receiver::new(&layout, 32));
/// for n in 0..3 {
///     let mut bytes = Vec::new();
///     sender.encode(&Value::U64(500_000 + n), &mut bytes)?;
///     assert_eq!(receiver.decode(&bytes, None)?, Value::U64(500_000 + n));
///     // The acknowledgement, which comes back over the link.
///     sender.acknowledged(receiver.last().unwrap().name());
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Receiver<L> {
    layout: L,
    window: Window<Reference>,
}

impl<L: Borrow<Layout>> Receiver<L> {
    /// Creates a receiver that keeps `keep` messages, at least 1. A delta cannot be decoded if its reference was evicted: keep as many as the
    /// device may send before an acknowledgement reaches it.
    pub fn new(layout: L, keep: usize) -> Receiver<L> {
        Receiver { layout, window: Window::new(keep, keep / 2) }
    }

    /// Adds a message that was received before, later than those that the receiver has: from [`Layout::reference_from`].
    pub fn keep(&mut self, reference: Reference) {
        let same = reference.plain().to_vec();
        drop(self.window.push(reference, |kept| kept.plain() == same));
    }

    /// Decodes a message, and keeps it as a reference if the layout has statistics.
    ///
    /// # Errors
    /// The kind is `reference` if the message is a delta, and what it refers to is not known. Such a message must not be acknowledged.
    pub fn decode<'k>(&mut self, bytes: &[u8], known: impl Into<Known<'k>>) -> Result<Value, Error> {
        let (layout, known) = (self.layout.borrow(), known.into());
        if !layout.has_statistics() {
            // A message without a slot byte may begin as a delta does.
            return layout.decode(bytes, known);
        }
        let (value, reference) = if is_delta(bytes) {
            let delta = self.decode_delta(bytes, known)?;
            self.window.refer(|kept| kept.name() == delta.used);
            (delta.value, delta.reference)
        } else {
            let value = layout.decode(bytes, known)?;
            let reference = layout.reference(&value)?;
            (value, reference)
        };
        self.keep(reference);
        Ok(value)
    }

    /// Returns the message that a delta refers to. Does not keep the delta.
    ///
    /// # Errors
    /// As those of [`Receiver::decode`].
    pub fn reference_of<'k>(&self, delta: &[u8], known: impl Into<Known<'k>>) -> Result<&Reference, Error> {
        let used = self.decode_delta(delta, known.into())?.used;
        let found = self.window.iter().find(|kept| kept.name() == used);
        found.ok_or_else(|| {
            Error::new(Kind::Reference, 0, "the message that the delta refers to is not known")
        })
    }

    fn decode_delta(&self, bytes: &[u8], known: Known<'_>) -> Result<Decoded, Error> {
        self.layout.borrow().decode_delta(bytes, self.window.likely(), self.window.late(), known)
    }

    /// Returns the message that was decoded last. Its name acknowledges it.
    pub fn last(&self) -> Option<&Reference> {
        self.references().next()
    }

    /// Returns the messages that deltas may refer to, from the latest on.
    pub fn references(&self) -> impl ExactSizeIterator<Item = &Reference> {
        self.window.iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dunnage_schema::Model;

    #[test]
    fn without_statistics_no_message_is_a_delta() {
        let schema = r#"{"type": "integer", "minimum": 0, "maximum": 255, "x-dunnage-slot-from": "port"}"#;
        let layout = Layout::new(&Model::compile(schema).unwrap()).unwrap();
        let mut receiver = Receiver::new(&layout, 4);
        assert_eq!(receiver.decode(&[0x80], None), Ok(Value::U64(0x80)));
        assert!(receiver.last().is_none());
    }
}
