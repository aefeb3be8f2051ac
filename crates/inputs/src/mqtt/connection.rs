//! A client's connection, from its CONNACK to its end.

use super::{
    Listener, Remote,
    answer::{Ack, Answers},
    connect::{ALIASES, Client, greet},
    end::End,
    flow::{Flow, Outcome, Storing, To, duplicate},
    message, will,
    wire::{Stream, Wire},
};
use crate::connections::Place;
use dunnage_access::Right;
use dunnage_buffer::Reservation;
use dunnage_clients::mqtt::{
    packet::{self, Packet, Publish, Version},
    reason::{Reason, Refusal},
};
use dunnage_ingest::Submitted;
use mqtt_protocol_core::mqtt::packet::Qos;
use std::{collections::BTreeMap, sync::Arc, time::Duration};
use tokio::{
    sync::watch,
    time::{Instant, sleep_until},
};
use tokio_util::sync::CancellationToken;

/// A client of MQTT 3.1.1 may leave at least this many messages of QoS 2 unreleased, because it cannot be told a limit.
const UNRELEASED: usize = 1024;

/// Signals that end a connection from outside.
struct Signals {
    stopping: CancellationToken,
    taken_over: watch::Receiver<bool>,
    /// Changes when the client's token has to be checked again.
    looks: watch::Receiver<()>,
}

/// Serves a client until it disconnects or the gateway stops.
pub async fn serve<S: Stream>(listener: Arc<Listener>, stream: S, peer: Remote, place: &Place) {
    let mut wire = Wire::new(stream);
    let greeted = Box::pin(greet(&listener, &mut wire, peer)).await;
    let Some(client) = greeted else { return };
    if !place.activity().busy() {
        return;
    }
    let commit = {
        let listener = Arc::clone(&listener);
        move |submitted: Submitted| -> Storing {
            let listener = Arc::clone(&listener);
            Box::pin(
                async move { submitted.commit(&listener.env.ingest, &listener.env.stopping).await.into() },
            )
        }
    };
    let most = usize::from(listener.settings.in_flight_messages);
    let flow = Flow::new(&listener.env.ingest.buffer.queue, most, commit);
    let connection = Connection { listener, peer, client, aliases: BTreeMap::new(), heard: Instant::now() };
    connection.run(wire, flow).await;
}

struct Connection {
    listener: Arc<Listener>,
    peer: Remote,
    client: Client,
    aliases: BTreeMap<u16, String>,
    /// When its last packet arrived.
    heard: Instant,
}

impl Connection {
    async fn run<S: Stream, C: Fn(Submitted) -> Storing>(mut self, mut wire: Wire<S>, mut flow: Flow<C>) {
        let mut signals = Signals {
            stopping: self.listener.env.stopping.clone(),
            taken_over: self.client.session.taken_over.clone(),
            looks: self.listener.env.ingest.access.looks(),
        };
        let end = loop {
            match self.turn(&mut wire, &mut flow, &mut signals).await {
                Ok(()) => {}
                Err(end) => break end,
            }
        };
        let taken_over = *self.client.session.taken_over.borrow();
        if let (End::Stopping, false) = (&end, taken_over) {
            // Pending messages are stored, and their sender gets the acknowledgements.
            while !flow.is_empty() {
                let done = flow.advance().await;
                self.acknowledge(done, &mut wire);
            }
        }
        let refusal = match end {
            End::Left | End::Broken => None,
            End::Refused(refusal) => Some(refusal),
            End::Stopping => {
                // The client has not gone away.
                self.client.will = None;
                Some(Refusal::new(Reason::Stopping, "the gateway is stopping"))
            }
        };
        if let Some(refusal) = refusal {
            let (input, peer, client) = (&self.listener.name, self.peer.address, &self.client.id);
            tracing::debug!(%input, %peer, client, reason = refusal.why, "ended a connection");
            self.answers().disconnect(&mut wire.output, &refusal);
            wire.close().await;
        }
        drop(wire);
        let will = self.client.will.take();
        self.remember(&mut flow).await;
        if let Some(will) = will {
            let client = (&*self.client.id, self.client.credential.as_deref());
            will::store(&self.listener, client, &self.peer, will).await;
        }
    }

    /// Waits until the pending messages are stored. Remembers those of QoS 1, which the client will resend because no PUBACK was sent, and
    /// forgets those of QoS 2 that were not stored.
    async fn remember<C: Fn(Submitted) -> Storing>(&mut self, flow: &mut Flow<C>) {
        while !flow.is_empty() {
            for ((id, qos), outcome) in flow.advance().await {
                let stored = !matches!(outcome, Outcome::Left);
                let memory = &mut self.client.session.memory;
                match qos {
                    Qos::AtLeastOnce if stored => drop(memory.unacknowledged.insert(id)),
                    Qos::ExactlyOnce if !stored => drop(memory.unreleased.remove(&id)),
                    _ => {}
                }
            }
        }
    }

    /// Handles the packets that have arrived, and waits for the next event.
    async fn turn<S: Stream, C: Fn(Submitted) -> Storing>(
        &mut self,
        wire: &mut Wire<S>,
        flow: &mut Flow<C>,
        signals: &mut Signals,
    ) -> Result<(), End> {
        let reading = loop {
            if !flow.is_open() {
                break false;
            }
            let Some((first, body)) = wire.next(self.listener.largest())? else { break true };
            self.heard = Instant::now();
            let packet = packet::read(self.client.answers.version, first, &body)?;
            drop(body);
            let mut room = wire.room();
            // The packet is complete, so it is handled even if another one has just claimed its memory.
            let _ = room.as_mut().map_or(Ok(()), Reservation::whole);
            self.handle(packet, room, wire, flow)?;
        };
        // Most messages get their place in the queue at once.
        if !flow.is_empty() {
            let done = futures_util::future::poll_immediate(flow.advance()).await;
            self.acknowledge(done.unwrap_or_default(), wire);
            if !reading && flow.is_open() {
                return Ok(());
            }
        }
        wire.flush().await.map_err(|_| End::Broken)?;
        let silent = self.heard + self.client.silence;
        let until = wire.deadline().map_or(silent, |deadline| deadline.min(silent));
        let gives_way = wire.give_way();
        tokio::select! {
            done = flow.advance(), if !flow.is_empty() => self.acknowledge(done, wire),
            filled = wire.fill(), if reading => match filled {
                Ok(true) => wire.charge(&self.listener.arriving, self.peer.address.ip())?,
                Ok(false) | Err(_) => return Err(End::Broken),
            },
            refusal = gives_way => return Err(refusal.into()),
            _ = signals.taken_over.wait_for(|taken_over| *taken_over) => {
                return Err(Refusal::new(Reason::TakenOver, "the same client ID has connected again").into());
            }
            () = signals.stopping.cancelled() => return Err(End::Stopping),
            Ok(()) = signals.looks.changed() => self.check_token()?,
            () = sleep_until(until), if reading => {
                return Err(Refusal::new(Reason::KeepAlive, "the keep-alive time has passed").into());
            }
        }
        // A client's silence does not count while the gateway is not reading.
        if !reading {
            self.heard = Instant::now();
        }
        Ok(())
    }

    /// Ends the connection if its token has been revoked or has expired.
    fn check_token(&self) -> Result<(), Refusal> {
        let access = &self.listener.env.ingest.access;
        match access.may_go_on(self.client.credential.as_deref(), Right::sends) {
            true => Ok(()),
            false => Err(Refusal::new(Reason::NotAuthorized, "the token is no longer valid")),
        }
    }

    fn handle<S: Stream, C: Fn(Submitted) -> Storing>(
        &mut self,
        packet: Packet,
        room: Option<Reservation>,
        wire: &mut Wire<S>,
        flow: &mut Flow<C>,
    ) -> Result<(), End> {
        let answers = *self.answers();
        match packet {
            Packet::Publish(publish) => self.publish(publish, room, flow)?,
            Packet::Release(id) => {
                let known = self.client.session.memory.unreleased.remove(&id);
                let unknown = Refusal::new(Reason::UnknownId, "");
                answers.ack(&mut wire.output, Ack::Complete, id, (!known).then_some(&unknown));
            }
            Packet::Subscribe(id, filters) => answers.no_subscription(&mut wire.output, id, filters),
            Packet::Unsubscribe(id, filters) => answers.unsubscribed(&mut wire.output, id, filters),
            Packet::Ping => Answers::pong(&mut wire.output),
            Packet::Disconnect { expiry, with_will } => {
                self.keep_for(expiry)?;
                self.client.will.take_if(|_| !with_will);
                return Err(End::Left);
            }
        }
        Ok(())
    }

    /// Puts a message into the flow. An error ends the connection.
    fn publish<C: Fn(Submitted) -> Storing>(
        &mut self,
        publish: Publish,
        room: Option<Reservation>,
        flow: &mut Flow<C>,
    ) -> Result<(), Refusal> {
        let to: To = (publish.id, publish.qos);
        let mut topic = String::new();
        let Err(refusal) = self.enter(&mut topic, publish, room, flow) else { return Ok(()) };
        // The message counts as received and refused.
        drop(self.listener.env.ingest.receive());
        self.listener.refused(&refusal);
        self.listener.tell(&self.client.id, &topic, &refusal);
        let answerable = matches!(refusal.reason, Reason::Topic | Reason::NotAuthorized | Reason::Quota);
        if !answerable || self.answers().version == Version::V3 || to.1 == Qos::AtMostOnce {
            return Err(refusal);
        }
        flow.answer(to, Box::pin(std::future::ready(Outcome::Refused(refusal))));
        Ok(())
    }

    /// Puts a message into the flow, and its topic into `topic`, also when the message is rejected because of it.
    fn enter<C: Fn(Submitted) -> Storing>(
        &mut self,
        topic: &mut String,
        mut publish: Publish,
        room: Option<Reservation>,
        flow: &mut Flow<C>,
    ) -> Result<(), Refusal> {
        if publish.retain && self.answers().version == Version::V5 {
            return Err(Refusal::new(Reason::Retain, "retained messages are not supported"));
        }
        self.resolve_alias(&mut publish)?;
        *topic = std::mem::take(&mut publish.topic);
        let listener = Arc::clone(&self.listener);
        let typed = message::is_typed(&publish);
        let address = match listener.topics.address(topic, typed, &publish.payload) {
            Ok(address) => address,
            Err(_) if listener.topics.ignores(topic) => {
                if publish.qos == Qos::ExactlyOnce {
                    self.hold(publish.id, flow.unacknowledged())?;
                }
                flow.answer((publish.id, publish.qos), Box::pin(std::future::ready(Outcome::Stored)));
                return Ok(());
            }
            Err(refusal) => return Err(refusal),
        };
        self.listener.may_send(&self.peer.peer, &address.device, self.client.credential.as_deref())?;
        let to: To = (publish.id, publish.qos);
        if self.is_known(&publish) {
            flow.answer(to, duplicate(&self.listener.env));
            return Ok(());
        }
        if publish.qos == Qos::ExactlyOnce {
            self.hold(publish.id, flow.unacknowledged())?;
        }
        let input = (message::METRIC, Arc::clone(&self.listener.meter));
        // PUBACK and PUBREC of MQTT 5 report that the message is in the quarantine.
        let is_answered = self.answers().version == Version::V5 && publish.qos != Qos::AtMostOnce;
        let mut message = message::read(&self.listener.env.ingest, input, &address, publish);
        message.provenance.is_answered = is_answered;
        let listener = Arc::clone(&self.listener);
        flow.submit(to, |failed_batches| async move {
            // Held until the message is in the queue, which then counts its bytes.
            let _room = room;
            listener.env.ingest.submit_retrying(message, failed_batches, &listener.env.stopping).await
        });
        Ok(())
    }

    /// Remembers the identifier of a QoS 2 message until its release. Fails if too many messages are unreleased.
    fn hold(&mut self, id: u16, under_way: usize) -> Result<(), Refusal> {
        let most = usize::from(self.listener.settings.in_flight_messages);
        let most = match self.answers().version {
            Version::V3 => most.max(UNRELEASED),
            Version::V5 => most,
        };
        let unreleased = &mut self.client.session.memory.unreleased;
        if !unreleased.contains(&id) && unreleased.len() >= most {
            let why =
                format!("{most} messages wait for PUBREL, which is the limit, and {under_way} are under way");
            return Err(Refusal::new(Reason::TooMany, why));
        }
        unreleased.insert(id);
        Ok(())
    }

    /// Returns whether the message is stored already. A client marks a packet that it sends again as DUP; without the mark it is another
    /// message, from a client that has forgotten what it sent before.
    fn is_known(&mut self, publish: &Publish) -> bool {
        let memory = &mut self.client.session.memory;
        let known = match publish.qos {
            Qos::AtMostOnce => false,
            Qos::AtLeastOnce => memory.unacknowledged.remove(&publish.id),
            Qos::ExactlyOnce => memory.unreleased.contains(&publish.id),
        };
        known && publish.dup
    }

    fn resolve_alias(&mut self, publish: &mut Publish) -> Result<(), Refusal> {
        let Some(alias) = publish.alias else { return Ok(()) };
        if !(1..=ALIASES).contains(&alias) {
            return Err(Refusal::new(Reason::Alias, format!("a topic alias must be 1 to {ALIASES}")));
        }
        if publish.topic.is_empty() {
            let topic = self.aliases.get(&alias);
            publish.topic.clone_from(
                topic.ok_or_else(|| Refusal::new(Reason::Protocol, "this topic alias has no topic yet"))?,
            );
        } else if self.listener.topics.knows(&publish.topic) {
            self.aliases.insert(alias, publish.topic.clone());
        }
        Ok(())
    }

    /// Acknowledges messages that are stored or in the quarantine.
    fn acknowledge<S: Stream>(&mut self, done: Vec<(To, Outcome)>, wire: &mut Wire<S>) {
        let answers = *self.answers();
        let unreleased = &mut self.client.session.memory.unreleased;
        for ((id, qos), outcome) in done {
            let refusal = match outcome {
                Outcome::Stored => None,
                Outcome::Refused(refusal) => Some(refusal),
                Outcome::Left => {
                    if qos == Qos::ExactlyOnce {
                        unreleased.remove(&id);
                    }
                    continue;
                }
            };
            match qos {
                Qos::AtMostOnce => {}
                Qos::AtLeastOnce => answers.ack(&mut wire.output, Ack::Stored, id, refusal.as_ref()),
                Qos::ExactlyOnce => {
                    if refusal.is_some() && answers.version == Version::V5 {
                        // A PUBREC with an error ends the exchange (MQTT 5, section 4.3.3).
                        unreleased.remove(&id);
                    }
                    answers.ack(&mut wire.output, Ack::Received, id, refusal.as_ref());
                }
            }
        }
    }

    /// Applies the session expiry of a DISCONNECT. It may change how long the session is kept, but not keep one that was not to be kept.
    fn keep_for(&mut self, expiry: Option<u32>) -> Result<(), Refusal> {
        let Some(seconds) = expiry else { return Ok(()) };
        if !self.client.kept && seconds > 0 {
            return Err(Refusal::new(
                Reason::Protocol,
                "a session that expires at once cannot be extended in DISCONNECT",
            ));
        }
        let seconds = u64::from(seconds).min(self.listener.settings.session_expiry_seconds);
        self.client.session.keep = Duration::from_secs(seconds);
        Ok(())
    }

    fn answers(&self) -> &Answers {
        &self.client.answers
    }
}
