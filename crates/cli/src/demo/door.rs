//! Which input of the gateway a message of the fleet goes to.

use std::fmt;

/// An input of the gateway.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Door {
    /// Near a port.
    Http,
    /// At the terminal.
    Coap,
    /// In the yard.
    Mqtt,
    /// At sea: the satellite provider calls the gateway.
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
