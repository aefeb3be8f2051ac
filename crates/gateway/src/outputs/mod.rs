//! Outputs: each takes messages from the buffer and hands them to another system, with a cursor of its own.
//!
//! An output knows how to hand over some messages; when, how many at a time, and what happens when it fails, is decided by
//! the forwarder (`forward/`). Delivery is at least once: a message that was delivered shortly before the gateway
//! ended is delivered again, under the same name, so that the other side can tell.

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

pub use forward::{CLOSING, Forwarder};
pub use message::Message;
pub use meter::{Breaker, Families, Meter, Place, Status};
pub use running::{AsideError, Outputs, Which};

use crate::{
    config::{self, Config, OutputKind},
    profile::Profiles,
    secret::SecretFile,
};
use serde::Serialize;
use std::{sync::Arc, time::Duration};
use utoipa::ToSchema;

/// One example of each kind of output, commented out, for the commented default configuration.
pub const EXAMPLES: &[&str] = &[
    http::EXAMPLE,
    files::EXAMPLE,
    nats::EXAMPLE,
    onem2m::EXAMPLE,
    #[cfg(feature = "kafka")]
    kafka::EXAMPLE,
];

/// Most calls at a time, when the configuration does not say.
const CONCURRENCY: usize = 64;

/// An output as it is configured.
pub struct Named {
    /// What it is called.
    pub name: Arc<str>,
    /// Most calls at a time.
    pub concurrency: usize,
    /// The system.
    pub output: Arc<dyn Output>,
}

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

    /// Does what is due, also when no message comes. `buffer` is the name of the buffer that the messages are of, `profiles` has their
    /// schemas.
    async fn tend(&self, _buffer: &str, _profiles: Arc<Profiles>) {}

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

/// An output that cannot be used as it is configured.
#[derive(Debug, thiserror::Error)]
#[error("[[output]] name = {name:?}: {message}")]
pub struct OutputError {
    /// Which.
    pub name: String,
    /// Why.
    pub message: String,
}

/// Makes the outputs that `config` describes, of which no two have the same name. What they talk to need not be there yet.
pub fn open_all(config: &Config) -> Result<Vec<Named>, OutputError> {
    let mut opened: Vec<Named> = Vec::new();
    for (index, output) in config.outputs.iter().enumerate() {
        let concurrency = check(&config.outputs[..index], output)
            .map_err(|(_, message)| OutputError { name: output.name.clone(), message })?;
        opened.push(Named { name: output.name.as_str().into(), concurrency, output: open(output)? });
    }
    Ok(opened)
}

/// Most calls at a time of the output `config`, behind the outputs `earlier`. An error has the key that is wrong, and why.
pub fn check(earlier: &[config::Output], config: &config::Output) -> Result<usize, (&'static str, String)> {
    if earlier.iter().any(|other| other.name == config.name) {
        return Err(("name", "another output has this name".into()));
    }
    let concurrency = config.concurrency.unwrap_or(CONCURRENCY);
    match (1..=1024).contains(&concurrency) {
        true => Ok(concurrency),
        false => Err(("concurrency", "concurrency must be 1 to 1024".into())),
    }
}

/// Makes the output that `config` describes. What it talks to need not be there yet.
pub fn open(config: &config::Output) -> Result<Arc<dyn Output>, OutputError> {
    let failed = |message: String| OutputError { name: config.name.clone(), message };
    if !crate::name::is_name(&config.name) {
        return Err(failed("the name must be 1 to 64 of A-Z a-z 0-9 . _ : -".into()));
    }
    Ok(match &config.kind {
        OutputKind::Http(settings) => Arc::new(http::Http::new(settings).map_err(failed)?),
        OutputKind::Files(settings) => Arc::new(files::Files::new(settings).map_err(failed)?),
        OutputKind::Nats(settings) => Arc::new(nats::Nats::new(settings).map_err(failed)?),
        #[cfg(feature = "kafka")]
        OutputKind::Kafka(settings) => Arc::new(kafka::Kafka::new(settings).map_err(failed)?),
        OutputKind::Onem2m(settings) => Arc::new(onem2m::OneM2m::new(settings).map_err(failed)?),
    })
}
