//! One call: hands messages over, and makes durable what came of it besides the cursor.

use super::window::Taken;
use crate::{Class, Failed, FailureKind, Meter, Output, Outputs, Source};
use dunnage_base::clock;
use dunnage_buffer::Change;
use std::{
    sync::Arc,
    time::{Duration, Instant},
};

/// Between two tries to write a change.
const PAUSE: Duration = Duration::from_millis(500);

/// Where calls go.
pub struct Target {
    pub name: Arc<str>,
    pub output: Arc<dyn Output>,
    pub source: Source,
    pub outputs: Arc<Outputs>,
    pub meter: Arc<Meter>,
}

/// What came of a call.
pub struct Called {
    /// Messages of it.
    pub messages: usize,
    /// How many of them, from the first, are done with.
    pub done: usize,
    /// Why the next one is not, and when it may be tried again.
    pub failed: Option<(Class, Option<Duration>, String)>,
    /// From begin to answer.
    pub took: Duration,
}

impl Target {
    /// Calls the other side. What it refuses is set aside before this ends.
    pub async fn call(&self, Taken { messages, aside, .. }: Taken) -> Called {
        let begun = Instant::now();
        let deliver = tokio::time::timeout(self.output.deadline(), self.output.deliver(&messages));
        let answer =
            deliver.await.unwrap_or_else(|_| Err(Failed::retry("no answer in time").because(Class::Timeout)));
        let took = begun.elapsed();
        let mut done = match &answer {
            Ok(()) => messages.len(),
            Err(failed) => failed.delivered.min(messages.len() - 1),
        };
        self.meter.delivered(done, took);
        let settled = messages.iter().zip(&aside).take(done).filter(|(_, aside)| **aside);
        let settled: Vec<_> = settled.map(|(message, _)| message.id).collect();
        if !settled.is_empty() {
            self.change(Change::Resolved { output: Arc::clone(&self.name), message_ids: Some(settled) })
                .await;
        }
        let mut again = None;
        match answer {
            Ok(()) => {}
            Err(Failed { kind: FailureKind::Retry(after), class, reason, .. }) => {
                self.meter.retried(class, &reason);
                again = Some((class, after, reason));
            }
            Err(Failed { kind: FailureKind::Refused, reason, .. }) => {
                let message = &messages[done];
                tracing::warn!(
                    output = %self.name, device = message.device, message = message.id, request = message.request, reason,
                    "refused for good and set aside"
                );
                self.meter.refused(&reason);
                self.change(Change::DeadLetter {
                    output: Arc::clone(&self.name),
                    message_id: message.id,
                    refused_at: clock::now(),
                    reason,
                })
                .await;
                done += 1;
            }
        }
        Called { messages: messages.len(), done, failed: again, took }
    }

    /// Makes a change durable, however long it takes.
    async fn change(&self, change: Change) {
        while self.source.queue.change(change.clone()).await.is_err() {
            tokio::time::sleep(PAUSE).await;
        }
    }
}
