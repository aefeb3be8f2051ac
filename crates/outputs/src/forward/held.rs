//! Partitions that hold up an output: those that fail, and the progress of the others.

use super::{
    partition::{Failing, Item, Partition},
    window::Window,
};
use crate::{RetriedMessage, Which};
use dunnage_base::clock::rfc3339;
use dunnage_buffer::{MAX_BEHIND, Position};
use std::sync::Arc;
use tokio::time::Instant;

impl Window {
    /// Ends the delay of one partition early, for a probe: of the one with the fewest failures. A delay that the receiver asked for stays.
    pub fn release_one(&mut self, now: Instant) {
        if self.partitions.values().any(|partition| partition.queued) {
            return;
        }
        let blocked = self.partitions.iter().filter(|(_, partition)| is_releasable(partition));
        let least = blocked
            .min_by_key(|(_, partition)| {
                let calls = partition.failing.as_ref().map(|failing| failing.calls);
                (calls, partition.due)
            })
            .map(|(name, _)| Arc::clone(name));
        if let Some(name) = least {
            self.release(&name, now);
        }
    }

    /// Ends the delays of the partitions early that began to fail after `since`, except those that the receiver asked for: the receiver may
    /// have been at fault.
    pub fn release_since(&mut self, since: Instant, now: Instant) {
        let fresh =
            |partition: &Partition| partition.failing.as_ref().is_some_and(|failing| failing.since > since);
        let blocked =
            self.partitions.iter().filter(|(_, partition)| is_releasable(partition) && fresh(partition));
        for name in blocked.map(|(name, _)| Arc::clone(name)).collect::<Vec<_>>() {
            self.release(&name, now);
        }
    }

    fn release(&mut self, name: &Arc<str>, now: Instant) {
        if let Some(partition) = self.partitions.get_mut(name) {
            partition.due = None;
            partition.alarm = None;
            self.look(name, now);
        }
    }

    /// Returns the oldest message that the cursor must not pass.
    pub fn oldest(&self) -> Option<Item> {
        self.partitions.values().filter_map(Partition::oldest).min_by_key(|item| item.id)
    }

    /// Returns whether a retried dead letter is not resolved.
    pub fn is_retried(&self, id: i64) -> bool {
        self.letters.contains(&id)
    }

    /// Returns how many partitions fail.
    pub fn failing(&self) -> usize {
        self.partitions.values().filter(|partition| partition.failing.is_some()).count()
    }

    /// Returns the position: which messages up to the ID `last` are resolved.
    pub fn position(&self, last: i64) -> Position {
        let (mut behind, mut resolved_to) = (Vec::new(), last);
        for (name, partition) in &self.partitions {
            let Some(oldest) = partition.oldest() else { continue };
            // The one partition of an output without others has no name, and is the output.
            match partition.behind && !name.is_empty() {
                true => behind.push((oldest.id, name)),
                false => resolved_to = resolved_to.min(oldest.id - 1),
            }
        }
        behind.sort_unstable();
        if let Some((first, _)) = behind.get(MAX_BEHIND) {
            resolved_to = resolved_to.min(first - 1);
        }
        let behind = behind.into_iter().take(MAX_BEHIND).filter(|(first, _)| *first <= resolved_to);
        Position { resolved_to, behind: behind.map(|(first, name)| (Arc::clone(name), first)).collect() }
    }

    /// Returns the messages that are retried, the oldest first, at most `limit`: of each partition that fails, the first one.
    pub fn retried(&self, limit: usize) -> Vec<RetriedMessage> {
        let retried = |(name, partition): (&Arc<str>, &Partition)| {
            let (id, failing) = retried(partition)?;
            let (failed_at, reason) = &failing.last;
            let (device, failed_at) = (name.to_string(), rfc3339(*failed_at));
            Some(RetriedMessage { id, device, failed_at, calls: failing.calls, reason: reason.to_string() })
        };
        let mut all: Vec<_> = self.partitions.iter().filter_map(retried).collect();
        all.sort_unstable_by_key(|retried| retried.id);
        all.truncate(limit);
        all
    }

    /// Discards those of the messages and dead letters that are retried that `which` selects; without IDs, dead letters alone. Returns how many
    /// messages. They count as resolved, and the next ones of their partitions follow.
    pub fn discard(&mut self, which: &Which, now: Instant) -> u64 {
        let chosen = |id: i64| match which {
            Which::All => true,
            Which::Ids(ids) => ids.contains(&id),
        };
        let mut messages = 0;
        let names: Vec<_> = self.partitions.keys().map(Arc::clone).collect();
        for name in names {
            let Some(partition) = self.partitions.get_mut(&name) else { continue };
            // While a receiver is down, messages of many devices are retried. Nobody means all of these.
            let head = retried(partition).map(|(id, _)| id).filter(|id| chosen(*id) && *which != Which::All);
            let letters = partition.dead_letters().filter(|id| chosen(*id)).collect::<Vec<_>>();
            if head.is_none() && letters.is_empty() {
                continue;
            }
            // Those in a call, and the first message of those in the buffer, are dropped later.
            let calling: Vec<_> = partition.calling.iter().map(|item| item.id).collect();
            self.discarded.extend(letters.iter().filter(|id| calling.contains(id)));
            letters.iter().filter(|id| !calling.contains(id)).for_each(|id| {
                self.letters.remove(id);
            });
            messages += u64::from(head.is_some_and(|head| self.discarded.insert(head)));
            self.unload(&name);
            if let Some(partition) = self.partitions.get_mut(&name) {
                partition.dead_letters.retain(|id| !letters.contains(id));
                partition.forget_failure();
            }
            self.release(&name, now);
        }
        messages
    }
}

/// Returns the message that a partition retries, and its failures.
fn retried(partition: &Partition) -> Option<(i64, &Failing)> {
    let failing = partition.failing.as_ref().filter(|failing| failing.last.0 > 0)?;
    let head = partition.head().filter(|head| !head.dead_letter)?;
    Some((head.id, failing))
}

fn is_releasable(partition: &Partition) -> bool {
    partition.is_blocked() && !partition.asked && !partition.is_busy()
}
