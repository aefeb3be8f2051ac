//! Finds the bins of a table: few, because a device keeps them in flash, and as many as pay.

use crate::coded::table::{Bin, FREQUENCY_BITS, FULL_WEIGHT, TOTAL_FREQUENCY, Table};

/// The bytes of a table without its bins.
const TABLE_BYTES: f64 = 8.0;
/// The cost of drawing predictions to a centre: the code for it, which few tables share.
const WEIGHT_BYTES: f64 = 64.0;
/// The bytes of a bin.
const BIN_BYTES: f64 = 2.0;
/// The bits that a bin must save in all messages together, whatever their number: fewer may be chance.
const CHANCE: f64 = 12.0;
/// The most values of a leaf with tables.
const MAX_COUNT: u64 = 1 << 60;
/// The most bins of a table.
const MAX_BINS: usize = 96;

/// A candidate for a bin, with the number of samples in it.
#[derive(Debug, Clone, Copy)]
struct Part {
    start: i64,
    width: u8,
    samples: f64,
}

impl Part {
    fn end(self) -> i64 {
        self.start + (1 << self.width)
    }
}

/// The sorted numbers that a table is made for, and what a bin costs.
struct Numbers {
    sorted: Vec<i64>,
    /// The bits that a bin must save.
    price: f64,
}

impl Numbers {
    fn between(&self, start: i64, end: i64) -> f64 {
        (self.sorted.partition_point(|n| *n < end) - self.sorted.partition_point(|n| *n < start)) as f64
    }

    fn part(&self, start: i64, width: u8) -> Part {
        Part { start, width, samples: self.between(start, start + (1 << width)) }
    }

    /// Returns the bits of the samples of a part, and its price. Each part has at least the smallest frequency.
    fn cost(&self, part: Part) -> f64 {
        let all = self.sorted.len() as f64;
        let smallest = all / f64::from(TOTAL_FREQUENCY);
        let frequency = part.samples.max(smallest);
        part.samples * ((all / frequency).log2() + f64::from(part.width))
            + self.price
            // What is given to an empty part is missing elsewhere.
            + (smallest - part.samples).max(0.0) * std::f64::consts::LOG2_E
    }

    fn sum(&self, parts: &[Part]) -> f64 {
        parts.iter().map(|part| self.cost(*part)).sum()
    }

    /// Divides a part as often as that pays.
    fn divided(&self, part: Part, out: &mut Vec<Part>) -> f64 {
        let whole = self.cost(part);
        if part.width == 0 || part.samples < 2.0 {
            out.push(part);
            return whole;
        }
        let half = part.width - 1;
        let start = out.len();
        let halves = self.divided(self.part(part.start, half), out)
            + self.divided(self.part(part.start + (1 << half), half), out);
        if halves < whole {
            return halves;
        }
        out.truncate(start);
        out.push(part);
        whole
    }

    /// Returns the parts of the numbers from 0 to below `count`, with a border at `anchor`.
    fn parts(&self, anchor: i64, count: i64) -> Vec<Part> {
        let mut parts = Vec::new();
        if anchor > 0 {
            let width = width_of(anchor);
            self.divided(self.part(anchor - (1 << width), width), &mut parts);
        }
        if anchor < count {
            let width = width_of(count - anchor);
            self.divided(self.part(anchor, width), &mut parts);
        }
        parts.retain(|part| part.end() > 0 && part.start < count);
        self.merge_equals(&mut parts);
        self.merge_end(&mut parts, count);
        self.merge_start(&mut parts);
        parts
    }

    /// Merges neighbours of the same width where that pays.
    fn merge_equals(&self, parts: &mut Vec<Part>) {
        let mut at = 0;
        while at + 1 < parts.len() {
            let (a, b) = (parts[at], parts[at + 1]);
            let both = Part { start: a.start, width: a.width + 1, samples: a.samples + b.samples };
            if a.width == b.width && self.cost(both) < self.cost(a) + self.cost(b) {
                parts.splice(at..at + 2, [both]);
                at = at.saturating_sub(1);
            } else {
                at += 1;
            }
        }
    }

    /// Replaces the last parts by a single one where that pays.
    fn merge_end(&self, parts: &mut Vec<Part>, count: i64) {
        let single = |at: usize| {
            let start = parts[at].start;
            Part {
                samples: parts[at..].iter().map(|part| part.samples).sum(),
                ..self.part(start, width_of(count - start))
            }
        };
        let saves = |at: usize| self.sum(&parts[at..]) - self.cost(single(at));
        let best = (0..parts.len()).max_by(|a, b| saves(*a).total_cmp(&saves(*b)));
        if let Some(at) = best.filter(|at| saves(*at) > 0.0) {
            let last = single(at);
            parts.truncate(at);
            parts.push(last);
        }
    }

    /// Replaces the first parts by a single one where that pays.
    fn merge_start(&self, parts: &mut Vec<Part>) {
        let single = |at: usize| {
            let end = parts[at].end();
            let width = width_of(end.max(1));
            Part {
                start: end - (1 << width),
                width,
                samples: parts[..=at].iter().map(|part| part.samples).sum(),
            }
        };
        let saves = |at: usize| self.sum(&parts[..=at]) - self.cost(single(at));
        let best = (0..parts.len()).max_by(|a, b| saves(*a).total_cmp(&saves(*b)));
        if let Some(at) = best.filter(|at| saves(*at) > 0.0) {
            let first = single(at);
            parts.splice(..=at, [first]);
        }
    }
}

/// Returns the smallest width whose bin holds `count` values.
fn width_of(count: i64) -> u8 {
    (64 - (count - 1).leading_zeros()) as u8 * u8::from(count > 1)
}

/// Returns the best table for `numbers`, which are from 0 to below `count`, and the bits that it costs with its own price: each byte must
/// save `byte` bits in all messages together. Returns `None` without numbers, and for more than 2^60 values.
pub(super) fn table(mut sorted: Vec<i64>, count: u64, weight: u8, byte: f64) -> Option<(Table, f64)> {
    // Bins of more values would reach beyond 2^63.
    if count > MAX_COUNT {
        return None;
    }
    sorted.sort_unstable();
    let middle = *sorted.get(sorted.len() / 2)?;
    let mut price = byte * BIN_BYTES + CHANCE;
    let weight_bytes = if weight == FULL_WEIGHT { 0.0 } else { WEIGHT_BYTES };
    let count = count as i64;
    loop {
        let numbers = Numbers { sorted, price };
        let all = [0, middle, mode(&numbers.sorted), count / 2].map(|anchor| numbers.parts(anchor, count));
        let parts = all.into_iter().min_by(|a, b| numbers.sum(a).total_cmp(&numbers.sum(b)))?;
        if parts.len() <= MAX_BINS {
            let table = Table { weight, start: parts[0].start, bins: shared(&parts) };
            let own = byte * (TABLE_BYTES + weight_bytes) + CHANCE + price * parts.len() as f64;
            let cost = cost(&table, &parts) + own;
            return Some((table, cost));
        }
        price *= 2.0;
        sorted = numbers.sorted;
    }
}

/// Returns the most frequent number.
fn mode(sorted: &[i64]) -> i64 {
    let runs = sorted.chunk_by(|a, b| a == b);
    runs.max_by_key(|run| run.len()).map_or(0, |run| run[0])
}

/// Gives each part its frequency: first the smallest one, then one after another where it saves most.
fn shared(parts: &[Part]) -> Vec<Bin> {
    let mut frequencies = vec![1u16; parts.len()];
    for _ in parts.len()..TOTAL_FREQUENCY as usize {
        let gain = |at: usize| parts[at].samples * (1.0 + 1.0 / f64::from(frequencies[at])).log2();
        let best = (0..parts.len()).max_by(|a, b| gain(*a).total_cmp(&gain(*b))).unwrap_or(0);
        frequencies[best] += 1;
    }
    parts.iter().zip(frequencies).map(|(part, frequency)| Bin { width: part.width, frequency }).collect()
}

fn cost(table: &Table, parts: &[Part]) -> f64 {
    let bits = |bin: &Bin| f64::from(FREQUENCY_BITS) - f64::from(bin.frequency).log2() + f64::from(bin.width);
    table.bins.iter().zip(parts).map(|(bin, part)| part.samples * bits(bin)).sum()
}
