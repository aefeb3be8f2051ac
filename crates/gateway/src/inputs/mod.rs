//! Inputs: each makes readings of what arrives and acknowledges them once they are durable.

pub mod body;
pub mod content_type;
pub mod decode;
pub mod http;
pub mod nats;
pub mod read;
pub mod take;

use crate::{config, name::is_name};

/// One example of each kind of input that is not there by itself, commented out, for the commented default configuration.
pub const EXAMPLES: &[&str] = &[nats::EXAMPLE];

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
pub fn open_all(config: &config::Config) -> Result<Vec<nats::Nats>, InputError> {
    let inputs = config.inputs.iter().enumerate();
    inputs.map(|(at, input)| open(&config.inputs[..at], input)).collect()
}

/// Makes the input `config`, behind the inputs `earlier`.
pub fn open(earlier: &[config::Input], config: &config::Input) -> Result<nats::Nats, InputError> {
    let failed = |message: &str| InputError { name: config.name.clone(), message: message.into() };
    if !is_name(&config.name) {
        return Err(failed("the name must be 1 to 64 of A-Z a-z 0-9 . _ : -"));
    }
    if earlier.iter().any(|other| other.name == config.name) {
        return Err(failed("another input has this name"));
    }
    let settings = config.nats.as_ref().ok_or_else(|| failed("says nothing of where messages come from"))?;
    nats::Nats::new(&config.name, settings).map_err(|message| failed(&message))
}
