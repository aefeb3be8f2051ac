//! One device and its receiver, with a lossy link between them.

use crate::Network;
use crate::network::Chance;
use dunnage_packed::{Error, Layout, Receiver, Reference, Sender, Value};
use dunnage_schema::same;
use std::collections::{BTreeMap, VecDeque};

/// How many messages a receiver keeps: more than any acknowledgement is late.
const KEPT: usize = 128;

/// A device that sends, and its receiver.
#[derive(Debug, Clone)]
pub struct Device<'a> {
    layout: &'a Layout,
    sender: Option<Sender<&'a Layout>>,
    receiver: Receiver<&'a Layout>,
    /// The texts that the receiver knows about the device, for `x-dunnage-known`: from the first message that arrives.
    known: Option<BTreeMap<String, String>>,
    chance: Chance,
    /// The acknowledgements on their way: for each of the last messages, its name if there is one.
    under_way: VecDeque<Option<u16>>,
    delay: usize,
}

/// The fate of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sent {
    /// The size of the message in bytes.
    pub bytes: usize,
    /// Whether it arrived and was decoded.
    pub delivered: bool,
    /// Whether it was decoded to another message.
    pub wrong: bool,
    /// Whether it arrived and was not decoded.
    pub refused: bool,
}

impl<'a> Device<'a> {
    /// Creates a device. `deltas` says whether it refers to acknowledged messages. `number` selects its chance.
    pub fn new(layout: &'a Layout, deltas: bool, network: Network, (seed, number): (u64, u64)) -> Device<'a> {
        let sender = deltas.then(|| Sender::new(layout, network.ack_delay + 1));
        let chance = Chance::new(network, seed, number);
        Device {
            layout,
            sender,
            receiver: Receiver::new(layout, KEPT),
            known: None,
            chance,
            under_way: VecDeque::new(),
            delay: network.ack_delay,
        }
    }

    /// Sends one message.
    pub fn send(&mut self, message: &Value) -> Result<Sent, Error> {
        let mut bytes = Vec::new();
        match &mut self.sender {
            Some(sender) => sender.encode(message, &mut bytes)?,
            None => self.layout.encode(message, &mut bytes)?,
        }
        let fate = self.chance.next();
        let mut sent = Sent { bytes: bytes.len(), delivered: false, wrong: false, refused: false };
        let mut name = None;
        if fate.arrives {
            let known = self.known.get_or_insert_with(|| self.layout.root().known_texts(message));
            match self.receiver.decode(&bytes, &*known) {
                Ok(value) => {
                    sent.delivered = true;
                    sent.wrong = !same(&value, message) && !self.is_rounded(&value, message);
                    name = self.receiver.last().map(Reference::name).filter(|_| fate.is_acknowledged);
                }
                Err(_) => sent.refused = true,
            }
        }
        self.under_way.push_back(name);
        if self.under_way.len() > self.delay {
            let arrived = self.under_way.pop_front().flatten();
            if let (Some(sender), Some(name)) = (&mut self.sender, arrived) {
                sender.acknowledged(name);
            }
        }
        Ok(sent)
    }

    /// Whether `value` is the message after a round trip in the plain form, in which the schema may round its numbers.
    fn is_rounded(&self, value: &Value, message: &Value) -> bool {
        let mut bytes = Vec::new();
        self.layout.model().rounds()
            && self.layout.encode(message, &mut bytes).is_ok()
            && self
                .layout
                .decode(&bytes, &self.layout.root().known_texts(message))
                .is_ok_and(|plain| same(&plain, value))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_order_of_fields_and_rounding_are_not_wrong() {
        let schema = r#"{"type":"object","properties":{"a":{"type":"integer","minimum":0,"maximum":9000},
            "b":{"type":"number","multipleOf":0.1,"x-dunnage-round":true,"minimum":0,"maximum":9}},"required":["a","b"],"additionalProperties":false}"#;
        let model = dunnage_schema::Model::compile(schema).unwrap();
        let layout = Layout::new(&model).unwrap();
        let network = Network { loss: 0.0, ack_loss: 0.0, ack_every: 1, ack_delay: 0 };
        let message = |b| Value::Map(vec![("b".into(), Value::F64(b)), ("a".into(), Value::U64(2000))]);
        let mut device = Device::new(&layout, false, network, (1, 1));
        for b in [0.5, 0.54, 0.5] {
            let sent = device.send(&message(b)).unwrap();
            assert!(sent.delivered && !sent.wrong, "{b}");
        }
    }
}
