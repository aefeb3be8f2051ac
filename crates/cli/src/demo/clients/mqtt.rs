//! The MQTT client of the yard: QoS 1, over the concentrator's single connection.

use crate::demo::report::Report;
use dunnage_gateway::mqtt::{Client, Error, Event, Options, Version};
use std::{
    net::SocketAddr,
    sync::{Mutex, PoisonError},
    time::Duration,
};
use tokio::{runtime::Handle, time::timeout};

/// Longest wait for an acknowledgement.
const PATIENCE: Duration = Duration::from_secs(10);
/// Long, because the connection is silent while no container in the yard reports.
const KEEP_ALIVE: Duration = Duration::from_secs(3600);

/// The yard's concentrator. It has at most one message in flight.
pub struct Mqtt {
    pub gateway: SocketAddr,
    connection: Mutex<Option<Client>>,
}

impl Mqtt {
    pub fn new(gateway: SocketAddr) -> Mqtt {
        Mqtt { gateway, connection: Mutex::default() }
    }

    /// Sends a report and waits for its acknowledgement. Blocks the calling thread, so call it only on a blocking thread of the
    /// runtime.
    pub fn send(&self, report: &Report) -> Result<(), String> {
        let mut connection = self.connection.lock().unwrap_or_else(PoisonError::into_inner);
        let sent =
            Handle::current().block_on(timeout(PATIENCE, self.acknowledged(connection.take(), report)));
        let client = sent.map_err(|_| "no acknowledgement")?.map_err(|e| e.to_string())?;
        *connection = Some(client);
        Ok(())
    }

    /// Sends a report over `client`, or over a new connection, and returns the client when the report is acknowledged.
    async fn acknowledged(&self, client: Option<Client>, report: &Report) -> Result<Client, Error> {
        let mut client = match client {
            Some(client) => client,
            None => {
                let mut options =
                    Options::new(Version::V3, "yard", self.gateway.ip().to_string(), self.gateway.port());
                options.keep_alive = KEEP_ALIVE;
                Client::connect(&options).await?.0
            }
        };
        let topic = format!("v1/{}/{}", report.device, report.format);
        let id = client.publish(&topic, &report.body)?;
        while !matches!(client.next(true).await?, Event::Acknowledged(of, _) if Some(of) == id) {}
        Ok(client)
    }
}
