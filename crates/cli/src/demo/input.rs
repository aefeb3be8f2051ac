//! The inputs of the gateway that the fleet uses.

use std::fmt;

/// An input of the gateway.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Input {
    /// Used near a port.
    Http,
    /// Used at the terminal.
    Coap,
    /// Used in the yard.
    Mqtt,
    /// Used at sea: the satellite provider calls the gateway's webhook.
    Satellite,
}

impl fmt::Display for Input {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Input::Http => "http",
            Input::Coap => "coap",
            Input::Mqtt => "mqtt",
            Input::Satellite => "satellite",
        })
    }
}
