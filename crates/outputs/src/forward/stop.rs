//! The end of a forwarder.

use super::{CLOSING, Forwarder, UNSAVED};
use dunnage_buffer::Change;
use std::sync::Arc;
use tokio::time::{Instant, timeout_at};

impl Forwarder {
    /// Waits for the calls in progress, saves the position, and closes the output.
    pub(super) async fn stop(mut self) {
        let deadline = Instant::now() + self.target.outputs.drain();
        while !self.calls.is_empty()
            && let Ok(Some(ended)) = timeout_at(deadline, self.tasks.join_next_with_id()).await
        {
            self.event(ended);
        }
        let output = &self.target.name;
        if !self.calls.is_empty() {
            tracing::warn!(%output, calls = self.calls.len(), "calls did not end in time and are cancelled");
        }
        self.tasks.shutdown().await;
        self.settle_replay();
        let position = self.show();
        let output = &self.target.name;
        let change = Change::Position { output: Arc::clone(output), position };
        let replay =
            self.replays.last_state().map(|state| Change::Replay { output: Arc::clone(output), state });
        let end = tokio::time::timeout(CLOSING, async {
            let queue = &self.target.outputs.source().buffer.queue;
            if let Some(replay) = replay {
                self.replays.saved(queue.change(replay).await.is_ok());
            }
            if queue.change(change).await.is_err() {
                tracing::warn!(%output, "{UNSAVED}");
            }
            self.target.output.close().await;
        });
        if end.await.is_err() {
            tracing::warn!(%output, "the output did not close in time");
        }
    }
}
