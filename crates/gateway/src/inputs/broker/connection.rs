//! A connection to a broker: it subscribes, hands on messages, and knows which acknowledgements have been written.

use super::super::mqtt::flow::{Outcome, To};
use mqtt_protocol_core::mqtt::packet::Qos;
use rumqttc::{
    Outgoing,
    v5::{
        AsyncClient, ConnectionError, Event, EventLoop, MqttOptions,
        mqttbytes::{
            QoS,
            v5::{Filter, Packet, Publish, RetainForwardRule},
        },
    },
};
use std::collections::HashSet;
use tokio::{sync::mpsc, task::AbortHandle};

/// Requests beside acknowledgements that wait to be written, and events that wait to be read.
const CAPACITY: usize = 16;
/// Most acknowledgements that wait: one of each identifier. A broker has as many under way if it does not keep to the Receive Maximum,
/// as mosquitto 2.0.11 does not with what waited for the session.
const ACKNOWLEDGEMENTS: usize = u16::MAX as usize;

/// What a connection tells.
pub enum Told {
    /// It stands; whether the broker had kept the session.
    Connected { present: bool },
    /// A message.
    Message(Box<Publish>),
    /// It is over.
    Ended(String),
}

/// A connection. It ends when this is dropped.
pub struct Connection {
    client: AsyncClient,
    events: mpsc::Receiver<Result<Event, String>>,
    task: AbortHandle,
    filters: Vec<Filter>,
    /// Acknowledgements that have not been given to the network.
    unwritten: HashSet<u16>,
}

impl Connection {
    /// Connects in the background, and subscribes to `filters`.
    pub fn open(options: MqttOptions, filters: &[String]) -> Connection {
        let (client, events) = AsyncClient::new(options, CAPACITY + ACKNOWLEDGEMENTS);
        let (sender, receiver) = mpsc::channel(CAPACITY);
        let task = tokio::spawn(poll(events, sender)).abort_handle();
        let filters = filters.iter().map(|path| Filter {
            // What is retained is told once, and not at each connection.
            retain_forward_rule: RetainForwardRule::OnNewSubscribe,
            ..Filter::new(path, QoS::AtLeastOnce)
        });
        Connection { client, events: receiver, task, filters: filters.collect(), unwritten: HashSet::new() }
    }

    /// What happens next. Nothing is lost when it is not waited for to its end.
    pub async fn next(&mut self) -> Told {
        loop {
            let event = match self.events.recv().await {
                Some(Ok(event)) => event,
                Some(Err(why)) => return Told::Ended(why),
                None => return Told::Ended("the connection is closed".into()),
            };
            match event {
                Event::Incoming(Packet::ConnAck(ack)) => {
                    if let Err(e) = self.client.try_subscribe_many(self.filters.clone()) {
                        return Told::Ended(e.to_string());
                    }
                    return Told::Connected { present: ack.session_present };
                }
                Event::Incoming(Packet::SubAck(ack)) => {
                    use rumqttc::v5::mqttbytes::v5::SubscribeReasonCode::Success;
                    if let Some(no) = ack.return_codes.iter().find(|code| !matches!(code, Success(_))) {
                        return Told::Ended(format!("the broker refuses a subscription: {no:?}"));
                    }
                }
                Event::Incoming(Packet::Publish(publish)) => return Told::Message(Box::new(publish)),
                Event::Outgoing(Outgoing::PubAck(id)) => drop(self.unwritten.remove(&id)),
                _ => {}
            }
        }
    }

    /// Acknowledges what is stored or in the quarantine.
    pub fn acknowledge(&mut self, done: Vec<(To, Outcome)>) {
        for ((id, qos), outcome) in done {
            if qos == Qos::AtMostOnce || matches!(outcome, Outcome::Left) {
                continue;
            }
            self.unwritten.insert(id);
            let mut publish = Publish::new("", QoS::AtLeastOnce, "", None);
            publish.pkid = id;
            // An error means that the connection is over: the broker sends it again.
            let _ = self.client.try_ack(&publish);
        }
    }

    /// Writes what is to be written and takes leave; the broker keeps the session.
    pub async fn leave(&mut self) {
        if self.client.try_disconnect().is_ok() {
            while !matches!(self.next().await, Told::Ended(_)) {}
        }
    }

    /// Of which messages the broker cannot know that they are stored.
    pub fn unwritten(mut self) -> HashSet<u16> {
        self.task.abort();
        self.events.close();
        while let Ok(event) = self.events.try_recv() {
            if let Ok(Event::Outgoing(Outgoing::PubAck(id))) = event {
                self.unwritten.remove(&id);
            }
        }
        std::mem::take(&mut self.unwritten)
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// Keeps a connection going and hands on what happens, in a task of its own: half an acknowledgement must not be forgotten.
async fn poll(mut events: EventLoop, told: mpsc::Sender<Result<Event, String>>) {
    let mut accepted = false;
    let why = loop {
        match events.poll().await {
            Ok(event) => {
                accepted |= matches!(event, Event::Incoming(Packet::ConnAck(_)));
                let last = event == Event::Outgoing(Outgoing::Disconnect);
                if told.send(Ok(event)).await.is_err() || last {
                    return;
                }
            }
            // Brokers of 3.1.1 hang up, or answer in a way that is none in 5.
            Err(e @ ConnectionError::MqttState(_)) if !accepted => {
                break format!("{e}, before the broker has accepted the connection: does it speak MQTT 5?");
            }
            Err(e) => break e.to_string(),
        }
    };
    // Messages that were read before it broke. An acknowledgement that is left here is the one that could not be written: each is
    // written alone, and told of once that is done.
    let left = std::mem::take(&mut events.state.events);
    for event in left.into_iter().filter(|event| matches!(event, Event::Incoming(_))) {
        if told.send(Ok(event)).await.is_err() {
            return;
        }
    }
    let _ = told.send(Err(why)).await;
}
