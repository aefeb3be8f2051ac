//! The task that writes to one connection and reads the acknowledgements.

use crate::{Class, Failed};
use dunnage_clients::mqtt::{Acknowledgement, Client, Error, Event, Publication};
use std::{collections::HashMap, time::Duration};
use tokio::{
    sync::{mpsc, oneshot},
    time::{Instant, sleep_until},
};

/// Most messages without an acknowledgement, if the broker accepts more.
const IN_FLIGHT: usize = 256;

/// A message to publish.
pub struct Request {
    pub publication: Publication,
    /// Gets the broker's acknowledgement; dropped if the connection ends first.
    pub done: oneshot::Sender<Result<Acknowledgement, Failed>>,
}

pub struct Connection {
    client: Client,
    requests: mpsc::Receiver<Request>,
    timeout: Duration,
    /// Messages without an acknowledgement, by their packet identifiers.
    waiting: HashMap<u16, Waiting>,
}

struct Waiting {
    since: Instant,
    done: oneshot::Sender<Result<Acknowledgement, Failed>>,
}

impl Connection {
    pub fn new(client: Client, requests: mpsc::Receiver<Request>, timeout: Duration) -> Connection {
        Connection { client, requests, timeout, waiting: HashMap::new() }
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
        for (_, waiting) in self.waiting.drain() {
            let _ = waiting.done.send(Err(failed.clone()));
        }
        failed
    }

    /// Runs until the publisher needs no connection, or it breaks.
    async fn run(&mut self) -> Result<(), Failed> {
        let most = IN_FLIGHT.min(self.client.limits().receive_maximum.into());
        loop {
            let oldest = self.waiting.values().map(|waiting| waiting.since).min();
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
                    Event::Message(_) | Event::Subscribed(_) | Event::Answered => {}
                },
                request = self.requests.recv(), if self.waiting.len() < most => match request {
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

    fn send(&mut self, Request { publication, done }: Request) {
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
