//! Inputs receive messages over their protocols, decode and validate them, submit them to the buffer, and acknowledge them after they are
//! on disk.

pub mod batch;
pub mod body;
pub mod broker;
pub mod coap;
pub mod compressed;
pub mod content_type;
mod datagrams;
pub mod decode;
pub mod http;
pub mod incoming;
pub mod mqtt;
pub mod nats;
pub mod read;
mod settings;
pub mod take;
mod topic;
pub mod udp;
pub mod webhooks;

pub use settings::{EXAMPLES, InputKind, InputSettings};

use crate::shared::Shared;
use dunnage_base::name::is_name;
use dunnage_clients::secret::SecretFile;
use std::{net::SocketAddr, sync::Arc};
use tokio::sync::watch;
use utoipa_axum::{router::OpenApiRouter, routes};
pub use webhooks::hooks::Hooks;
use webhooks::{Hook, hooks};

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

    /// Receives messages until `stopping` becomes true, and then completes those in flight.
    async fn run(self: Box<Self>, shared: Arc<Shared>, stopping: watch::Receiver<bool>);
}

/// Returns the routes of inputs on the HTTP port. The router needs [`Hooks`] as an extension.
pub fn routes() -> OpenApiRouter<Arc<Shared>> {
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
