//! What a forwarder takes over from before the restart.

use super::{Forwarder, QUIET, partition::Item};
use crate::replay::impossible;
use dunnage_base::clock;
use dunnage_buffer::Use;
use std::sync::Arc;
use tokio::time::Instant;

impl Forwarder {
    /// Resumes the messages of devices that lagged behind the others when the position was saved.
    pub(super) async fn restore(&mut self) {
        let position = self.saver.saved().clone();
        let readers = self.target.outputs.source().buffer.readers.of(Use::Outputs);
        while !self.stopping.is_cancelled() {
            let Ok(mut messages) = readers.count_behind(position.clone()).await else {
                tokio::time::sleep(QUIET).await;
                continue;
            };
            let (now, received_at) = (Instant::now(), clock::now());
            for (device, id) in &position.behind {
                let first = Item { id: *id, received_at, dead_letter: false };
                let messages = messages.remove(device).unwrap_or_default();
                self.window.restore(device, first, messages, now);
            }
            break;
        }
    }

    /// Takes over the replay from before the restart, if the output has one.
    pub(super) async fn resume_replay(&mut self) {
        let readers = self.target.outputs.source().buffer.readers.of(Use::Outputs);
        while !self.stopping.is_cancelled() {
            let Ok(state) = readers.replay(Arc::clone(&self.target.name)).await else {
                tokio::time::sleep(QUIET).await;
                continue;
            };
            let Some(state) = state else { break };
            // The output may have become one of another kind.
            let has_alarms = self.target.selection.as_ref().is_some_and(|all| all.condition().is_some());
            let reason = impossible(self.target.output.shape().partitions, has_alarms).map(str::to_owned);
            let replay = reason.map_or_else(|| serde_json::from_str(&state).map_err(|e| e.to_string()), Err);
            match replay {
                Ok(replay) => self.replays.resume(replay),
                Err(reason) => {
                    tracing::warn!(output = %self.target.name, reason, "the replay of the output has ended");
                    self.replays.forget();
                }
            }
            break;
        }
    }

    /// Takes over the alarms from before the restart, if the output has any.
    pub(super) async fn resume_alarms(&self) {
        let Some(selection) = &self.target.selection else { return };
        let Some(condition) = selection.condition() else { return };
        let readers = self.target.outputs.source().buffer.readers.of(Use::Outputs);
        while !self.stopping.is_cancelled() {
            match readers.alarms(Arc::clone(&self.target.name), condition).await {
                Ok(alarms) => return selection.resume(alarms),
                Err(_) => tokio::time::sleep(QUIET).await,
            }
        }
    }
}
