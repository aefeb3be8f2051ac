//! Inputs receive messages over their protocols, decode and validate them, submit them to the buffer, and acknowledge them after they are
//! on disk.
//!
//! An input is a module with three parts: its `Settings`, the section `EXAMPLE` of the commented default configuration, and a type that
//! implements [`Input`]. It is registered by one line in `settings.rs` and one in [`open`]. Everything that inputs have in common is in
//! `dunnage_ingest`: access, decoding, and storing. An input itself implements only its protocol: framing, acknowledgements, and the answer
//! to each [`dunnage_ingest::Code`].
//!
//! | module | receives |
//! |---|---|
//! | [`http`] | `POST /ingest/{device}`: a message, or a batch |
//! | `mqtt` | PUBLISH packets of devices; it is not a broker |
//! | `coap` | POST over UDP or DTLS, also block-wise |
//! | `udp` | bare datagrams, which cannot be acknowledged |
//! | `broker` | subscriptions to another MQTT broker |
//! | [`nats`] | a NATS stream, which another gateway may fill |
//! | [`webhooks`] | requests that a provider posts to `/hooks/{name}` |
//!
//! [`provider`] opens what network servers and operators wrap a message in, for those that carry such envelopes.
//!
//! All of them run until [`Environment::stopping`] is cancelled, and then complete the messages in flight: a message that was received
//! completely is stored, quarantined or refused, but never forgotten.
//!
//! # Example
//!
//! The settings of an input are a table of the configuration:
//!
//! ```
//! use dunnage_inputs::{Beside, InputSettings, open};
//!
//! let settings: InputSettings = toml::from_str(
//!     r#"
//!     name = "field"
//!     [udp]
//!     listen = "127.0.0.1:0"
//!     "#,
//! )?;
//! let mut input = open(&[settings], 0, Beside { certificate: false, outputs: false })?;
//! # tokio::runtime::Runtime::new()?.block_on(async {
//! let address = input.input.listen().await?.expect("UDP has a socket");
//! assert_ne!(address.port(), 0);
//! # std::io::Result::Ok(()) })?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod broker;
mod coap;
pub mod connections;
mod datagrams;
mod device_at;
#[cfg(any(test, feature = "fuzzing"))]
pub mod fuzzing;
pub mod http;
mod metrics;
mod mqtt;
pub mod nats;
pub mod provider;
pub mod query;
mod routes;
mod settings;
mod topic;
mod udp;
pub mod webhooks;

pub use dunnage_ingest::Code;
pub use http::{
    extract::{NoQuery, Segment},
    problem::{AccessProblems, Problem, ProblemKind},
    settings::HttpSettings,
};
pub use metrics::Metrics;
pub use routes::TopicSettings;
pub use settings::{EXAMPLES, InputKind, InputSettings};
pub use webhooks::hooks::Hooks;

use dunnage_access::tls::Certificates;
use dunnage_base::name::is_name;
use dunnage_clients::secret::SecretFile;
use dunnage_ingest::Ingest;
use std::{net::SocketAddr, sync::Arc};
use tokio_util::sync::CancellationToken;
use utoipa_axum::{router::OpenApiRouter, routes};
use webhooks::{Hook, hooks};

/// The state that running inputs share.
pub struct Environment {
    /// Makes messages durable.
    pub ingest: Ingest,
    /// The settings of the HTTP listener.
    pub http: HttpSettings,
    /// The certificate of listeners with TLS, if there is one.
    pub certificates: Option<Arc<Certificates>>,
    /// The metrics of all listeners.
    pub metrics: Metrics,
    /// Returns the message ID up to which every output has delivered.
    pub delivered: Box<dyn Fn() -> i64 + Send + Sync>,
    /// Cancelled when the gateway stops.
    pub stopping: CancellationToken,
}

/// An input other than HTTP's `/ingest`.
#[async_trait::async_trait]
pub trait Input: Send {
    /// Binds the input's socket, if it has one, and returns the address, with the port that the system chose in place of port 0.
    async fn listen(&mut self) -> std::io::Result<Option<SocketAddr>> {
        Ok(None)
    }

    /// Returns the webhook that answers at `/hooks/{name}` on the HTTP port, if the input is one.
    fn hook(&self) -> Option<Arc<Hook>> {
        None
    }

    /// Returns the files with the credentials that the input presents.
    fn secrets(&self) -> Vec<Arc<SecretFile>> {
        Vec::new()
    }

    /// Receives messages until the gateway stops, and then completes those in flight.
    async fn run(self: Box<Self>, env: Arc<Environment>);
}
/// Returns the routes of inputs on the HTTP port. The router needs [`Hooks`] as an extension.
pub fn routes() -> OpenApiRouter<Arc<Environment>> {
    OpenApiRouter::new().routes(routes!(http::ingest)).routes(routes!(hooks::call))
}

/// A configured input.
pub struct Named {
    /// Its name.
    pub name: String,
    /// The input itself.
    pub input: Box<dyn Input>,
}

/// An error in the settings of an input.
#[derive(Debug, thiserror::Error)]
#[error("[[input]] name = {name:?}: {message}")]
pub struct InputError {
    /// The name of the input.
    pub name: String,
    /// The reason.
    pub message: String,
}

/// Other parts of the configuration that inputs depend on.
#[derive(Debug, Clone, Copy)]
pub struct Beside {
    /// Whether listeners have a TLS certificate.
    pub certificate: bool,
    /// Whether any outputs are configured.
    pub outputs: bool,
}

/// Creates all `inputs`. The servers that they connect to may still be down.
pub fn open_all(inputs: &[InputSettings], beside: Beside) -> Result<Vec<Named>, InputError> {
    (0..inputs.len()).map(|index| open(inputs, index, beside)).collect()
}

/// Creates the input at `index` of `inputs`. Rejects invalid settings, and a name that is invalid or used before.
pub fn open(inputs: &[InputSettings], index: usize, beside: Beside) -> Result<Named, InputError> {
    let (earlier, input) = (&inputs[..index], &inputs[index]);
    let name = &input.name;
    let failed = |message: String| InputError { name: name.clone(), message };
    if !is_name(name) {
        return Err(failed("the name must be 1 to 64 of A-Z a-z 0-9 . _ : -".into()));
    }
    if earlier.iter().any(|other| other.name == *name) {
        return Err(failed("another input has this name".into()));
    }
    let opened = match &input.kind {
        InputKind::Mqtt(settings) => mqtt::Mqtt::new(name, settings, beside.certificate).map(boxed),
        InputKind::Broker(settings) => broker::Broker::new(name, settings).map(boxed),
        InputKind::Nats(settings) => {
            let streams = inputs.iter().all(|input| matches!(input.kind, InputKind::Nats(_)));
            nats::Nats::new(name, settings, streams, beside.outputs).map(boxed)
        }
        InputKind::Webhook(settings) => webhooks::Webhook::new(name, settings).map(boxed),
        InputKind::Coap(settings) => coap::Coap::new(name, settings).map(boxed),
        InputKind::Udp(settings) => udp::Udp::new(name, settings).map(boxed),
    };
    Ok(Named { name: name.clone(), input: opened.map_err(failed)? })
}

fn boxed(input: impl Input + 'static) -> Box<dyn Input> {
    Box::new(input)
}
