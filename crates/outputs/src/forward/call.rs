//! A call: delivers messages, and makes its results durable except the cursor.

use super::window::Taken;
use crate::{Class, Failed, FailureKind, Meter, Output, Outputs};
use dunnage_base::clock;
use dunnage_buffer::Change;
use std::{sync::Arc, time::Duration};
use tokio::time::Instant;

/// Delay after a change could not be written.
const RETRY_DELAY: Duration = Duration::from_millis(500);

/// An output with all that a call needs.
pub struct Target {
    pub name: Arc<str>,
    pub output: Arc<dyn Output>,
    pub outputs: Arc<Outputs>,
    pub meter: Arc<Meter>,
}

/// The result of a call.
pub struct Called {
    /// How many messages it had.
    pub messages: usize,
    /// Whether any of them are resolved, and the last ID up to which they are.
    pub done_to: Option<i64>,
    /// Why the next one failed: reason for metrics, delay that the receiver asked for, and reason for people.
    pub failed: Option<(Class, Option<Duration>, String)>,
    /// The duration of the call.
    pub took: Duration,
}

impl Target {
    /// Calls the output. A rejected message is a dead letter in the buffer before this returns.
    pub async fn call(&self, Taken { messages, dead_letters, .. }: Taken) -> Called {
        self.output.learn((self.outputs.source().catalog)());
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
        let resolved =
            messages.iter().zip(&dead_letters).take(done).filter(|(_, is_dead_letter)| **is_dead_letter);
        let resolved: Vec<_> = resolved.map(|(message, _)| message.id).collect();
        if !resolved.is_empty() {
            self.change(Change::Resolved { output: Arc::clone(&self.name), message_ids: Some(resolved) })
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
                    output = %self.name, device = message.device, message_id = message.id, request = message.request, reason,
                    "a message was rejected and is now a dead letter"
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
        let done_to = done.checked_sub(1).map(|last| messages[last].id);
        Called { messages: messages.len(), done_to, failed: again, took }
    }

    /// Writes a change, and retries until it is durable.
    async fn change(&self, change: Change) {
        while self.outputs.source().buffer.queue.change(change.clone()).await.is_err() {
            tokio::time::sleep(RETRY_DELAY).await;
        }
    }
}
