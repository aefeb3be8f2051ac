//! A call: delivers messages, and makes its results durable except the cursor.

use super::window::Taken;
use crate::{
    Class, Failed, FailureKind, Message, Meter, Output, Outputs,
    selection::{Choice, Selection},
};
use dunnage_base::clock;
use dunnage_buffer::Change;
use std::{borrow::Cow, sync::Arc, time::Duration};
use tokio::time::Instant;

/// Delay after a change could not be written.
const RETRY_DELAY: Duration = Duration::from_millis(500);

/// An output with all that a call needs.
pub struct Target {
    pub name: Arc<str>,
    pub output: Arc<dyn Output>,
    /// Which messages are delivered; `None` for all of them.
    pub selection: Option<Selection>,
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
    /// Returns what happens to each of the messages; nothing without expressions: then all of them are delivered.
    pub fn choose(&self, taken: &Taken) -> Vec<Choice> {
        let choose = |selection: &Selection| selection.choose(&taken.messages, &taken.dead_letters);
        self.selection.as_ref().map(choose).unwrap_or_default()
    }

    /// Calls the output with the messages of `taken` that are to be delivered: at least one. A rejected message is a dead letter in the
    /// buffer before this returns.
    pub async fn call(&self, taken: Taken, choices: Vec<Choice>) -> Called {
        self.output.learn((self.outputs.source().catalog)());
        let Taken { mut messages, dead_letters, .. } = taken;
        for (message, is_dead_letter) in messages.iter_mut().zip(&dead_letters) {
            message.is_dead_letter = *is_dead_letter;
        }
        let (chosen, at) = chosen(&messages, &choices);
        let begun = Instant::now();
        let deliver = tokio::time::timeout(self.output.deadline(), self.output.deliver(&chosen));
        let answer =
            deliver.await.unwrap_or_else(|_| Err(Failed::retry("no answer in time").because(Class::Timeout)));
        let took = begun.elapsed();
        let delivered = match &answer {
            Ok(()) => chosen.len(),
            Err(failed) => failed.delivered.min(chosen.len() - 1),
        };
        self.meter.delivered(delivered, took);
        // Those between two that were delivered are resolved with them.
        let mut done = if answer.is_ok() { messages.len() } else { at(delivered) };
        self.settle(&messages[..done], &dead_letters, &choices).await;
        let mut again = None;
        match answer {
            Ok(()) => {}
            Err(Failed { kind: FailureKind::Retry(after), class, reason, .. }) => {
                self.meter.retried(class, &reason);
                again = Some((class, after, reason));
            }
            Err(Failed { kind: FailureKind::Refused, reason, .. }) => {
                self.refuse(&messages[done], reason).await;
                // Its device has an alarm, even if the message that says so waits for an operator.
                self.note(&messages[done], choices.get(done)).await;
                done += 1;
            }
        }
        let done_to = done.checked_sub(1).map(|last| messages[last].id);
        Called { messages: messages.len(), done_to, failed: again, took }
    }

    /// Makes durable what follows from `messages`, which are delivered or need no call.
    pub async fn settle(&self, messages: &[Message], dead_letters: &[bool], choices: &[Choice]) {
        let mut resolved = Vec::new();
        let mut skipped = 0;
        for (at, message) in messages.iter().enumerate() {
            match choices.get(at) {
                Some(Choice::Refuse(reason)) => {
                    self.refuse(message, reason.clone()).await;
                    continue;
                }
                Some(Choice::Skip { .. }) => skipped += 1,
                Some(Choice::Deliver { .. }) | None => {}
            }
            self.note(message, choices.get(at)).await;
            if dead_letters[at] {
                resolved.push(message.id);
            }
        }
        self.meter.skipped(skipped);
        if !resolved.is_empty() {
            self.change(Change::Resolved { output: Arc::clone(&self.name), message_ids: Some(resolved) })
                .await;
        }
    }

    /// Makes a message a dead letter.
    async fn refuse(&self, message: &Message, reason: String) {
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
    }

    /// Notes that the device of `message` has an alarm, or none any more, if `choice` says so.
    async fn note(&self, message: &Message, choice: Option<&Choice>) {
        if let Some(selection) = &self.selection
            && let Some(alarm) = choice.and_then(Choice::change)
        {
            let device: Arc<str> = message.device.as_str().into();
            let condition = selection.condition().filter(|_| alarm);
            let output = Arc::clone(&self.name);
            self.change(Change::Alarm { output, device: Arc::clone(&device), condition }).await;
            selection.note(&device, alarm);
        }
    }

    /// Writes a change, and retries until it is durable.
    async fn change(&self, change: Change) {
        while self.outputs.source().buffer.queue.change(change.clone()).await.is_err() {
            tokio::time::sleep(RETRY_DELAY).await;
        }
    }
}

/// Returns the messages that are to be delivered, and the place of each among `messages`.
fn chosen<'m>(
    messages: &'m [Message],
    choices: &'m [Choice],
) -> (Cow<'m, [Message]>, impl Fn(usize) -> usize + use<'m>) {
    let is_chosen =
        |at: &usize| choices.get(*at).is_none_or(|choice| matches!(choice, Choice::Deliver { .. }));
    let places: Vec<usize> = (0..messages.len()).filter(is_chosen).collect();
    let chosen = match places.len() == messages.len() {
        true => Cow::Borrowed(messages),
        false => places.iter().map(|at| messages[*at].clone()).collect(),
    };
    (chosen, move |at: usize| places[at])
}
