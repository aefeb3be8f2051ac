//! The tables of the leaves, as bytes for `support/dunnage_modes.h`.

use super::plan::Fault;
use dunnage_packed::{Bin, Context, Table, Tables as Likely, TrainedLeaf};
use std::collections::HashMap;

/// The flags of a leaf, as in `support/dunnage_modes.h`.
const VALUES: u8 = 0x80;
const CHANGES: u8 = 0x40;
const SELECTS: u8 = 0x20;
const NUMBER_SELECTS: u8 = 0x10;
/// The first byte of what selects among tables.
const CLASSES: u8 = 0x80;
/// The weight of a reference that is taken as it is.
const FULL_WEIGHT: u8 = 16;
/// The most selectors that a program keeps, and the most bytes of tables.
const MAX_SELECTORS: usize = 255;
const MAX_BYTES: usize = 1 << 16;

/// The tables of a layout.
pub(super) struct Tables {
    leaves: Vec<Emitted>,
    is_wide: bool,
    has_weights: bool,
    selectors: Vec<Selector>,
    /// All tables, of which leaves have the places.
    pub bytes: Vec<u8>,
    /// How many of the bytes only tables of changes need.
    pub delta_bytes: usize,
}

/// The data of a leaf in the code.
#[derive(Debug, Clone, Default)]
pub(super) struct Emitted {
    /// Which tables it has, and whether it selects others.
    pub flags: u8,
    /// The places of its tables, and of what it selects.
    pub bytes: Vec<u8>,
    /// The fewest bits of a value with the tables of values, if there are any.
    pub least: Option<f64>,
}

impl Tables {
    /// Translates the tables of all leaves.
    pub fn of(leaves: &[TrainedLeaf<'_>]) -> Result<Tables, Vec<Fault>> {
        let mut selectors = Vec::new();
        for tables in leaves.iter().flat_map(|leaf| leaf.values.into_iter().chain(leaf.changes)) {
            collect(tables, &mut selectors);
        }
        // The change of a direct leaf is its value: that of an opaque part, and of a number that grows.
        let is_direct = |at: usize| {
            leaves[at].every.is_some() || at > 0 && leaves[at - 1].every.is_some() || leaves[at].is_opaque
        };
        let is_wide = leaves.iter().enumerate().any(|(at, leaf)| is_wide(leaf, &selectors, at));
        let has_weights = leaves.iter().enumerate().any(|(at, leaf)| {
            let mut has = false;
            leaf.changes.into_iter().for_each(|tables| {
                each(tables, &mut |table| has |= table.weight != FULL_WEIGHT);
            });
            has && !is_direct(at)
        });
        let mut emitter =
            Emitter { leaves, selectors: &selectors, bytes: Vec::new(), places: HashMap::new() };
        let values: Vec<_> =
            leaves.iter().map(|leaf| leaf.values.map(|tables| emitter.tables(tables, leaf, None))).collect();
        let before = emitter.bytes.len();
        let changes = leaves.iter().enumerate().map(|(at, leaf)| {
            let centre = Some(leaf.centre).filter(|_| has_weights && !is_direct(at));
            leaf.changes.map(|tables| emitter.tables(tables, leaf, centre))
        });
        let changes: Vec<_> = changes.collect();
        let bytes = emitter.bytes;
        if selectors.len() > MAX_SELECTORS || bytes.len() > MAX_BYTES {
            return Err(vec![Fault {
                field: "$".to_owned(),
                fault: "has statistics with more tables than a small program keeps".to_owned(),
                remedy: "train with fewer messages",
            }]);
        }
        let all = leaves.iter().zip(values).zip(changes).enumerate();
        let emitted =
            all.map(|(at, ((leaf, values), changes))| emitted(at, leaf, (values, changes), &selectors));
        let leaves = emitted.collect();
        Ok(Tables { leaves, is_wide, has_weights, selectors, delta_bytes: bytes.len() - before, bytes })
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

    /// Returns how many values of leaves select tables.
    pub fn selectors(&self) -> usize {
        self.selectors.len()
    }

    /// Returns whether the number of a leaf, as it was coded, selects tables.
    pub fn has_number_selectors(&self) -> bool {
        self.selectors.iter().any(|(_, change)| *change)
    }

    /// Returns whether what selects tables has more than 8 bits.
    pub fn has_wide_selectors(&self, leaves: &[TrainedLeaf<'_>]) -> bool {
        self.selectors.iter().any(|(leaf, _)| leaves[*leaf].count > 1 << 8)
    }
}

/// Selects tables: the value of a leaf, or its number as it was coded.
type Selector = (usize, bool);

/// Returns what a leaf has, whose tables of values and of changes are at these places.
fn emitted(
    at: usize,
    leaf: &TrainedLeaf<'_>,
    (values, changes): (Option<usize>, Option<usize>),
    selectors: &[Selector],
) -> Emitted {
    let mut out = Emitted { least: leaf.values.map(least), ..Emitted::default() };
    for (flag, place) in [(VALUES, values), (CHANGES, changes)] {
        if let Some(place) = place {
            out.flags |= flag;
            push_constant(&mut out.bytes, place as u64);
        }
    }
    for (flag, change) in [(SELECTS, false), (NUMBER_SELECTS, true)] {
        if let Some(slot) = selectors.iter().position(|selector| *selector == (at, change)) {
            out.flags |= flag;
            out.bytes.push(slot as u8);
        }
    }
    out
}

struct Emitter<'a> {
    leaves: &'a [TrainedLeaf<'a>],
    selectors: &'a [Selector],
    bytes: Vec<u8>,
    /// Where tables are, so that equal ones are there only once.
    places: HashMap<Vec<u8>, usize>,
}

impl Emitter<'_> {
    /// Emits tables, and returns their place. `centre` is present in tables of changes that have weights.
    fn tables(&mut self, tables: &Likely, leaf: &TrainedLeaf<'_>, centre: Option<u64>) -> usize {
        let bytes = match tables {
            Likely::One(table) => table_bytes(table, leaf, centre),
            Likely::Classes(context, classes) => {
                let places: Vec<_> = classes.iter().map(|tables| self.tables(tables, leaf, centre)).collect();
                self.classes(context, &places)
            }
        };
        *self.places.entry(bytes).or_insert_with_key(|bytes| {
            let place = self.bytes.len();
            self.bytes.extend(bytes);
            place
        })
    }

    /// Returns the bytes of a context: each class with its table, and how much higher the next one begins.
    fn classes(&self, context: &Context, places: &[usize]) -> Vec<u8> {
        let selector = (context.leaf, context.change);
        let slot = self.selectors.iter().position(|known| *known == selector);
        let mut out = vec![CLASSES, slot.unwrap_or_default() as u8];
        let mut classes = vec![(0, places[0])];
        let reachable = |from: u64| from < self.leaves[context.leaf].count;
        for (from, place) in context.from.iter().zip(&places[1..]).filter(|(from, _)| reachable(**from)) {
            // A class that begins where the one before it does replaces it.
            classes.retain(|(before, _)| before != from);
            classes.push((*from, *place));
        }
        let next = classes[1..].iter().map(|(from, _)| Some(*from)).chain([None]);
        for ((from, place), next) in classes.iter().zip(next) {
            push_constant(&mut out, *place as u64);
            push_constant(&mut out, next.map_or(0, |next| next - from));
        }
        out
    }
}

fn table_bytes(table: &Table, leaf: &TrainedLeaf<'_>, centre: Option<u64>) -> Vec<u8> {
    let mut out = Vec::new();
    if let Some(centre) = centre {
        out.push(table.weight);
        if table.weight != FULL_WEIGHT {
            push_constant(&mut out, centre);
        }
    }
    push_constant(&mut out, table.start.unsigned_abs());
    let (last, mut before) = (reachable(table, leaf.count).len() - 1, 0);
    for (at, bin) in table.bins.iter().enumerate() {
        // The code does not select a bin after the last number, but adds up all frequencies.
        let width = if at > last { 0 } else { bin.width };
        push_bin(&mut out, Bin { width, ..*bin }, before);
        before = width;
    }
    out
}

/// Appends a bin after one of the width `before`: a byte, if its frequency is small and its width about the same.
fn push_bin(out: &mut Vec<u8>, bin: Bin, before: u8) {
    let grown = i16::from(bin.width) - i16::from(before) + 3;
    match (grown, bin.frequency) {
        (0..=6, 1..=31) => out.push((grown as u8) << 5 | bin.frequency as u8),
        _ => {
            out.push(0xe0 | bin.width.min(31));
            out.extend(Some(bin.width).filter(|width| *width >= 31));
            // A frequency of 256 is written as 0.
            out.push(bin.frequency as u8);
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
fn is_wide(leaf: &TrainedLeaf<'_>, selectors: &[Selector], at: usize) -> bool {
    let is_used = leaf.values.is_some()
        || leaf.changes.is_some()
        || leaf.every.is_some()
        || selectors.iter().any(|(leaf, _)| *leaf == at);
    let mut is_wide =
        is_used && leaf.count > u64::from(u32::MAX) || leaf.every.is_some_and(|every| every >= 1 << 30);
    for tables in leaf.values.into_iter().chain(leaf.changes) {
        each(tables, &mut |table| {
            let (bins, distance) =
                (reachable(table, leaf.count), leaf.count - 1 + table.start.unsigned_abs());
            is_wide |= distance > u32::MAX.into() || bins.iter().any(|bin| bin.width > 32);
        });
    }
    is_wide
}

/// Returns the fewest bits of a value.
fn least(tables: &Likely) -> f64 {
    let mut least = f64::INFINITY;
    let bits = |bin: &Bin| 8.0 - f64::from(bin.frequency).log2() + f64::from(bin.width);
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

/// Adds what selects `tables` to `selectors`, where it is missing.
fn collect(tables: &Likely, selectors: &mut Vec<Selector>) {
    if let Likely::Classes(context, classes) = tables {
        let selector = (context.leaf, context.change);
        if !selectors.contains(&selector) {
            selectors.push(selector);
        }
        classes.iter().for_each(|tables| collect(tables, selectors));
    }
}

/// Appends a number, seven bits a byte, the highest first; the highest bit says that another byte follows.
pub(super) fn push_constant(out: &mut Vec<u8>, n: u64) {
    let more = (1..10).rev().filter(|at| n >> (7 * at) > 0);
    out.extend(more.map(|at| 0x80 | (n >> (7 * at)) as u8));
    out.push((n & 0x7f) as u8);
}
