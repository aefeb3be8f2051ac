//! The task that writes to one connection and reads the acknowledgements.

use super::{
    pinged::{Done, Pinged},
    protocol::Protocol,
};
use crate::{Class, Failed};
use dunnage_clients::mqtt::{Client, Error, Event, Publication, Publish};
use std::{collections::HashMap, sync::Arc, time::Duration};
use tokio::{
    sync::mpsc,
    time::{Instant, sleep_until},
};

/// Most messages without an acknowledgement, if the broker accepts more.
const IN_FLIGHT: usize = 256;

/// A message to publish.
pub struct Request {
    pub publication: Publication,
    pub way: Way,
    pub done: Done,
}

/// How the broker confirms a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    /// With QoS 1, by an acknowledgement. A message whose caller no longer waits is not sent.
    Acknowledgement,
    /// With QoS 0, by the answer to a ping. It is sent in any case, because it has a number in a sequence.
    Ping,
}

pub struct Connection {
    client: Client,
    requests: mpsc::Receiver<Request>,
    timeout: Duration,
    /// Messages without an acknowledgement, by their packet identifiers.
    waiting: HashMap<u16, Waiting>,
    pinged: Pinged,
    /// Gets the messages that arrive over this connection, of which this is the number.
    protocol: Option<(u64, Arc<dyn Protocol>)>,
}

struct Waiting {
    since: Instant,
    done: Done,
}

impl Connection {
    pub fn new(
        client: Client,
        requests: mpsc::Receiver<Request>,
        timeout: Duration,
        protocol: Option<(u64, Arc<dyn Protocol>)>,
    ) -> Connection {
        let (waiting, pinged) = (HashMap::new(), Pinged::default());
        Connection { client, requests, timeout, waiting, pinged, protocol }
    }

    /// Publishes messages and returns their acknowledgements until the connection ends. Returns why it has ended. Messages that were not
    /// acknowledged are not sent again here; their callers retry them.
    pub async fn serve(&mut self) -> Failed {
        let failed = match self.run().await {
            Ok(()) => {
                self.client.close().await;
                Failed::retry("the connection to the broker was closed").because(Class::Connection)
            }
            Err(failed) => failed,
        };
        // First, so that a caller that retries at once gets another connection.
        self.requests.close();
        // One may still be put into the closed queue. It would stay there, and its caller would wait for ever.
        while let Some(Request { done, .. }) = self.requests.recv().await {
            let _ = done.send(Err(failed.clone()));
        }
        for (_, waiting) in self.waiting.drain() {
            let _ = waiting.done.send(Err(failed.clone()));
        }
        self.pinged.fail(&failed);
        failed
    }

    /// Runs until the publisher needs no connection, or it breaks.
    async fn run(&mut self) -> Result<(), Failed> {
        let most = IN_FLIGHT.min(self.client.limits().receive_maximum.into());
        loop {
            let oldest = self.waiting.values().map(|waiting| waiting.since).chain(self.pinged.since()).min();
            // None if nothing waits, or for ages.
            let due = oldest.and_then(|since| since.checked_add(self.timeout));
            tokio::select! {
                event = self.client.next(true) => match event.map_err(|error| lost(&error))? {
                    Event::Acknowledged(id, acknowledgement) => {
                        if let Some(Waiting { done, .. }) = self.waiting.remove(&id) {
                            // A caller that no longer waits will retry.
                            let _ = done.send(Ok(acknowledgement));
                        }
                    }
                    Event::Answered => {
                        if self.pinged.answered() {
                            self.client.ping();
                        }
                    }
                    Event::Subscribed(Ok(())) => {}
                    Event::Message(message) => self.receive(&message),
                    Event::Subscribed(Err(why)) => {
                        let reason = format!("the broker refused the subscription: {why}");
                        return Err(Failed::retry(reason).because(Class::Denied));
                    }
                },
                request = self.requests.recv(), if self.waiting.len() + self.pinged.len() < most => match request {
                    Some(request) => self.send(request),
                    None => return Ok(()),
                },
                () = sleep_until(due.unwrap_or_else(Instant::now)), if due.is_some() => {
                    let reason = "the broker did not acknowledge the message in time";
                    return Err(Failed::retry(reason).because(Class::Timeout));
                }
            }
        }
    }

    fn receive(&mut self, message: &Publish) {
        if message.id != 0 {
            self.client.acknowledge(message.id);
        }
        if let Some((session, protocol)) = &self.protocol {
            protocol.receive(*session, message);
        }
    }

    fn send(&mut self, Request { publication, way, done }: Request) {
        if way == Way::Ping {
            match self.client.send_unacknowledged(&publication) {
                Ok(()) => {
                    if self.pinged.queued(done) {
                        self.client.ping();
                    }
                }
                Err(why) => drop(done.send(Err(Failed::refused(why.to_string())))),
            }
            return;
        }
        // A caller that no longer waits will retry.
        if done.is_closed() {
            return;
        }
        match self.client.send(&publication) {
            Ok(Some(id)) => drop(self.waiting.insert(id, Waiting { since: Instant::now(), done })),
            // All identifiers are in use. The caller retries.
            Ok(None) => {}
            Err(why) => drop(done.send(Err(Failed::refused(why.to_string())))),
        }
    }
}

/// Why a connection has ended.
fn lost(error: &Error) -> Failed {
    let class = if matches!(error, Error::Silent) { Class::Timeout } else { Class::Connection };
    Failed::retry(format!("the connection to the broker was lost: {error}")).because(class)
}
