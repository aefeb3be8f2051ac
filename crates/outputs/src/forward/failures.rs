//! Handles calls that failed.

use super::{
    Forwarder, MAX_BACKOFF, MIN_BACKOFF, QUIET, REASON, backoff, breaker::Of, calls::Call, window::Wait,
};
use crate::{Breaker, Class};
use dunnage_base::clock;
use std::time::Duration;
use tokio::{task::JoinError, time::Instant};

impl Forwarder {
    pub(super) fn failed(
        &mut self,
        call: &Call,
        done_to: Option<i64>,
        (class, asked, reason): (Class, Option<Duration>, String),
        now: Instant,
    ) {
        let output = &self.target.name;
        let of = match &call.partitions[..] {
            [partition] if !partition.is_empty() && call.failing => (Of::Known(partition), &**partition),
            [partition] if !partition.is_empty() => (Of::New(partition), &**partition),
            _ => (Of::All, ""),
        };
        // A partial delivery shows that the receiver works, so the backoff starts again.
        let failures = match (done_to, of) {
            (Some(_), _) => 1,
            (None, (_, partition)) => self.window.failures(partition) + 1,
        };
        let until = now + backoff::asked(asked, backoff::wait(MIN_BACKOFF, MAX_BACKOFF, failures));
        let last = (clock::now(), reason.chars().take(REASON).collect::<String>().into());
        let wait = Wait { until, asked: asked.is_some(), last };
        self.window.failed(&call.partitions, done_to, &wait, now);
        let was_closed = self.breaker.state() == Breaker::Closed;
        if self.breaker.failed(of.0, asked, now) && was_closed {
            tracing::error!(%output, ?class, reason, "deliveries fail; the output is paused");
        } else if self.quiet.is_none_or(|until| until <= now) {
            tracing::warn!(%output, partition = of.1, ?class, reason, "a delivery failed and will be retried");
            self.quiet = Some(now + QUIET);
        }
    }

    /// Handles a task that panicked. A call counts as failed.
    pub(super) fn panicked(&mut self, error: &JoinError, now: Instant) {
        tracing::error!(output = %self.target.name, %error, "a task of the output failed");
        self.reader.panicked(error.id(), &mut self.window, now);
        self.saver.panicked(error.id());
        self.replays.panicked(error.id(), now);
        if let Some(call) = self.calls.ended(error.id(), 1, None, now) {
            let reason = "the output failed".to_owned();
            self.target.meter.retried(Class::Other, &reason);
            self.failed(&call, None, (Class::Other, None, reason), now);
        }
    }
}
