//! The inputs of the gateway that the fleet uses.

use std::fmt;

/// An input of the gateway.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Door {
    /// Used near a port.
    Http,
    /// Used at the terminal.
    Coap,
    /// Used in the yard.
    Mqtt,
    /// Used at sea: the satellite provider calls the gateway's webhook.
    Satellite,
}

impl fmt::Display for Door {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Door::Http => "http",
            Door::Coap => "coap",
            Door::Mqtt => "mqtt",
            Door::Satellite => "satellite",
        })
    }
}
