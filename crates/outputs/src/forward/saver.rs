//! Saves the cursor of a forwarder from time to time, while it moves.

use std::time::{Duration, Instant};
use tokio::task::Id;

/// How often the cursor is saved and the progress is published, while they change.
const TICK: Duration = Duration::from_millis(200);

/// The saved cursor, and when to save it again.
pub struct Saver {
    /// The cursor in the buffer.
    saved: i64,
    /// The task that saves it, if one runs.
    saving: Option<Id>,
    /// Whether something has changed since the last tick.
    changed: bool,
    ticked_at: Instant,
}

impl Saver {
    /// Creates a saver; the buffer has `cursor`.
    pub fn new(cursor: i64, now: Instant) -> Saver {
        Saver { saved: cursor, saving: None, changed: true, ticked_at: now }
    }

    /// Marks the progress as changed.
    pub fn changed(&mut self) {
        self.changed = true;
    }

    /// Returns when the next tick is due, if anything has changed.
    pub fn next_tick(&self) -> Option<Instant> {
        self.changed.then_some(self.ticked_at + TICK)
    }

    /// Returns whether a tick is due, and begins it. [`Saver::wants`] ends it.
    pub fn ticks(&mut self, now: Instant) -> bool {
        let due = self.next_tick().is_some_and(|at| at <= now);
        if due {
            self.ticked_at = now;
        }
        due
    }

    /// Returns whether `cursor` is to be saved now. The caller spawns that, and passes the task's ID to [`Saver::started`].
    pub fn wants(&mut self, cursor: i64) -> bool {
        // Come back at the next tick for a cursor that is not saved yet.
        self.changed = cursor != self.saved;
        self.changed && self.saving.is_none()
    }

    /// Records that the task `id` saves the cursor.
    pub fn started(&mut self, id: Id) {
        self.saving = Some(id);
    }

    /// Records the result of saving `cursor`.
    pub fn ended(&mut self, cursor: i64, durable: bool) {
        self.saving = None;
        if durable {
            self.saved = cursor;
        }
    }

    /// Handles a panic of the task `id`. If that saved the cursor, the next tick saves it again.
    pub fn panicked(&mut self, id: Id) {
        self.saving = self.saving.filter(|saving| *saving != id);
    }
}
