//! Saves the position of a forwarder from time to time, while it moves.

use dunnage_buffer::Position;
use std::time::Duration;
use tokio::{task::Id, time::Instant};

/// How often the position is saved and the progress is published, while they change.
const TICK: Duration = Duration::from_millis(200);

/// The saved position, and when to save it again.
pub struct Saver {
    /// The position in the buffer.
    saved: Position,
    /// The task that saves it, if one runs.
    saving: Option<Id>,
    /// Whether the last attempt failed.
    failing: bool,
    /// Whether something has changed since the last tick.
    changed: bool,
    ticked_at: Instant,
}

impl Saver {
    /// Creates a saver; the buffer has `position`.
    pub fn new(position: Position, now: Instant) -> Saver {
        Saver { saved: position, saving: None, failing: false, changed: true, ticked_at: now }
    }

    /// Returns the position in the buffer.
    pub fn saved(&self) -> &Position {
        &self.saved
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

    /// Returns whether `position` is to be saved now. The caller spawns that, and passes the task's ID to [`Saver::started`].
    pub fn wants(&mut self, position: &Position) -> bool {
        // Come back at the next tick for a position that is not saved yet.
        self.changed = *position != self.saved;
        self.changed && self.saving.is_none()
    }

    /// Records that the task `id` saves the position.
    pub fn started(&mut self, id: Id) {
        self.saving = Some(id);
    }

    /// Records the result of saving `position`. Returns whether it was the other one the last time: a full disk fails at each tick.
    pub fn ended(&mut self, position: Position, durable: bool) -> bool {
        self.saving = None;
        if durable {
            self.saved = position;
        }
        std::mem::replace(&mut self.failing, !durable) == durable
    }

    /// Handles a panic of the task `id`. If that saved the position, the next tick saves it again.
    pub fn panicked(&mut self, id: Id) {
        self.saving = self.saving.filter(|saving| *saving != id);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_first_failure_and_the_first_success_after_it_are_reported() {
        let position = Position::default();
        let mut saver = Saver::new(position.clone(), Instant::now());
        let reported = [true, false, false, true, true].map(|durable| saver.ended(position.clone(), durable));
        assert_eq!(reported, [false, true, false, true, false]);
    }
}
