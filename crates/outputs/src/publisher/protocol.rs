//! Protocols above MQTT that take part in the connections of a publisher.

use dunnage_clients::mqtt::{Publication, Publish};

/// What a protocol adds to each connection.
pub trait Protocol: Send + Sync {
    /// Returns the will of a connection. `attempt` is the number of CONNECT packets before.
    fn will(&self, attempt: u64) -> Publication;

    /// Returns the filters of the topics to subscribe to.
    fn filters(&self) -> Vec<String>;

    /// Takes a message from one of these topics, over the connection with the number `session`. It must not wait.
    fn receive(&self, session: u64, message: &Publish);
}
