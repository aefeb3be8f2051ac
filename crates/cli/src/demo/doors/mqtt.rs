//! In the yard: MQTT at QoS 1, over the one connection of the yard's concentrator.

use crate::demo::report::Report;
use rumqttc::{AsyncClient, Event, EventLoop, MqttOptions, Outgoing, Packet, QoS};
use std::{
    net::SocketAddr,
    sync::{Mutex, PoisonError},
    time::Duration,
};
use tokio::{runtime::Handle, time::timeout};

/// Longest wait for an acknowledgement.
const PATIENCE: Duration = Duration::from_secs(10);
/// The connection is silent while no container of the yard reports.
const KEEP_ALIVE: Duration = Duration::from_secs(3600);

/// The concentrator. It has one message under way.
pub struct Mqtt {
    pub gateway: SocketAddr,
    connected: Mutex<(AsyncClient, EventLoop)>,
}

impl Mqtt {
    pub fn new(gateway: SocketAddr) -> Mqtt {
        let mut options = MqttOptions::new("yard", gateway.ip().to_string(), gateway.port());
        options.set_keep_alive(KEEP_ALIVE);
        Mqtt { gateway, connected: Mutex::new(AsyncClient::new(options, 1)) }
    }

    /// Sends a report and waits until it is acknowledged. Blocks a thread of the runtime that is there for that.
    pub fn send(&self, report: &Report) -> Result<(), String> {
        let mut connected = self.connected.lock().unwrap_or_else(PoisonError::into_inner);
        let (client, events) = &mut *connected;
        let topic = format!("v1/{}/{}", report.device, report.format);
        client.try_publish(topic, QoS::AtLeastOnce, false, report.body.clone()).map_err(|e| e.to_string())?;
        let acknowledged = Handle::current().block_on(timeout(PATIENCE, acknowledgement(events)));
        acknowledged.unwrap_or_else(|_| Err("no acknowledgement".into()))
    }
}

/// Waits until the next message that goes out is acknowledged.
async fn acknowledgement(events: &mut EventLoop) -> Result<(), String> {
    let mut sent = None;
    loop {
        match events.poll().await.map_err(|e| e.to_string())? {
            Event::Outgoing(Outgoing::Publish(id)) => sent = Some(id),
            // One that comes late is of a message that was given up.
            Event::Incoming(Packet::PubAck(ack)) if sent == Some(ack.pkid) => return Ok(()),
            _ => {}
        }
    }
}
