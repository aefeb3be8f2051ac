//! Finds the partition at fault after a call with messages of several has failed: parts of them are called until one has failed alone.

use std::{collections::HashSet, sync::Arc};

/// How many parts suspects are divided into. More parts take fewer failed calls and more successful ones.
const PARTS: usize = 4;

/// The partitions of the last failed call that have not been called since.
#[derive(Default)]
pub struct Suspects(Vec<Arc<str>>);

impl Suspects {
    /// Records a failed call of several partitions.
    pub fn blame(&mut self, partitions: &[Arc<str>]) {
        self.0 = partitions.to_vec();
    }

    /// Removes the partitions of another call, and those that `stay` does not accept.
    pub fn clear(&mut self, partitions: &[Arc<str>], stay: impl Fn(&str) -> bool) {
        if !self.0.is_empty() {
            let called: HashSet<_> = partitions.iter().collect();
            self.0.retain(|name| !called.contains(name) && stay(name));
        }
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns all of them, and the part to call next.
    pub fn next(&self) -> (HashSet<Arc<str>>, HashSet<Arc<str>>) {
        let part = self.0.len().div_ceil(PARTS);
        (self.0.iter().cloned().collect(), self.0[..part].iter().cloned().collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_calls_find_one_among_many() {
        let names: Vec<Arc<str>> = (0..1000).map(|n| n.to_string().into()).collect();
        for at in [0, 1, 499, 998, 999] {
            let (mut suspects, mut calls) = (Suspects::default(), 0);
            suspects.blame(&names);
            loop {
                calls += 1;
                let (_, part) = suspects.next();
                let part: Vec<_> = part.into_iter().collect();
                match (part.contains(&names[at]), &part[..]) {
                    (true, [_]) => break,
                    (true, _) => suspects.blame(&part),
                    (false, _) => suspects.clear(&part, |_| true),
                }
            }
            assert!(calls <= 25, "{at}: {calls}");
        }
    }
}
