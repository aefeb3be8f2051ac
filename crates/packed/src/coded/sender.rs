//! The state of a sender of deltas.

use super::delta::Reference;
use crate::{Error, Fit, Layout, fit};
use dunnage_pson::Value;
use std::{borrow::Borrow, collections::VecDeque};

/// After this many messages without an acknowledgement, a sender no longer trusts its reference.
const MAX_UNACKNOWLEDGED: u32 = 16;

/// Encodes the messages of one device, each in its shortest form, and keeps what the receiver has acknowledged. [`Receiver`](crate::Receiver) is
/// the other end, and has an example.
///
/// `L` is `&Layout`, `Arc<Layout>` or a `Layout`.
#[derive(Debug, Clone)]
pub struct Sender<L> {
    layout: L,
    acknowledged: Option<Reference>,
    /// The last messages that may still be acknowledged, the oldest first.
    pending: VecDeque<Reference>,
    /// How many messages may wait for their acknowledgement.
    depth: usize,
    unacknowledged: u32,
}

impl<L: Borrow<Layout>> Sender<L> {
    /// Creates a sender that keeps `depth` messages until they are acknowledged: 1 if each answer comes before the next message.
    pub fn new(layout: L, depth: usize) -> Sender<L> {
        Sender {
            layout,
            acknowledged: None,
            pending: VecDeque::new(),
            depth: depth.max(1),
            unacknowledged: 0,
        }
    }

    /// Appends `message` to `out` as a delta, or without a reference if that is not longer.
    ///
    /// # Errors
    /// As those of [`Layout::encode`], and `malformed` if the layout has no statistics.
    pub fn encode(&mut self, message: &Value, out: &mut Vec<u8>) -> Result<(), Error> {
        self.trust();
        let current = self.layout.borrow().reference(message)?;
        self.encode_shortest(message, out)?;
        self.wait(current);
        Ok(())
    }

    /// Appends as much of `message` to `out` as `limit` bytes hold, see [`Layout::encode_fit`].
    ///
    /// # Errors
    /// As those of [`Sender::encode`], and `limit` if the smallest form of the message is larger.
    pub fn encode_fit(&mut self, message: &Value, limit: usize, out: &mut Vec<u8>) -> Result<Fit, Error> {
        self.trust();
        let layout = self.layout.borrow();
        let (fit, sent) = fit::encode(layout, message, limit, out, |message, out| {
            layout.trained_or_error().map_err(Error::without_offset)?;
            self.encode_shortest(message, out)
        })?;
        let current = layout.reference(&sent)?;
        self.wait(current);
        Ok(fit)
    }

    /// Forgets the reference if too many messages were not acknowledged.
    fn trust(&mut self) {
        if self.unacknowledged >= MAX_UNACKNOWLEDGED {
            self.forget();
        }
    }

    fn encode_shortest(&self, message: &Value, out: &mut Vec<u8>) -> Result<(), Error> {
        let start = out.len();
        let layout = self.layout.borrow();
        layout.encode(message, out)?;
        if let Some(reference) = &self.acknowledged {
            let mut delta = Vec::new();
            layout.encode_delta(message, reference, &mut delta)?;
            if delta.len() < out.len() - start {
                out.truncate(start);
                out.extend(delta);
            }
        }
        Ok(())
    }

    /// Keeps a message that was sent until it is acknowledged.
    fn wait(&mut self, sent: Reference) {
        if self.pending.len() == self.depth {
            self.pending.pop_front();
        }
        self.pending.push_back(sent);
        self.unacknowledged += 1;
    }

    /// Takes note that the receiver has the message of this name. Returns whether that was news: an unknown or ambiguous name is
    /// ignored, so that late and repeated acknowledgements do no harm.
    ///
    /// ```
    /// # use dunnage_packed::{Layout, Training, Value};
    /// # use dunnage_schema::Model;
    /// # let model = Model::compile(r#"{"type": "integer", "minimum": 0, "maximum": 999999, "x-dunnage-changes": 2}"#)?;
    /// # let model = model.clone().with_statistics(Training::assumed(&Layout::untrained(&model))?.as_deref());
    /// let layout = Layout::new(&model)?; // a schema with statistics
    /// # use dunnage_packed::Sender;
    /// let mut sender = Sender::new(&layout, 1);
    /// sender.encode(&Value::U64(500_000), &mut Vec::new())?;
    /// let name = sender.last().unwrap();
    /// assert!(sender.acknowledged(name));
    /// assert!(!sender.acknowledged(name)); // a repetition
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn acknowledged(&mut self, name: u16) -> bool {
        let mut named = (0..self.pending.len()).filter(|at| self.pending[*at].name() == name);
        let Some(at) = named.next_back() else { return false };
        if named.any(|other| self.pending[other].plain() != self.pending[at].plain()) {
            return false;
        }
        // What was sent before it is older than the new reference.
        self.acknowledged = self.pending.drain(..=at).next_back();
        self.unacknowledged = 0;
        true
    }

    /// Returns the name of the message that was sent last.
    pub fn last(&self) -> Option<u16> {
        self.pending.back().map(Reference::name)
    }

    /// Forgets the reference: after an error of kind `reference`, and after a change of the layout.
    pub fn forget(&mut self) {
        self.acknowledged = None;
        self.unacknowledged = 0;
    }
}
