//! MQTT 3.1.1 and 5: the packets that clients send, the reason codes of a server, and a client.

pub mod client;
pub mod packet;
pub mod reason;

pub use client::{Acknowledgement, Client, Error, Event, Limits, Options, Publication, Trust};
pub use packet::{Publish, Version};
