//! Predicts decisions: what is known in each of their contexts, mixed.

use super::logistic::{MAX_ODDS, squash, stretch};

/// A step of a hash.
pub(super) fn hash(seed: u32, value: u32) -> u32 {
    let h = (seed ^ value).wrapping_mul(0x2C1B_3C6D).rotate_left(13).wrapping_mul(0x9E37_79B1);
    h ^ h >> 15
}

/// A hash of several values.
pub(super) fn hashes(values: &[u32]) -> u32 {
    values.iter().fold(0x1234_5678, |seed, &value| hash(seed, value))
}

/// 65,536 / (n + 1.5): how far a probability moves towards the n-th decision.
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

/// What is known in one context: how often the decision was true and false, as far as that still counts.
#[derive(Debug, Clone, Copy)]
struct Slot {
    /// The probability of true.
    p: u16,
    /// False and true, 0 to 15 each: the higher and the lower four bits.
    seen: u8,
    /// Eight bits of the context's hash.
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

/// The largest table has 2^20 slots, 4 MiB.
const MAX_BITS: u32 = 20;

/// The contexts of all decisions.
#[derive(Debug, Clone)]
pub(super) struct Table {
    slots: Vec<Slot>,
    bits: u32,
}

impl Table {
    pub fn new(bits: u32) -> Self {
        Table { slots: vec![Slot::EMPTY; 1 << bits], bits }
    }

    /// Room for the contexts of so many decisions, up to a point. Where there are twice the slots, each is copied next
    /// to itself, where one more bit of the hash finds it.
    pub fn make_room(&mut self, decisions: u32) {
        if self.bits < MAX_BITS && decisions >> (self.bits - 5) != 0 {
            self.slots = self.slots.iter().flat_map(|&slot| [slot, slot]).collect();
            self.bits += 1;
        }
    }

    fn find(&mut self, context: u32) -> usize {
        let (at, check) = ((context >> (32 - self.bits)) as usize, context as u8);
        if self.slots[at].check == check {
            return at;
        }
        let next = at ^ 1;
        if self.slots[next].check == check {
            return next;
        }
        let weight = |at: usize| (self.slots[at].seen >> 4) + (self.slots[at].seen & 15);
        let at = if weight(next) < weight(at) { next } else { at };
        self.slots[at] = Slot { check, ..Slot::EMPTY };
        at
    }
}

/// Mixes the predictions of `N` contexts.
#[derive(Debug, Clone)]
pub(super) struct Mixer<const N: usize> {
    /// Two for each context and one for nothing at all, for each set.
    weights: Vec<[i32; 64]>,
    /// What counts of falses and trues have meant, for each context: a probability, and how many decisions made it.
    meanings: Vec<[(u16, u8); 256]>,
    inputs: [i32; 64],
    found: [usize; N],
}

impl<const N: usize> Mixer<N> {
    pub fn new(sets: usize) -> Self {
        let mut meaning = [(0, 0); 256];
        for (seen, (p, _)) in meaning.iter_mut().enumerate() {
            let (falses, trues) = (seen as u32 >> 4, seen as u32 & 15);
            *p = ((trues * 2 + 1) * 65_536 / ((falses + trues) * 2 + 2)).min(65_535) as u16;
        }
        let mut weights = [0; 64];
        weights[..2 * N].fill(65_536 * 3 / 10);
        Mixer { weights: vec![weights; sets], meanings: vec![meaning; N], inputs: [0; 64], found: [0; N] }
    }

    /// The probability of true in these contexts, from 1 to 65,535.
    pub fn predict(&mut self, table: &mut Table, contexts: &[u32; N], set: usize) -> u32 {
        for (i, &context) in contexts.iter().enumerate() {
            let at = table.find(context);
            self.found[i] = at;
            let slot = table.slots[at];
            if slot.seen == 0 {
                self.inputs[2 * i] = 0;
                self.inputs[2 * i + 1] = 0;
            } else {
                self.inputs[2 * i] = stretch(slot.p.into());
                self.inputs[2 * i + 1] = stretch(self.meanings[i][usize::from(slot.seen)].0.into());
            }
        }
        self.inputs[2 * N] = 256;
        let weights = &self.weights[set];
        let sum: i64 = self.inputs.iter().zip(weights).map(|(&x, &w)| i64::from(x) * i64::from(w)).sum();
        let odds = (sum >> 16).clamp(-i64::from(MAX_ODDS), i64::from(MAX_ODDS));
        squash(odds as i32) as u32
    }

    /// Learns the decision that was predicted with `p`.
    pub fn update(&mut self, table: &mut Table, set: usize, p: u32, bit: bool) {
        let error = (i32::from(bit) << 16) - p as i32;
        for (w, &x) in self.weights[set].iter_mut().zip(&self.inputs) {
            *w += (x * (error >> 2) + (1 << 12)) >> 13;
        }
        for (i, &at) in self.found.iter().enumerate() {
            let slot = &mut table.slots[at];
            if slot.seen != 0 {
                let (p, n) = &mut self.meanings[i][usize::from(slot.seen)];
                *p = adapt((*p).into(), bit, RATES[usize::from(*n) + 4]) as u16;
                *n = (*n + 1).min(250);
            }
            slot.update(bit);
        }
    }
}
