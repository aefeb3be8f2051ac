//! The Edge Node: what it sends over a connection, in which order and with which numbers.

use super::{
    devices::Devices,
    link::{self, Link},
    payload::{Metric, Payload},
    readings::Reading,
    topics::Topics,
    update::update,
};
use crate::{
    Class, Failed,
    publisher::{Answer, Session, Slot},
};
use bytes::Bytes;
use dunnage_clients::mqtt::Publication;
use prost::Message;
use std::{collections::HashSet, sync::Arc, time::Duration};
use tokio::time::Instant;

/// Shortest time from all births to the next ones that a host asks for. Births of many devices are much to send.
const REBIRTH_PAUSE: Duration = Duration::from_secs(10);
/// Most bytes of a PUBLISH besides its topic and its payload.
const HEAD: usize = 8;

/// The state of the node. Its callers take turns.
///
/// A future of its methods may be dropped: between the choice of a number and the queue is no await, so no number is left out, and births that
/// were not sent are sent by the next call.
pub struct Node {
    topics: Arc<Topics>,
    link: Arc<Link>,
    /// The number of the connection.
    session: u64,
    /// The number of the next message.
    seq: u8,
    /// Whether the NBIRTH was sent over this connection.
    is_born: bool,
    /// The devices whose DBIRTHs must follow it.
    unborn: Vec<Arc<str>>,
    /// When all births were last sent.
    born_at: Option<Instant>,
    /// The confirmation of the last DBIRTH after an NBIRTH.
    births: Option<Answer>,
    /// The devices with a message that the broker has not confirmed.
    unconfirmed: HashSet<Arc<str>>,
    devices: Devices,
}

impl Node {
    pub fn new(topics: Arc<Topics>, link: Arc<Link>) -> Node {
        Node {
            topics,
            link,
            session: 0,
            seq: 0,
            is_born: false,
            unborn: Vec::new(),
            born_at: None,
            births: None,
            unconfirmed: HashSet::new(),
            devices: Devices::default(),
        }
    }

    /// Sends what must come before data: all births, if the connection is new or a host asks for them.
    pub async fn prepare(&mut self, session: &Session) -> Result<(), Failed> {
        if session.number() > self.session {
            self.begin(session.number());
        }
        let may_again = self.born_at.is_none_or(|born| born.elapsed() >= REBIRTH_PAUSE);
        if self.is_born && self.unborn.is_empty() && may_again && self.link.take_rebirth() {
            self.is_born = false;
        }
        if !self.is_born {
            let slot = session.slot().await?;
            self.seq = 0;
            let payload = self.encode(Link::birth(session.attempt()));
            self.queue(slot, self.topics.nbirth.clone(), payload);
            self.link.take_rebirth();
            (self.is_born, self.unborn, self.born_at) = (true, self.devices.all(), Some(Instant::now()));
        }
        while !self.unborn.is_empty() {
            let slot = session.slot().await?;
            self.bear(session, slot);
            self.born_at = Some(Instant::now());
        }
        Ok(())
    }

    /// Begins anew over another connection. What the broker had not confirmed may be why the one before has ended, so it is not among the
    /// births: a message comes again by itself, and without a remembered device it is a DBIRTH.
    fn begin(&mut self, session: u64) {
        let confirmed = |mut births: Answer| matches!(births.try_recv(), Ok(Ok(_)));
        if !self.births.take().is_none_or(confirmed) {
            self.devices = Devices::default();
        }
        self.unconfirmed.drain().for_each(|device| self.devices.forget(&device));
        (self.session, self.is_born) = (session, false);
    }

    /// Takes note that the broker has confirmed the last message of `device`.
    pub fn confirm(&mut self, session: &Session, device: &str) {
        if session.number() == self.session {
            self.unconfirmed.remove(device);
        }
    }

    /// Sends the DBIRTH of one of the devices that need it.
    fn bear(&mut self, session: &Session, slot: Slot<'_>) {
        let Some(device) = self.unborn.pop() else { return };
        let Some(metrics) = self.devices.get(&device) else { return };
        let (topic, payload) = (self.topics.dbirth(&device), self.encode(metrics));
        match fits(session, &topic, &payload) {
            true => self.births = Some(self.queue(slot, topic, payload)),
            false => self.devices.forget(&device),
        }
    }

    /// Sends a message of `device`, captured at `timestamp`. Returns the confirmation of its last part.
    pub async fn send(
        &mut self,
        session: &Session,
        device: &str,
        readings: &[Reading],
        timestamp: u64,
    ) -> Result<Answer, Failed> {
        let mut slot = session.slot().await?;
        if session.number() != self.session {
            let reason = "the connection to the broker was replaced by another one";
            return Err(Failed::retry(reason).because(Class::Connection));
        }
        let known = self.devices.get(device);
        let is_new = known.is_none();
        let mut found = update(known, readings, timestamp);
        if found.is_birth {
            let topic = self.topics.dbirth(device);
            let mut payload = self.encode(found.current.clone());
            if !is_new && !fits(session, &topic, &payload) {
                // The metrics of earlier messages may be what is too much.
                found = update(None, readings, timestamp);
                payload = self.encode(found.current.clone());
            }
            let answer = self.queue_fitting(session, slot, topic, payload)?;
            self.keep(device, found.current);
            if found.data.is_empty() {
                return Ok(answer);
            }
            slot = session.slot().await?;
            let payload = self.encode(found.data);
            return self.queue_fitting(session, slot, self.topics.ddata(device), payload);
        }
        let payload = self.encode(found.data);
        let answer = self.queue_fitting(session, slot, self.topics.ddata(device), payload)?;
        self.keep(device, found.current);
        Ok(answer)
    }

    fn keep(&mut self, device: &str, metrics: Vec<Metric>) {
        self.unconfirmed.insert(device.into());
        self.devices.keep(device, metrics);
    }

    /// Returns the payload of the next message.
    fn encode(&self, metrics: Vec<Metric>) -> Bytes {
        let payload = Payload { timestamp: Some(link::now()), metrics, seq: Some(self.seq.into()) };
        payload.encode_to_vec().into()
    }

    /// Queues a message, unless it is too large for the broker.
    fn queue_fitting(
        &mut self,
        session: &Session,
        slot: Slot<'_>,
        topic: String,
        payload: Bytes,
    ) -> Result<Answer, Failed> {
        if fits(session, &topic, &payload) {
            return Ok(self.queue(slot, topic, payload));
        }
        let (bytes, limit) = (payload.len(), session.limits().packet_bytes);
        Err(Failed::refused(format!(
            "{topic} has {bytes} bytes, and the broker accepts packets of {limit} at most"
        )))
    }

    fn queue(&mut self, slot: Slot<'_>, topic: String, payload: Bytes) -> Answer {
        self.seq = self.seq.wrapping_add(1);
        slot.send(Publication { topic, payload, ..Publication::default() })
    }
}

/// Returns whether the broker accepts a message of this size. One that it does not accept would leave its number out.
fn fits(session: &Session, topic: &str, payload: &Bytes) -> bool {
    HEAD + topic.len() + payload.len() <= session.limits().packet_bytes
}
