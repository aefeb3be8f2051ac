//! Outputs: each reads messages from the buffer, after a cursor of its own, and delivers them to another system.
//!
//! An [`Output`] delivers some messages in one call. The [`Forwarder`], which is the same for all outputs, decides when to call, how many
//! calls to make at a time, and what to do when one fails:
//!
//! - **Order.** Messages of one partition are delivered one after the other; see [`Partitions`].
//! - **At least once.** A message that was delivered shortly before the gateway ended may be delivered again, with the same stable ID, so
//!   that the receiver can drop it.
//! - **Retries.** A failed call is repeated, with a growing delay. While all calls fail, the breaker pauses the output. A device that fails
//!   does not hold up others, however long it does.
//! - **Dead letters.** A message that the receiver rejects permanently becomes a dead letter and does not hold up others. An operator can
//!   retry or discard it, and discard a message that is retried.
//! - **Concurrency.** The number of concurrent calls adapts to the receiver: it falls when answers get slower.
//!
//! To add an output, make a module with its settings, its `EXAMPLE` and its [`Output`], and register it in `settings.rs`.
//!
//! # Example
//!
//! ```
//! use dunnage_outputs::{Failed, Partitions, Message, Output, Shape};
//!
//! /// Prints each message.
//! struct Print;
//!
//! #[async_trait::async_trait]
//! impl Output for Print {
//!     fn shape(&self) -> Shape {
//!         Shape { partitions: Partitions::PerDevice, batch: 1, linger: std::time::Duration::ZERO }
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

pub mod downlink;
mod envelope;
pub mod files;
mod forward;
pub mod http;
pub mod influx;
pub mod kafka;
mod leaves;
pub mod message;
mod meter;
pub mod mqtt;
pub mod nats;
pub mod objects;
pub mod onem2m;
mod origin;
mod outcome;
pub mod postgres;
mod publisher;
mod records;
pub mod relay;
mod replay;
mod running;
mod selection;
mod settings;
mod source;
mod trial;

pub use forward::{CLOSING, Forwarder};
pub use message::Message;
pub use meter::{Breaker, Families, Meter, Progress, Status};
pub use outcome::{Outcome, Resolution};
pub use replay::{ReplayAction, ReplayError, ReplayRequest, ReplayState, ReplayStatus};
use running::Command;
pub use running::{DeadLetterError, Outputs, RetriedMessage, Which};
pub use settings::{EXAMPLES, Named, OutputError, OutputKind, OutputSettings, check, open, open_all};
pub use source::{Catalog, Source};
pub use trial::{MOST_TRIED, TrialError, Tried, TriedResult};

pub use dunnage_expression::Expressions;

use dunnage_clients::secret::SecretFile;
use serde::Serialize;
use std::{sync::Arc, time::Duration};
use utoipa::ToSchema;

/// Delivers messages to another system.
#[async_trait::async_trait]
pub trait Output: Send + Sync {
    /// Returns how messages are to be delivered.
    fn shape(&self) -> Shape;

    /// Returns about how many bytes of messages may be in memory for its calls. When there are as many, the next call waits no longer.
    fn memory(&self) -> usize {
        4 << 20
    }

    /// Takes note of the buffer's ID, and that all messages up to the ID `delivered_to` were delivered before the restart. Called before
    /// all other calls.
    fn resume(&self, _buffer: &str, _delivered_to: i64) {}

    /// Takes note of the current schemas. Called before each delivery.
    fn learn(&self, _catalog: Arc<dyn Catalog>) {}

    /// Delivers `messages`, in order: at least one, at most `shape().batch`. `Ok` means that the receiver is responsible for all of them.
    /// After an error or a restart, the same messages are delivered again.
    async fn deliver(&self, messages: &[Message]) -> Result<(), Failed>;

    /// Takes note of messages that need no call, and returns `true`; otherwise returns `false`, and they are delivered. They are those
    /// that the next call would have. The forwarder does not ask about dead letters that are retried.
    fn skip(&self, _messages: &[Message]) -> bool {
        false
    }

    /// Returns the longest time that a call may take. A call that takes longer is canceled and retried.
    fn deadline(&self) -> Duration {
        Duration::from_secs(60)
    }

    /// Returns how many messages the receiver already had, since this was opened. These count as delivered, too.
    fn duplicates(&self) -> u64 {
        0
    }

    /// Returns how often [`Output::tend`] is called; `None` for never.
    fn tends_every(&self) -> Option<Duration> {
        None
    }

    /// Does periodic work that is independent of deliveries. `buffer` is the buffer ID, and `catalog` has the schemas.
    async fn tend(&self, _buffer: &str, _catalog: Arc<dyn Catalog>) {}

    /// Returns the files with credentials.
    fn secrets(&self) -> Vec<Arc<SecretFile>> {
        Vec::new()
    }

    /// Closes the output in order. No message is delivered afterwards.
    async fn close(&self) {}
}

/// How an output delivers messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shape {
    /// The calls that may be in progress at the same time.
    pub partitions: Partitions,
    /// Largest number of messages in one call.
    pub batch: usize,
    /// How long a batch may wait for more messages.
    pub linger: Duration,
}

/// The calls that may be in progress at the same time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Partitions {
    /// One call for each device, with messages of that device only. Devices are delivered concurrently.
    PerDevice,
    /// One call, with messages of any devices. A device whose messages fail is called alone, in addition.
    Together,
    /// One call in total, with messages of any devices, in the order of their IDs. A message that fails holds up all others.
    One,
}

/// A failed delivery.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failed {
    /// How many messages were delivered before the one that failed.
    pub delivered: usize,
    /// Whether to retry.
    pub kind: FailureKind,
    /// The reason, for metrics.
    pub class: Class,
    /// The reason, for people.
    pub reason: String,
}

/// Why a delivery failed: the label `reason` of the metrics.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum Class {
    /// No connection could be made, or it broke.
    Connection,
    /// No answer arrived in time.
    Timeout,
    /// The receiver is overloaded: 429 or 503 in HTTP.
    Busy,
    /// The receiver denies access: 401 or 403.
    Denied,
    /// The destination does not exist: 404.
    Missing,
    /// The receiver has an internal error: any other 5xx.
    Failing,
    /// Any other reason.
    Other,
}

impl Class {
    /// All reasons.
    pub const ALL: [Class; 7] = [
        Class::Connection,
        Class::Timeout,
        Class::Busy,
        Class::Denied,
        Class::Missing,
        Class::Failing,
        Class::Other,
    ];

    /// Returns the value of the label.
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

    /// Returns the reason for a status code of HTTP, or of a protocol with the same codes.
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

/// The treatment of a message that was not delivered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FailureKind {
    /// Retry it, after the time that the receiver has asked for, if any.
    Retry(Option<Duration>),
    /// The receiver will never accept it. It becomes a dead letter and does not hold up others.
    Refused,
}

impl Failed {
    /// Creates a failure of the first message that may be retried.
    pub fn retry(reason: impl Into<String>) -> Failed {
        Failed { delivered: 0, kind: FailureKind::Retry(None), class: Class::Other, reason: reason.into() }
    }

    /// Creates a failure of the first message that makes it a dead letter.
    pub fn refused(reason: impl Into<String>) -> Failed {
        Failed { delivered: 0, kind: FailureKind::Refused, class: Class::Other, reason: reason.into() }
    }

    /// Sets the reason for metrics.
    pub fn because(self, class: Class) -> Failed {
        Failed { class, ..self }
    }

    /// Makes it a failure to retry, no sooner than after `wait`.
    pub fn not_before(self, wait: Option<Duration>) -> Failed {
        Failed { kind: FailureKind::Retry(wait), ..self }
    }

    /// Sets how many messages were delivered before the one that failed.
    pub fn after(self, delivered: usize) -> Failed {
        Failed { delivered, ..self }
    }
}
