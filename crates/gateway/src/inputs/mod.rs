//! Inputs: each makes readings of what arrives and acknowledges them once they are durable.

pub mod batch;
pub mod body;
pub mod broker;
pub mod coap;
pub mod compressed;
pub mod content_type;
pub mod decode;
pub mod http;
pub mod incoming;
pub mod mqtt;
pub mod nats;
pub mod read;
pub mod take;
pub mod udp;
pub mod webhooks;

use crate::{
    config::{self, Config},
    name::is_name,
    shared::Shared,
};
use axum::Router;
use std::{net::SocketAddr, sync::Arc};
use tokio::sync::watch;

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

    /// What it has on the HTTP port, under `/hooks/` and its name.
    fn routes(&self) -> Router<Arc<Shared>> {
        Router::new()
    }

    /// Takes messages until `stopping` says true, and then finishes what is under way.
    async fn run(self: Box<Self>, shared: Arc<Shared>, stopping: watch::Receiver<bool>);
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

/// Makes the inputs that `config` describes. What they take from need not be there yet.
pub fn open_all(config: &Config) -> Result<Vec<Named>, InputError> {
    let inputs = config.inputs.iter().enumerate();
    inputs.map(|(at, input)| open(&config.inputs[..at], input)).collect()
}

/// Makes the input `config`, behind the inputs `earlier`.
pub fn open(earlier: &[config::Input], config: &config::Input) -> Result<Named, InputError> {
    let name = &config.name;
    let failed = |message: String| InputError { name: name.clone(), message };
    if !is_name(name) {
        return Err(failed("the name must be 1 to 64 of A-Z a-z 0-9 . _ : -".into()));
    }
    if earlier.iter().any(|other| other.name == *name) {
        return Err(failed("another input has this name".into()));
    }
    let mut inputs = Vec::new();
    if let Some(settings) = &config.mqtt {
        inputs.push(mqtt::Mqtt::new(name, settings).map(boxed));
    }
    if let Some(settings) = &config.broker {
        inputs.push(broker::Broker::new(name, settings).map(boxed));
    }
    if let Some(settings) = &config.nats {
        inputs.push(nats::Nats::new(name, settings).map(boxed));
    }
    if let Some(settings) = &config.webhook {
        inputs.push(webhooks::Webhook::new(name, settings).map(boxed));
    }
    if let Some(settings) = &config.coap {
        inputs.push(coap::Coap::new(name, settings).map(boxed));
    }
    if let Some(settings) = &config.udp {
        inputs.push(udp::Udp::new(name, settings).map(boxed));
    }
    match (inputs.pop(), inputs.is_empty()) {
        (None, _) => Err(failed("says nothing of where messages come from".into())),
        (Some(input), true) => Ok(Named { name: name.clone(), input: input.map_err(failed)? }),
        (Some(_), false) => Err(failed("is to be one of these kinds, not several".into())),
    }
}

fn boxed(input: impl Input + 'static) -> Box<dyn Input> {
    Box::new(input)
}
