//! Outputs: each reads messages from the buffer, behind a cursor of its own, and delivers them to another system.
//!
//! An [`Output`] knows how to deliver some messages in one call. The [`Forwarder`], which is the same for all outputs, decides when to call,
//! how many calls to make at a time, and what to do when one fails:
//!
//! - **Order.** Messages of one partition are delivered one after the other; see [`Lanes`].
//! - **At least once.** A message that was delivered shortly before the gateway ended is delivered again, with the same stable ID, so that
//!   the receiver can drop it.
//! - **Retries.** A call that fails is repeated, later and later. While all calls fail, the breaker pauses the output.
//! - **Dead letters.** A message that the receiver refuses for good is listed and does not hold up others. An operator can have it retried
//!   or discarded.
//! - **Concurrency.** The number of calls at a time follows the receiver: it falls when answers get slower.
//!
//! To add an output, make a module with its settings, its `EXAMPLE` and its [`Output`], and register it in `settings.rs`.
//!
//! # Example
//!
//! ```
//! use dunnage_outputs::{Failed, Lanes, Message, Output, Shape};
//!
//! /// Prints each message.
//! struct Print;
//!
//! #[async_trait::async_trait]
//! impl Output for Print {
//!     fn shape(&self) -> Shape {
//!         Shape { lanes: Lanes::PerDevice, batch: 1, linger: std::time::Duration::ZERO }
//!     }
//!
//!     async fn deliver(&self, messages: &[Message]) -> Result<(), Failed> {
//!         messages.iter().for_each(|message| println!("{} {}", message.device, message.json));
//!         Ok(())
//!     }
//! }
//!
//! # #[tokio::main]
//! # async fn main() {
//! assert_eq!(Print.deliver(&[Message::default()]).await, Ok(()));
//! # }
//! ```

pub mod files;
mod forward;
pub mod http;
#[cfg(feature = "kafka")]
pub mod kafka;
pub mod message;
mod meter;
pub mod nats;
pub mod onem2m;
mod running;
mod settings;
mod source;

pub use forward::{CLOSING, Forwarder};
pub use message::Message;
pub use meter::{Breaker, Families, Meter, Progress, Status};
pub use running::{AsideError, Outputs, Which};
pub use settings::{EXAMPLES, Named, OutputError, OutputKind, OutputSettings, check, open, open_all};
pub use source::{Catalog, Source};

use dunnage_clients::secret::SecretFile;
use serde::Serialize;
use std::{sync::Arc, time::Duration};
use utoipa::ToSchema;

/// Another system that takes messages.
#[async_trait::async_trait]
pub trait Output: Send + Sync {
    /// How it wants its messages.
    fn shape(&self) -> Shape;

    /// Hands over `messages`, in their order: at least one, at most `shape().batch`. `Ok` means that the other side
    /// answers for all of them from here. Called again with the same messages after an error, or after a restart.
    async fn deliver(&self, messages: &[Message]) -> Result<(), Failed>;

    /// Longest time that a call may take. One that takes longer is given up and tried again.
    fn deadline(&self) -> Duration {
        Duration::from_secs(60)
    }

    /// How many messages, since it was opened, the other side said it had already. They count as delivered too.
    fn duplicates(&self) -> u64 {
        0
    }

    /// How often it has something to do when no message comes; without it, never.
    fn tends_every(&self) -> Option<Duration> {
        None
    }

    /// Does what is due, also when no message comes. `buffer` is the name of the buffer that the messages are of, `catalog` has their
    /// schemas.
    async fn tend(&self, _buffer: &str, _catalog: Arc<dyn Catalog>) {}

    /// The files that hold what it identifies itself with.
    fn secrets(&self) -> Vec<Arc<SecretFile>> {
        Vec::new()
    }

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
    /// Why, for metrics.
    pub class: Class,
    /// Why, for people.
    pub reason: String,
}

/// Why messages were not delivered, as the label `reason` of metrics has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum Class {
    /// There is no connection, or it broke.
    Connection,
    /// No answer came in time.
    Timeout,
    /// The other side has too much to do: HTTP's 429 and 503.
    Busy,
    /// It does not let us: 401, 403.
    Denied,
    /// What the message is for is not there: 404.
    Missing,
    /// It fails itself: any other 5xx.
    Failing,
    /// Anything else.
    Other,
}

impl Class {
    /// Every one.
    pub const ALL: [Class; 7] = [
        Class::Connection,
        Class::Timeout,
        Class::Busy,
        Class::Denied,
        Class::Missing,
        Class::Failing,
        Class::Other,
    ];

    /// What it is called.
    pub fn name(self) -> &'static str {
        match self {
            Class::Connection => "connection",
            Class::Timeout => "timeout",
            Class::Busy => "busy",
            Class::Denied => "denied",
            Class::Missing => "missing",
            Class::Failing => "failing",
            Class::Other => "other",
        }
    }

    /// What an HTTP status says, or one of a protocol that has the same numbers.
    pub fn of_status(status: u16) -> Class {
        match status {
            408 | 504 => Class::Timeout,
            429 | 503 => Class::Busy,
            401 | 403 => Class::Denied,
            404 => Class::Missing,
            500..=599 => Class::Failing,
            _ => Class::Other,
        }
    }
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
        Failed { delivered: 0, kind: FailureKind::Retry(None), class: Class::Other, reason: reason.into() }
    }

    /// The first message is refused for good.
    pub fn refused(reason: impl Into<String>) -> Failed {
        Failed { delivered: 0, kind: FailureKind::Refused, class: Class::Other, reason: reason.into() }
    }

    /// The same, because of `class`.
    pub fn because(self, class: Class) -> Failed {
        Failed { class, ..self }
    }

    /// The same, to be tried again no sooner than after `wait`.
    pub fn not_before(self, wait: Option<Duration>) -> Failed {
        Failed { kind: FailureKind::Retry(wait), ..self }
    }

    /// The same, after `delivered` messages that did not fail.
    pub fn after(self, delivered: usize) -> Failed {
        Failed { delivered, ..self }
    }
}
