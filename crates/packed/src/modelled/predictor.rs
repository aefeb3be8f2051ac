//! Predicts decisions by mixing the statistics of their contexts.

use super::logistic::{MAX_ODDS, squash, stretch};

/// 65,536 / (n + 1.5): the rate at which a probability moves towards the n-th decision.
const fn rates() -> [u32; 256] {
    let mut table = [0; 256];
    let mut n = 0;
    while n < 256 {
        table[n as usize] = 131_072 / (2 * n + 3);
        n += 1;
    }
    table
}
static RATES: [u32; 256] = rates();

fn adapt(p: u32, bit: bool, rate: u32) -> u32 {
    if bit { p + (((65_535 - p) * rate) >> 16) } else { p - ((p * rate) >> 16) }
}

/// The statistics of one context: how often the decision was true and false, with old decisions counting less.
#[derive(Debug, Clone, Copy)]
struct Slot {
    /// The probability that the decision is true.
    p: u16,
    /// The counts of false and true, 0 to 15 each, in the higher and the lower four bits.
    seen: u8,
    /// Eight bits of the context's hash, which detect most collisions.
    check: u8,
}

impl Slot {
    const EMPTY: Slot = Slot { p: 32768, seen: 0, check: 0 };

    fn update(&mut self, bit: bool) {
        let (mut falses, mut trues) = (self.seen >> 4, self.seen & 15);
        self.p = adapt(self.p.into(), bit, RATES[usize::from(falses + trues)]) as u16;
        let (same, other) = if bit { (&mut trues, &mut falses) } else { (&mut falses, &mut trues) };
        *same = (*same + 1).min(15);
        if *other > 2 {
            *other = (*other + 2) / 2;
        }
        self.seen = falses << 4 | trues;
    }
}

/// The initial number of slots of a table: 2 MiB.
const FIRST_SLOTS: usize = 1 << 19;

/// The initial weight of each prediction: 1/8.
const FIRST_WEIGHT: i32 = 1 << 13;

/// The statistics of the contexts of all decisions.
#[derive(Debug, Clone)]
pub(super) struct Table(Vec<Slot>);

impl Table {
    pub fn new() -> Self {
        Table(vec![Slot::EMPTY; FIRST_SLOTS])
    }

    /// Doubles the number of slots. Each slot is copied to both places that one more bit of the hash distinguishes.
    pub fn double(&mut self) {
        self.0.extend_from_within(..);
    }

    /// Returns the slot of a context. If other contexts have both of its places, it replaces the one that was seen less.
    fn find(&mut self, context: u32) -> usize {
        let (at, check) = (context as usize & (self.0.len() - 1), (context >> 24) as u8);
        if self.0[at].check == check {
            return at;
        }
        let next = at ^ 16;
        if self.0[next].check == check {
            return next;
        }
        let seen = |at: usize| (self.0[at].seen >> 4) + (self.0[at].seen & 15);
        let at = if seen(next) < seen(at) { next } else { at };
        self.0[at] = Slot { check, ..Slot::EMPTY };
        at
    }
}

/// Mixes the predictions of `N` contexts.
#[derive(Debug, Clone)]
pub(super) struct Mixer<const N: usize> {
    /// The weights of the two predictions of each context in units of 1/65,536, by set. The sets that the caller selects come
    /// first, then one set for each possible number of contexts that have been seen before.
    weights: Vec<[[i32; 2]; N]>,
    /// For each context and each pair of counts of false and true, the probability of true and the number of decisions that it is based on.
    meanings: Vec<[(u16, u8); 256]>,
    inputs: [[i32; 2]; N],
    found: [usize; N],
    /// The sets of the last prediction, and what each of them predicted.
    used: [(usize, i32); 3],
}

impl<const N: usize> Mixer<N> {
    /// Creates a mixer with `sets` sets for the caller to select.
    pub fn new(sets: usize) -> Self {
        let mut meaning = [(0, 0); 256];
        for (seen, (p, _)) in meaning.iter_mut().enumerate() {
            let (falses, trues) = (seen as u32 >> 4, seen as u32 & 15);
            *p = ((trues * 2 + 1) * 65_536 / ((falses + trues) * 2 + 2)).min(65_535) as u16;
        }
        Mixer {
            weights: vec![[[FIRST_WEIGHT; 2]; N]; sets + N + 1],
            meanings: vec![meaning; N],
            inputs: [[0; 2]; N],
            found: [0; N],
            used: [(0, 0); 3],
        }
    }

    /// Returns the probability that the decision is true in these contexts, in units of 1/65,536, from 1 to 65,535.
    pub fn predict(&mut self, table: &mut Table, contexts: &[u32; N], sets: [usize; 2]) -> u32 {
        let mut known = 0;
        for (i, &context) in contexts.iter().enumerate() {
            let at = table.find(context);
            self.found[i] = at;
            let slot = table.0[at];
            self.inputs[i] = [0; 2];
            if slot.seen != 0 {
                known += 1;
                let meaning = self.meanings[i][usize::from(slot.seen)].0;
                self.inputs[i] = [stretch(slot.p.into()), stretch(meaning.into())];
            }
        }
        let sets = [sets[0], sets[1], self.weights.len() - N - 1 + known];
        let odds = sets.map(|set| self.odds(set));
        for i in 0..3 {
            self.used[i] = (sets[i], squash(odds[i]));
        }
        squash(odds.iter().sum::<i32>() / 3) as u32
    }

    fn odds(&self, set: usize) -> i32 {
        let product = |(x, w): (&[i32; 2], &[i32; 2])| {
            i64::from(x[0]) * i64::from(w[0]) + i64::from(x[1]) * i64::from(w[1])
        };
        let sum: i64 = self.inputs.iter().zip(&self.weights[set]).map(product).sum();
        (sum >> 16).clamp(-i64::from(MAX_ODDS), i64::from(MAX_ODDS)) as i32
    }

    /// Updates weights and statistics with the decision that was predicted last.
    pub fn update(&mut self, table: &mut Table, bit: bool) {
        for (set, p) in self.used {
            let error = (i32::from(bit) << 16) - p;
            for (weights, inputs) in self.weights[set].iter_mut().zip(&self.inputs) {
                for (w, x) in weights.iter_mut().zip(inputs) {
                    *w += (x * (error >> 2) + (1 << 13)) >> 14;
                }
            }
        }
        for (i, &at) in self.found.iter().enumerate() {
            let slot = &mut table.0[at];
            if slot.seen != 0 {
                let (p, n) = &mut self.meanings[i][usize::from(slot.seen)];
                *p = adapt((*p).into(), bit, RATES[usize::from(*n) + 4]) as u16;
                *n = (*n + 1).min(250);
            }
            slot.update(bit);
        }
    }
}
