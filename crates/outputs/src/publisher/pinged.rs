//! Messages of QoS 0, which a broker does not acknowledge. It reads a connection in order: when it answers a ping, it has read everything
//! before. At most one ping is on its way, so many messages share one.

use crate::Failed;
use dunnage_clients::mqtt::Acknowledgement;
use tokio::{sync::oneshot, time::Instant};

/// Gets the broker's acknowledgement; dropped if the connection ends first.
pub type Done = oneshot::Sender<Result<Acknowledgement, Failed>>;

/// Messages that the broker may not have read yet.
#[derive(Default)]
pub struct Pinged {
    /// When the last ping was sent, if it is not answered.
    since: Option<Instant>,
    /// Those before the ping.
    before: Vec<Done>,
    /// Those after it.
    after: Vec<Done>,
}

impl Pinged {
    /// Returns the number of messages.
    pub fn len(&self) -> usize {
        self.before.len() + self.after.len()
    }

    /// Returns when the ping was sent that is not answered.
    pub fn since(&self) -> Option<Instant> {
        self.since
    }

    /// Takes note of a message that was queued. Returns whether to ping now.
    pub fn queued(&mut self, done: Done) -> bool {
        self.after.push(done);
        self.ping()
    }

    /// Takes note of the answer to the ping. Returns whether to ping again.
    pub fn answered(&mut self) -> bool {
        self.since = None;
        for done in self.before.drain(..) {
            // A caller that no longer waits will retry.
            let _ = done.send(Ok(Acknowledgement::Taken));
        }
        self.ping()
    }

    /// Tells all callers why the connection has ended.
    pub fn fail(&mut self, failed: &Failed) {
        for done in self.before.drain(..).chain(self.after.drain(..)) {
            let _ = done.send(Err(failed.clone()));
        }
    }

    fn ping(&mut self) -> bool {
        if self.since.is_some() || self.after.is_empty() {
            return false;
        }
        std::mem::swap(&mut self.before, &mut self.after);
        self.since = Some(Instant::now());
        true
    }
}
