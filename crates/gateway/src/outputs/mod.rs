//! Outputs: each takes messages from the buffer and hands them to another system, with a cursor of its own.
//!
//! An output knows how to hand over some messages; when, how many at a time, and what happens when it fails, is decided by
//! the forwarder (`forward.rs`). Delivery is at least once: a message that was delivered shortly before the gateway
//! ended is delivered again, under the same name, so that the other side can tell.

mod forward;
pub mod http;
pub mod message;

pub use forward::Forwarder;
pub use message::Message;

use crate::config;
use std::{sync::Arc, time::Duration};

/// One example of each kind of output, commented out, for the commented default configuration.
pub const EXAMPLES: &[&str] = &[http::EXAMPLE];

/// An output and what it is called.
pub type Named = (Arc<str>, Arc<dyn Output>);

/// Another system that takes messages.
#[async_trait::async_trait]
pub trait Output: Send + Sync {
    /// How it wants its messages.
    fn shape(&self) -> Shape;

    /// Hands over `messages`, in their order: at least one, at most `shape().batch`. `Ok` means that the other side
    /// answers for all of them from here. Called again with the same messages after an error, or after a restart.
    async fn deliver(&self, messages: &[Message]) -> Result<(), Failed>;

    /// Ends it in order. No message is handed over afterwards.
    async fn close(&self) {}
}

/// How an output wants its messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shape {
    /// What may be under way at a time.
    pub lanes: Lanes,
    /// Most messages in one call.
    pub batch: usize,
    /// How long a batch may wait until it is full.
    pub linger: Duration,
}

/// What may be under way at a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lanes {
    /// One call for each device, with messages of that device alone; many devices at a time.
    PerDevice,
    #[expect(dead_code)]
    /// One call in all, with messages of any devices.
    One,
}

/// Messages that were not delivered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failed {
    /// How many of the messages were delivered before the one that failed.
    pub delivered: usize,
    /// What to do about it.
    pub kind: FailureKind,
    /// Why, for people.
    pub reason: String,
}

/// What to do about a message that was not delivered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FailureKind {
    /// Try again later; the other side may have said when.
    Retry(Option<Duration>),
    /// The other side will never take this message. It stays in the buffer, is listed, and others go on.
    Refused,
}

impl Failed {
    /// The first message failed, and may be tried again.
    pub fn retry(reason: impl Into<String>) -> Failed {
        Failed { delivered: 0, kind: FailureKind::Retry(None), reason: reason.into() }
    }

    /// The first message is refused for good.
    pub fn refused(reason: impl Into<String>) -> Failed {
        Failed { delivered: 0, kind: FailureKind::Refused, reason: reason.into() }
    }

    /// The same, after `delivered` messages that did not fail.
    pub fn after(self, delivered: usize) -> Failed {
        Failed { delivered, ..self }
    }
}

/// An output that cannot be used as it is configured.
#[derive(Debug, thiserror::Error)]
#[error("[[output]] name = {name:?}: {message}")]
pub struct OutputError {
    /// Which.
    pub name: String,
    /// Why.
    pub message: String,
}

/// Makes the output that `config` describes. What it talks to need not be there yet.
pub fn open(config: &config::Output) -> Result<Arc<dyn Output>, OutputError> {
    let failed = |message: String| OutputError { name: config.name.clone(), message };
    if !crate::name::is_name(&config.name) {
        return Err(failed("the name must be 1 to 64 of A-Z a-z 0-9 . _ : -".into()));
    }
    match config {
        config::Output { http: Some(settings), .. } => {
            Ok(Arc::new(http::Http::new(settings).map_err(failed)?))
        }
        _ => Err(failed("says nothing of where messages go".into())),
    }
}
