//! The forwarder: takes messages from the buffer behind an output's cursor, and hands them over until they are delivered.

use super::{Failed, FailureKind, Message, Output};
use crate::{
    buffer::{Change, queries},
    clock,
    shared::Shared,
};
use std::{sync::Arc, time::Duration};
use tokio::sync::watch;

/// Most messages that are taken from the buffer at a time.
const WINDOW: u32 = 256;
const PAUSE: Duration = Duration::from_millis(500);

/// Moves messages from the buffer to one output.
pub struct Forwarder {
    name: Arc<str>,
    output: Arc<dyn Output>,
    shared: Arc<Shared>,
    cursor: i64,
    stopping: watch::Receiver<bool>,
}

impl Forwarder {
    /// A forwarder that goes on behind the message `cursor`.
    pub fn new(
        name: Arc<str>,
        output: Arc<dyn Output>,
        cursor: i64,
        shared: Arc<Shared>,
        stopping: watch::Receiver<bool>,
    ) -> Forwarder {
        Forwarder { name, output, shared, cursor, stopping }
    }

    /// Forwards until the gateway stops.
    pub async fn run(mut self) {
        let mut commits = self.shared.board.commits();
        while !*self.stopping.borrow() {
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
                    }
                }
                Some(window) => self.forward(&window).await,
            }
        }
        self.output.close().await;
    }

    async fn forward(&mut self, mut window: &[Message]) {
        while !window.is_empty() && !*self.stopping.borrow() {
            let batch = &window[..window.len().min(self.output.shape().batch)];
            let done = match self.output.deliver(batch).await {
                Ok(()) => batch.len(),
                Err(failed) => self.failed(batch, failed).await,
            };
            if let Some(last) = done.checked_sub(1) {
                self.cursor = batch[last].id;
            }
            window = &window[done..];
        }
        self.save().await;
    }

    /// Waits or sets a message aside. Answers how many messages are done with.
    async fn failed(&self, batch: &[Message], failed: Failed) -> usize {
        let delivered = failed.delivered;
        match failed.kind {
            FailureKind::Refused => {
                self.set_aside(&batch[delivered], failed).await;
                delivered + 1
            }
            FailureKind::Retry(after) => {
                tracing::warn!(output = %self.name, reason = failed.reason, "not delivered, tried again");
                tokio::time::sleep(after.unwrap_or(PAUSE)).await;
                delivered
            }
        }
    }

    async fn set_aside(&self, message: &Message, failed: Failed) {
        let change = Change::Undelivered {
            output: Arc::clone(&self.name),
            message_id: message.id,
            refused_at: clock::now(),
            reason: failed.reason,
        };
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
