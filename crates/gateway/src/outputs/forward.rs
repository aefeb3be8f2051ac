//! The forwarder: takes messages from the buffer behind an output's cursor, and hands them over until they are delivered.

use super::{Class, Failed, FailureKind, Message, Meter, Named, Output, Place};
use crate::{
    buffer::{Change, queries},
    clock,
    shared::Shared,
};
use std::{
    sync::Arc,
    time::{Duration, Instant},
};
use tokio::sync::{mpsc, watch};

/// Most messages that are taken from the buffer at a time.
const WINDOW: u32 = 256;
const PAUSE: Duration = Duration::from_millis(500);

/// Moves messages from the buffer to one output.
pub struct Forwarder {
    name: Arc<str>,
    output: Arc<dyn Output>,
    shared: Arc<Shared>,
    meter: Arc<Meter>,
    cursor: i64,
    again: mpsc::Receiver<Vec<i64>>,
    stopping: watch::Receiver<bool>,
}

impl Forwarder {
    /// A forwarder that goes on behind the message `cursor`, and tries again the messages that come through `again`.
    pub fn new(
        Named { name, output, .. }: Named,
        cursor: i64,
        shared: Arc<Shared>,
        meter: Arc<Meter>,
        again: mpsc::Receiver<Vec<i64>>,
        stopping: watch::Receiver<bool>,
    ) -> Forwarder {
        Forwarder { name, output, shared, meter, cursor, again, stopping }
    }

    /// Forwards until the gateway stops.
    pub async fn run(mut self) {
        let mut commits = self.shared.board.commits();
        while !*self.stopping.borrow() {
            if let Ok(ids) = self.again.try_recv() {
                self.deliver_again(ids).await;
            }
            let after = self.cursor;
            let buffer = self.shared.board.totals().name;
            let profiles = self.shared.profiles.load_full();
            let read =
                self.shared.readers.read(move |c| queries::after(c, &profiles, &buffer, after, WINDOW));
            match read.await {
                None => tokio::time::sleep(PAUSE).await,
                Some(window) if window.is_empty() => {
                    tokio::select! {
                        _ = commits.changed() => {}
                        _ = self.stopping.changed() => {}
                        ids = self.again.recv() => self.deliver_again(ids.unwrap_or_default()).await,
                    }
                }
                Some(window) => self.forward(&window).await,
            }
        }
        self.output.close().await;
    }

    /// Delivers what was set aside.
    async fn deliver_again(&self, ids: Vec<i64>) {
        let buffer = self.shared.board.totals().name;
        let profiles = self.shared.profiles.load_full();
        let read = self.shared.readers.read(move |c| queries::by_id(c, &profiles, &buffer, &ids));
        for message in read.await.unwrap_or_default() {
            let batch = std::slice::from_ref(&message);
            while !*self.stopping.borrow() {
                match self.call(batch).await {
                    Ok(()) => {
                        self.meter.delivered(1, Duration::ZERO);
                        self.change(Change::Settled {
                            output: Arc::clone(&self.name),
                            message_ids: Some(vec![message.id]),
                        })
                        .await;
                        break;
                    }
                    Err(failed) => {
                        if self.failed(batch, failed).await > 0 {
                            break;
                        }
                    }
                }
            }
        }
    }

    async fn forward(&mut self, mut window: &[Message]) {
        while !window.is_empty() && !*self.stopping.borrow() {
            let batch = &window[..window.len().min(self.output.shape().batch)];
            let begun = Instant::now();
            let done = match self.call(batch).await {
                Ok(()) => {
                    self.meter.delivered(batch.len(), begun.elapsed());
                    batch.len()
                }
                Err(failed) => self.failed(batch, failed).await,
            };
            if let Some(last) = done.checked_sub(1) {
                self.cursor = batch[last].id;
            }
            window = &window[done..];
        }
        self.meter.duplicates(self.output.duplicates());
        self.meter.show(Place { cursor: self.cursor, taken: self.cursor, limit: 1, ..Place::default() });
        self.save().await;
    }

    async fn call(&self, batch: &[Message]) -> Result<(), Failed> {
        let call = tokio::time::timeout(self.output.deadline(), self.output.deliver(batch));
        call.await.unwrap_or_else(|_| Err(Failed::retry("no answer in time").because(Class::Timeout)))
    }

    /// Waits or sets a message aside. Answers how many messages are done with.
    async fn failed(&self, batch: &[Message], failed: Failed) -> usize {
        let delivered = failed.delivered;
        match failed.kind {
            FailureKind::Refused => {
                self.meter.refused(&failed.reason);
                self.set_aside(&batch[delivered], failed).await;
                delivered + 1
            }
            FailureKind::Retry(after) => {
                self.meter.retried(failed.class, &failed.reason);
                tracing::warn!(output = %self.name, reason = failed.reason, "not delivered, tried again");
                tokio::time::sleep(after.unwrap_or(PAUSE)).await;
                delivered
            }
        }
    }

    async fn set_aside(&self, message: &Message, failed: Failed) {
        self.change(Change::Undelivered {
            output: Arc::clone(&self.name),
            message_id: message.id,
            refused_at: clock::now(),
            reason: failed.reason,
        })
        .await;
    }

    async fn change(&self, change: Change) {
        while self.shared.queue.change(change.clone()).await.is_err() {
            tokio::time::sleep(PAUSE).await;
        }
    }

    /// Makes the cursor durable. When that fails, messages are delivered again after a restart.
    async fn save(&self) {
        let change = Change::Cursor { output: Arc::clone(&self.name), message_id: self.cursor };
        if self.shared.queue.change(change).await.is_err() {
            tracing::warn!(output = %self.name, "the cursor could not be written");
        }
    }
}
