//! Counts internal errors of the CSE by message, to find the messages that it can never store.

use std::{
    collections::HashMap,
    sync::{Mutex, MutexGuard, PoisonError},
};

/// A message is given up after this many internal errors, with other instances created between each two of them.
const TIMES: u32 = 5;
/// Largest number of messages that are counted.
const MESSAGES: usize = 10_000;

/// The internal errors since the start.
#[derive(Default)]
pub struct Refusals(Mutex<Counts>);

#[derive(Default)]
struct Counts {
    /// Instances that were created.
    created: u64,
    /// For each message: its errors that count, and how many instances had been created at the last one.
    errors: HashMap<String, (u32, u64)>,
}

impl Refusals {
    fn counts(&self) -> MutexGuard<'_, Counts> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts an instance that was created for `message`.
    pub fn created(&self, message: &str) {
        let mut counts = self.counts();
        counts.created += 1;
        counts.errors.remove(message);
    }

    /// Counts an internal error about `message`. Returns whether it is to be given up.
    pub fn refused(&self, message: &str) -> bool {
        let mut counts = self.counts();
        let created = counts.created;
        if counts.errors.len() >= MESSAGES {
            counts.errors.clear();
        }
        let (times, before) = counts.errors.entry(message.to_owned()).or_insert((1, created));
        // If no other instance is created either, the CSE may be at fault.
        if *before < created {
            (*times, *before) = (*times + 1, created);
        }
        let never = *times >= TIMES;
        if never {
            counts.errors.remove(message);
        }
        never
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_message_that_fails_while_others_succeed_is_given_up() {
        let refusals = Refusals::default();
        refusals.created("earlier");
        // The database is down.
        assert!(!(0..100).any(|n| refusals.refused(&format!("m{}", n % 3))));
        // It works again, and has no place for one message.
        for n in 0..3 {
            refusals.created(&format!("other{n}"));
            assert!(!refusals.refused("m1"), "{n}");
        }
        assert!(!refusals.refused("m1"));
        refusals.created("m0");
        assert!(refusals.refused("m1") && !refusals.refused("m2"));
        // After a retry by an operator, it is counted again.
        assert!(!refusals.refused("m1"));
    }
}
