//! Replays: an output delivers messages again that it has resolved, beside the new ones.
//!
//! A replay has the messages that were received at some times, and were resolved when it began. It is in the buffer, so that a restart
//! continues it. It selects them with the output's `when`, and they have the same stable IDs as before, so that a receiver can drop those
//! that it has.

use super::{Command, Outputs, Partitions};
use dunnage_base::clock::{self, rfc3339};
use dunnage_buffer::{IdRange, ReadError, Times, Use};
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use tokio::sync::oneshot;
use utoipa::ToSchema;

/// The messages that an operator wants to be delivered again.
#[derive(Debug, Clone)]
pub struct ReplayRequest {
    /// When they were received.
    pub times: Times,
    /// The devices that sent them: an ID, in which `*` matches any characters; `None` for all.
    pub device: Option<String>,
    /// Only count them.
    pub dry_run: bool,
}

/// What an operator does with a replay in progress.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReplayAction {
    /// Stop delivering its messages until it is resumed.
    Pause,
    /// Continue it.
    Resume,
    /// End it. Messages that were delivered stay delivered.
    Cancel,
}

/// Why a replay does not begin, or cannot be changed.
#[derive(Debug, Clone, thiserror::Error)]
pub enum ReplayError {
    /// No output with this name is running.
    #[error("the output {0:?} is not running")]
    NotRunning(String),
    /// Messages cannot be delivered again by this output.
    #[error("the output {0:?} cannot deliver messages again: {1}")]
    Impossible(String, &'static str),
    /// The previous replay has not ended.
    #[error("a replay of the output {0:?} is not complete; cancel it first")]
    NotComplete(String),
    /// There is none.
    #[error("the output {0:?} has no replay in progress")]
    NoReplay(String),
    /// The buffer cannot be read or written. The log has the cause.
    #[error("the buffer cannot be read or written; the log has the cause")]
    Buffer,
}

impl From<ReadError> for ReplayError {
    fn from(_: ReadError) -> ReplayError {
        ReplayError::Buffer
    }
}

/// The state of a replay in the buffer. Times are in microseconds since 1970.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Replay {
    pub from: i64,
    pub until: i64,
    pub device: Option<Arc<str>>,
    /// The last message ID up to which all of its messages are resolved again, and the last one that belongs to it.
    pub done_to: i64,
    pub up_to: i64,
    /// How many messages it had when it began, and how many of them are resolved again.
    pub messages: u64,
    pub done: u64,
    pub paused: bool,
    pub begun_at: i64,
}

/// A replay of an output: the last one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct ReplayStatus {
    /// Its messages were received at this time or later, as RFC 3339.
    pub from: String,
    /// Its messages were received before this time, as RFC 3339; `null` if it ends with the last one that was delivered when it began.
    #[schema(required)]
    pub until: Option<String>,
    /// The devices that sent them: an ID, in which `*` stands for any characters; `null` for all.
    #[schema(required)]
    pub device: Option<String>,
    /// How many messages it has.
    pub messages: u64,
    /// How many of them were delivered again, became dead letters, or have left the buffer.
    pub done: u64,
    /// How far it is.
    pub state: ReplayState,
    /// When it began, as RFC 3339; `null` for one that was only planned.
    #[schema(required)]
    pub begun_at: Option<String>,
}

/// How far a replay is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum ReplayState {
    /// It was only counted.
    Planned,
    /// Messages are delivered.
    Running,
    /// An operator has paused it.
    Paused,
    /// All messages are done.
    Complete,
}

/// A command of an operator to a forwarder.
pub enum ReplayCommand {
    /// Begin.
    Start(Replay),
    /// Change the one in progress.
    Change(ReplayAction),
}

/// Receives the state after a command, once it is durable.
pub type ReplayAnswer = oneshot::Sender<Result<Option<ReplayStatus>, ReplayError>>;

impl Replay {
    /// Returns whether all messages are done.
    pub fn is_complete(&self) -> bool {
        self.done_to >= self.up_to
    }

    /// Returns its state, for people.
    pub fn status(&self) -> ReplayStatus {
        let state = match (self.is_complete(), self.paused) {
            (true, _) => ReplayState::Complete,
            (false, true) => ReplayState::Paused,
            (false, false) => ReplayState::Running,
        };
        ReplayStatus {
            from: rfc3339(self.from),
            until: Some(self.until).filter(|until| *until != Times::ALL.until).map(rfc3339),
            device: self.device.as_deref().map(str::to_owned),
            messages: self.messages,
            // After a restart, some are delivered once more.
            done: if self.is_complete() { self.messages } else { self.done.min(self.messages) },
            state,
            begun_at: Some(rfc3339(self.begun_at)),
        }
    }
}

/// Returns why an output cannot have replays, if it cannot. `has_alarms` says whether it delivers alarms.
pub fn impossible(partitions: Partitions, has_alarms: bool) -> Option<&'static str> {
    match partitions {
        Partitions::One => Some("each message is in one of its files"),
        _ if has_alarms => Some("whether a message is an alarm depends on those before it"),
        Partitions::PerDevice | Partitions::Together => None,
    }
}

impl Outputs {
    /// Begins a replay of `output`, or only counts its messages. Returns its state.
    pub async fn replay(
        &self,
        output: &str,
        request: ReplayRequest,
    ) -> Result<Option<ReplayStatus>, ReplayError> {
        let ReplayRequest { times, device, dry_run } = request;
        let handle = self.handle(output).ok_or_else(|| ReplayError::NotRunning(output.into()))?;
        if let Some(reason) = handle.no_replay {
            return Err(ReplayError::Impossible(output.into(), reason));
        }
        let (readers, position) = (self.source().buffer.readers.of(Use::Admin), handle.meter.position());
        let device: Option<Arc<str>> = device.map(Into::into);
        let range = readers.ids_at(times).await?;
        let range = IdRange { up_to: range.up_to.min(position.resolved_to), ..range };
        let messages = readers.count_resolved(range, device.clone(), position).await?;
        let replay = Replay {
            from: times.from,
            until: times.until,
            device,
            done_to: range.after,
            up_to: range.up_to,
            messages,
            done: 0,
            paused: false,
            begun_at: clock::now(),
        };
        if dry_run {
            return Ok(Some(ReplayStatus {
                state: ReplayState::Planned,
                done: 0,
                begun_at: None,
                ..replay.status()
            }));
        }
        self.command(output, ReplayCommand::Start(replay)).await
    }

    /// Changes the replay of `output`. Returns its state; `None` if it was cancelled.
    pub async fn change_replay(
        &self,
        output: &str,
        action: ReplayAction,
    ) -> Result<Option<ReplayStatus>, ReplayError> {
        self.command(output, ReplayCommand::Change(action)).await
    }

    async fn command(
        &self,
        output: &str,
        command: ReplayCommand,
    ) -> Result<Option<ReplayStatus>, ReplayError> {
        let stopped = || ReplayError::NotRunning(output.into());
        let handle = self.handle(output).ok_or_else(stopped)?;
        let (answer, answered) = oneshot::channel();
        handle.commands.send(Command::Replay(command, answer)).await.map_err(|_| stopped())?;
        answered.await.unwrap_or_else(|_| Err(stopped()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_done_never_exceeds_what_there_was() {
        let mut replay = Replay {
            from: 0,
            until: 1_767_225_600_000_000,
            device: Some("pump-*".into()),
            done_to: 10,
            up_to: 30,
            messages: 12,
            done: 14,
            paused: true,
            begun_at: 1_767_225_600_000_000,
        };
        let status = replay.status();
        assert_eq!(
            (status.done, status.state, &*status.from),
            (12, ReplayState::Paused, "1970-01-01T00:00:00.000Z")
        );
        assert_eq!(status.until.as_deref(), Some("2026-01-01T00:00:00.000Z"));
        let read: Replay = serde_json::from_str(&serde_json::to_string(&replay).unwrap()).unwrap();
        assert_eq!(read, replay);
        // Some have left the buffer.
        (replay.done_to, replay.done) = (30, 7);
        assert_eq!((replay.status().done, replay.status().state), (12, ReplayState::Complete));
    }
}
