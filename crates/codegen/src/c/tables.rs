//! The tables of the leaves, as bytes for `support/dunnage_modes.h`.

use super::plan::Fault;
use dunnage_packed::{Bin, Context, Table, Tables as Likely, TrainedLeaf};

/// The flags of a leaf, as in `support/dunnage_modes.h`.
const VALUES: u8 = 0x80;
const CHANGES: u8 = 0x40;
const SELECTS: u8 = 0x20;
/// The flag of a class that is selected by a change.
const BY_CHANGE: u8 = 0x80;
/// The weight of a reference that is taken as it is.
const FULL_WEIGHT: u8 = 16;
/// The most classes that a program keeps, and the most limits of one of them.
const MAX_CLASSES: usize = 127;
const MAX_LIMITS: usize = 255;

/// The tables of a layout.
pub(super) struct Tables {
    leaves: Vec<Emitted>,
    is_wide: bool,
    has_weights: bool,
    classes: usize,
}

/// What the code has of a leaf.
#[derive(Debug, Clone, Default)]
pub(super) struct Emitted {
    /// Which tables it has, and whether it selects others.
    pub flags: u8,
    /// Its tables, and what it selects.
    pub bytes: Vec<u8>,
    /// How many of the bytes are tables of changes.
    pub delta_bytes: usize,
    /// The fewest bits of a value with the tables of values, if there are any.
    pub least: Option<f64>,
}

impl Tables {
    /// Translates the tables of all leaves.
    pub fn of(leaves: &[TrainedLeaf<'_>]) -> Result<Tables, Vec<Fault>> {
        let mut contexts: Vec<&Context> = Vec::new();
        for tables in leaves.iter().flat_map(|leaf| leaf.values.into_iter().chain(leaf.changes)) {
            collect(tables, &mut contexts);
        }
        let is_long = contexts.iter().any(|context| context.from.len() > MAX_LIMITS);
        if contexts.len() > MAX_CLASSES || is_long {
            return Err(vec![Fault {
                field: "$".to_owned(),
                fault: "has statistics with more classes than a small program keeps".to_owned(),
                remedy: "train with fewer messages",
            }]);
        }
        // The change of a direct leaf is its value: that of an opaque part, and of a number that grows.
        let is_direct = |at: usize| {
            leaves[at].every.is_some() || at > 0 && leaves[at - 1].every.is_some() || leaves[at].is_opaque
        };
        let is_wide = leaves.iter().enumerate().any(|(at, leaf)| is_wide(leaf, &contexts, at));
        let has_weights = leaves.iter().enumerate().any(|(at, leaf)| {
            let mut has = false;
            leaf.changes.into_iter().for_each(|tables| {
                each(tables, &mut |table| has |= table.weight != FULL_WEIGHT);
            });
            has && !is_direct(at)
        });
        let emitter = Emitter { contexts: &contexts, has_weights };
        let all = leaves.iter().enumerate();
        let leaves = all.map(|(at, leaf)| emitter.leaf(at, leaf, is_direct(at))).collect();
        Ok(Tables { leaves, is_wide, has_weights, classes: contexts.len() })
    }

    pub fn emitted(&self, leaf: usize) -> Emitted {
        self.leaves[leaf].clone()
    }

    /// Returns whether numbers of tables have more than 32 bits.
    pub fn is_wide(&self) -> bool {
        self.is_wide
    }

    pub fn has_weights(&self) -> bool {
        self.has_weights
    }

    /// Returns how many classes select tables.
    pub fn classes(&self) -> usize {
        self.classes
    }
}

struct Emitter<'a> {
    contexts: &'a [&'a Context],
    has_weights: bool,
}

impl Emitter<'_> {
    fn leaf(&self, at: usize, leaf: &TrainedLeaf<'_>, is_direct: bool) -> Emitted {
        let mut out = Emitted::default();
        if let Some(values) = leaf.values {
            out.flags |= VALUES;
            push_sized(&mut out.bytes, &self.tables(values, leaf, None));
            out.least = Some(least(values));
        }
        if let Some(changes) = leaf.changes {
            out.flags |= CHANGES;
            let before = out.bytes.len();
            let centre = Some(leaf.centre).filter(|_| self.has_weights && !is_direct);
            push_sized(&mut out.bytes, &self.tables(changes, leaf, centre));
            out.delta_bytes = out.bytes.len() - before;
        }
        let selected = self.contexts.iter().enumerate().filter(|(_, context)| context.leaf == at);
        let selected: Vec<_> = selected.collect();
        if !selected.is_empty() {
            out.flags |= SELECTS;
            out.bytes.push(selected.len() as u8);
        }
        for (class, context) in selected {
            out.bytes.push(if context.change { BY_CHANGE } else { 0 } | (class as u8 + 1));
            let reachable: Vec<u64> =
                context.from.iter().copied().filter(|from| *from < leaf.count).collect();
            out.bytes.push(reachable.len() as u8);
            let mut before = 0;
            for from in reachable {
                push_constant(&mut out.bytes, from - before);
                before = from;
            }
        }
        out
    }

    /// Returns tables as bytes: for a context its class and its tables with their sizes, otherwise 0 and a table. `centre` is present in
    /// tables of changes that have weights.
    fn tables(&self, tables: &Likely, leaf: &TrainedLeaf<'_>, centre: Option<u64>) -> Vec<u8> {
        let mut out = Vec::new();
        match tables {
            Likely::One(table) => {
                if !self.contexts.is_empty() {
                    out.push(0);
                }
                self.table(table, leaf, centre, &mut out);
            }
            Likely::Classes(context, classes) => {
                let class = self.contexts.iter().position(|known| *known == context);
                out.push(class.unwrap_or_default() as u8 + 1);
                for tables in classes {
                    push_sized(&mut out, &self.tables(tables, leaf, centre));
                }
            }
        }
        out
    }

    fn table(&self, table: &Table, leaf: &TrainedLeaf<'_>, centre: Option<u64>, out: &mut Vec<u8>) {
        if let Some(centre) = centre {
            out.push(table.weight);
            if table.weight != FULL_WEIGHT {
                push_constant(out, centre);
            }
        }
        push_constant(out, table.start.unsigned_abs());
        let bins = reachable(table, leaf.count);
        out.push((bins.len() - 1) as u8);
        let mut before = 0;
        for bin in bins {
            push_bin(out, *bin, before);
            before = bin.width;
        }
    }
}

/// Appends a bin after one of the width `before`: a byte, if its share is small and its width about the same.
fn push_bin(out: &mut Vec<u8>, bin: Bin, before: u8) {
    let grown = i16::from(bin.width) - i16::from(before) + 3;
    match (grown, bin.share) {
        (0..=6, 1..=31) => out.push((grown as u8) << 5 | bin.share as u8),
        _ => {
            out.push(0xe0 | bin.width.min(31));
            out.extend(Some(bin.width).filter(|width| *width >= 31));
            // A share of 256 is written as 0.
            out.push(bin.share as u8);
        }
    }
}

/// Returns the bins up to the one with the last number of the leaf. A writer needs no others.
fn reachable(table: &Table, count: u64) -> &[Bin] {
    let mut end = i128::from(table.start);
    let last = table.bins.iter().position(|bin| {
        end += 1i128 << bin.width;
        end >= i128::from(count)
    });
    &table.bins[..=last.unwrap_or(table.bins.len() - 1)]
}

/// Returns whether 32 bits do not hold the numbers of a leaf, or their distances from the start of a table.
fn is_wide(leaf: &TrainedLeaf<'_>, contexts: &[&Context], at: usize) -> bool {
    let is_used = leaf.values.is_some()
        || leaf.changes.is_some()
        || leaf.every.is_some()
        || contexts.iter().any(|context| context.leaf == at);
    let mut is_wide =
        is_used && leaf.count > u64::from(u32::MAX) || leaf.every.is_some_and(|every| every >= 1 << 31);
    for tables in leaf.values.into_iter().chain(leaf.changes) {
        each(tables, &mut |table| {
            let (bins, distance) =
                (reachable(table, leaf.count), leaf.count - 1 + table.start.unsigned_abs());
            let inner = &bins[..bins.len() - 1];
            is_wide |= distance > u32::MAX.into()
                || bins[inner.len()].width > 32
                || inner.iter().any(|bin| bin.width > 31);
        });
    }
    is_wide
}

/// Returns the fewest bits of a value.
fn least(tables: &Likely) -> f64 {
    let mut least = f64::INFINITY;
    let bits = |bin: &Bin| 8.0 - f64::from(bin.share).log2() + f64::from(bin.width);
    each(tables, &mut |table| least = table.bins.iter().map(bits).fold(least, f64::min));
    least
}

/// Calls `visit` with each table.
fn each(tables: &Likely, visit: &mut impl FnMut(&Table)) {
    match tables {
        Likely::One(table) => visit(table),
        Likely::Classes(_, classes) => classes.iter().for_each(|tables| each(tables, visit)),
    }
}

/// Adds the contexts of `tables` that are not yet among `contexts`.
fn collect<'a>(tables: &'a Likely, contexts: &mut Vec<&'a Context>) {
    if let Likely::Classes(context, classes) = tables {
        if !contexts.contains(&context) {
            contexts.push(context);
        }
        classes.iter().for_each(|tables| collect(tables, contexts));
    }
}

fn push_sized(out: &mut Vec<u8>, bytes: &[u8]) {
    push_constant(out, bytes.len() as u64);
    out.extend(bytes);
}

/// Appends a number, seven bits a byte, the highest first; the highest bit says that another byte follows.
pub(super) fn push_constant(out: &mut Vec<u8>, n: u64) {
    let more = (1..10).rev().filter(|at| n >> (7 * at) > 0);
    out.extend(more.map(|at| 0x80 | (n >> (7 * at)) as u8));
    out.push((n & 0x7f) as u8);
}
