//! Finds the leaf that tells most about another: a satellite fix about its precision, the time since the reference about a change.

use super::bins;
use super::samples::{LeafShape, Samples};
use crate::coded::table::{Context, FULL_WEIGHT};

/// The most classes to begin with.
const CLASSES: usize = 24;
/// How many leaves are tried with tables of their own.
const CANDIDATES: usize = 3;
/// The bytes that a class costs, about.
const CLASS_BYTES: f64 = 16.0;

/// Returns the contexts that seem to save most, the best first. `numbers` are what the samples `own` of the leaf are coded as.
pub(super) fn candidates(
    samples: &Samples,
    leaf: &LeafShape,
    own: &[usize],
    numbers: &[i64],
) -> Vec<Context> {
    let Some((table, _)) = bins::table(numbers.to_vec(), leaf.count, FULL_WEIGHT, samples.byte() / 8.0)
    else {
        return Vec::new();
    };
    let binned: Vec<usize> = numbers.iter().map(|number| table.bin_of(*number)).collect();
    let mut found = Vec::new();
    for before in 0..leaf.at {
        for change in [false, true] {
            let values = samples.contexts(leaf.at, before, change);
            let values: Vec<u64> = own.iter().map(|i| values[*i]).collect();
            let price = samples.byte() * CLASS_BYTES + CLASS_BYTES * 8.0;
            let (from, saved) = Classes::of(&values, &binned, table.bins.len(), price).merged();
            if !from.is_empty() {
                found.push((saved, Context { leaf: before, change, from }));
            }
        }
    }
    found.sort_by(|(a, _), (b, _)| b.total_cmp(a));
    found.into_iter().take(CANDIDATES).map(|(_, context)| context).collect()
}

/// Neighbouring values of a context that share a table, and how often each bin occurs with them.
struct Classes {
    from: Vec<u64>,
    counts: Vec<Vec<u32>>,
    /// The bits that a class must save.
    price: f64,
}

impl Classes {
    fn of(values: &[u64], binned: &[usize], bins: usize, price: f64) -> Classes {
        let mut sorted = values.to_vec();
        sorted.sort_unstable();
        let mut from: Vec<u64> = if sorted.chunk_by(|a, b| a == b).count() <= CLASSES {
            sorted.clone()
        } else {
            (0..CLASSES).map(|i| sorted[i * sorted.len() / CLASSES]).collect()
        };
        from.dedup();
        let mut counts = vec![vec![0; bins]; from.len()];
        for (value, bin) in values.iter().zip(binned) {
            let class = from.partition_point(|from| from <= value).saturating_sub(1);
            counts[class][*bin] += 1;
        }
        Classes { from, counts, price }
    }

    fn cost(&self, counts: &[u32]) -> f64 {
        let all: f64 = counts.iter().map(|n| f64::from(*n)).sum();
        let bits = |n: &&u32| f64::from(**n) * (all / f64::from(**n)).log2();
        counts.iter().filter(|n| **n > 0).map(|n| bits(&n)).sum::<f64>() + self.price
    }

    /// Merges neighbours as long as that pays. Returns the first value of each class but the first, and the bits that they save.
    fn merged(mut self) -> (Vec<u64>, f64) {
        let together = |a: &[u32], b: &[u32]| -> Vec<u32> { a.iter().zip(b).map(|(a, b)| a + b).collect() };
        let everything = self
            .counts
            .iter()
            .fold(Vec::new(), |sum, one| if sum.is_empty() { one.clone() } else { together(&sum, one) });
        while self.counts.len() > 1 {
            let loss = |at: usize| {
                let both = together(&self.counts[at], &self.counts[at + 1]);
                self.cost(&both) - self.cost(&self.counts[at]) - self.cost(&self.counts[at + 1])
            };
            let least =
                (0..self.counts.len() - 1).map(|at| (loss(at), at)).min_by(|a, b| a.0.total_cmp(&b.0));
            let Some((_, at)) = least.filter(|(loss, _)| *loss < 0.0) else { break };
            let both = together(&self.counts[at], &self.counts[at + 1]);
            self.counts.splice(at..at + 2, [both]);
            self.from.remove(at + 1);
        }
        let classes: f64 = self.counts.iter().map(|counts| self.cost(counts)).sum();
        let saved = self.cost(&everything) - classes;
        (self.from.split_off(self.from.len().min(1)), saved)
    }
}
