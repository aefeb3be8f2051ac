//! Dead letters that wait for a retry, and messages of a replay: both are delivered again by their IDs, before new ones of their device.

use crate::Which;
use std::collections::{HashSet, VecDeque};

/// The IDs of dead letters that wait for a retry: each once, in the order of the requests.
#[derive(Default)]
pub struct Retries {
    order: VecDeque<i64>,
    waiting: HashSet<i64>,
}

impl Retries {
    /// Returns whether no dead letter waits.
    pub fn is_empty(&self) -> bool {
        self.order.is_empty()
    }

    /// Returns whether a dead letter waits.
    pub fn has(&self, id: i64) -> bool {
        self.waiting.contains(&id)
    }

    /// Adds the IDs that are not waiting yet.
    pub fn add(&mut self, ids: Vec<i64>) {
        let waiting = &mut self.waiting;
        self.order.extend(ids.into_iter().filter(|id| waiting.insert(*id)));
    }

    /// Forgets those that `which` selects.
    pub fn discard(&mut self, which: &Which) {
        let stays = |id: &i64| matches!(which, Which::Ids(ids) if !ids.contains(id));
        self.order.retain(stays);
        self.waiting.retain(stays);
    }

    /// Removes the first IDs, at most `most`, and returns them.
    pub fn take(&mut self, most: usize) -> Vec<i64> {
        let ids: Vec<_> = self.order.drain(..self.order.len().min(most)).collect();
        for id in &ids {
            self.waiting.remove(id);
        }
        ids
    }

    /// Puts IDs that were taken but not read back in front of the others.
    pub fn put_back(&mut self, ids: &[i64]) {
        for id in ids.iter().rev() {
            if self.waiting.insert(*id) {
                self.order.push_front(*id);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two operators may retry the same dead letters.
    #[test]
    fn each_waits_once_however_often_it_is_added() {
        let mut retries = Retries::default();
        retries.add(vec![3, 1, 2]);
        retries.add(vec![2, 4, 3]);
        assert_eq!(retries.take(2), [3, 1]);
        retries.add(vec![3]);
        retries.put_back(&[3, 1]);
        retries.discard(&Which::Ids(vec![2, 9]));
        assert_eq!(retries.take(9), [1, 4, 3]);
        retries.add(vec![5]);
        retries.discard(&Which::All);
        assert!(retries.is_empty());
    }
}
