//! Inputs: each makes readings of what arrives and acknowledges them once they are durable.

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

pub use settings::{InputKind, InputSettings};

use crate::shared::Shared;
use dunnage_base::name::is_name;
use dunnage_clients::secret::SecretFile;
use std::{net::SocketAddr, sync::Arc};
use tokio::sync::watch;
use utoipa_axum::{router::OpenApiRouter, routes};
pub use webhooks::hooks::Hooks;
use webhooks::{Hook, hooks};

/// One example of each kind of input that is not there by itself, commented out, for the commented default configuration.
pub const EXAMPLES: &[&str] =
    &[mqtt::EXAMPLE, broker::EXAMPLE, nats::EXAMPLE, coap::EXAMPLE, udp::EXAMPLE, webhooks::EXAMPLE];

/// A way in beside HTTP's `/ingest`.
#[async_trait::async_trait]
pub trait Input: Send {
    /// Takes the address that it listens on, if it does, and answers with it: a port 0 has become another.
    async fn listen(&mut self) -> std::io::Result<Option<SocketAddr>> {
        Ok(None)
    }

    /// What answers on the HTTP port, under `/hooks/` and its name.
    fn hook(&self) -> Option<Arc<Hook>> {
        None
    }

    /// The files that hold what it identifies itself with.
    fn secrets(&self) -> Vec<Arc<SecretFile>> {
        Vec::new()
    }

    /// Takes messages until `stopping` says true, and then finishes what is under way.
    async fn run(self: Box<Self>, shared: Arc<Shared>, stopping: watch::Receiver<bool>);
}

/// The addresses of inputs on the HTTP port. The router needs the webhooks as an extension.
pub fn routes() -> OpenApiRouter<Arc<Shared>> {
    OpenApiRouter::new().routes(routes!(http::ingest)).routes(routes!(hooks::call))
}

/// An input as it is configured.
pub struct Named {
    /// What it is called.
    pub name: String,
    /// What it does.
    pub input: Box<dyn Input>,
}

/// An input that cannot be used as it is configured.
#[derive(Debug, thiserror::Error)]
#[error("[[input]] name = {name:?}: {message}")]
pub struct InputError {
    /// Which.
    pub name: String,
    /// Why.
    pub message: String,
}

/// What else is configured, as far as inputs depend on it.
#[derive(Debug, Clone, Copy)]
pub struct Beside {
    /// There is a certificate for listeners.
    pub certificate: bool,
    /// There are outputs.
    pub outputs: bool,
}

/// Makes all `inputs`. What they connect to need not be there yet.
pub fn open_all(inputs: &[InputSettings], beside: Beside) -> Result<Vec<Named>, InputError> {
    (0..inputs.len()).map(|index| open(inputs, index, beside)).collect()
}

/// Makes the input at `index` of `inputs`.
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
