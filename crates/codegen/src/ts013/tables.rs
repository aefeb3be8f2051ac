//! Translates the statistics of a layout to the tables of the runtime's range coder.

use dunnage_packed::{Layout, Table, Tables as Likely, TrainedLeaf, TrainedLeaves};
use std::collections::BTreeSet;

/// The lowest start of a table from which JavaScript counts exactly to 2^53.
const MIN_START: i64 = -(1 << 53);

/// The statistics of a layout, with numbers for the leaves that a codec must know.
pub(super) struct Tables<'a> {
    pub trained: TrainedLeaves<'a>,
    leaves: Vec<TrainedLeaf<'a>>,
    /// The number of each leaf in the codec. A leaf that has no tables and selects none needs no number.
    numbers: Vec<Option<usize>>,
}

impl<'a> Tables<'a> {
    /// Returns the tables of `layout`, if it has statistics.
    pub fn of(layout: &'a Layout) -> Option<Tables<'a>> {
        let trained = layout.trained_leaves()?;
        let leaves = trained.list();
        let mut needed = BTreeSet::new();
        for (at, leaf) in leaves.iter().enumerate() {
            if let Some(tables) = leaf.values {
                needed.insert(at);
                add_selecting(tables, &mut needed);
            }
            if leaf.every.is_some() {
                // The leaf of the rest follows.
                needed.extend([at, at + 1]);
            }
        }
        let mut next = 0..;
        let numbers =
            (0..leaves.len()).map(|at| if needed.contains(&at) { next.next() } else { None }).collect();
        Some(Tables { trained, leaves, numbers })
    }

    /// Returns the number of a leaf in the codec.
    pub fn number(&self, leaf: Option<usize>) -> Option<usize> {
        self.numbers[leaf?]
    }

    /// Returns the amount by which the number of this leaf grows.
    pub fn every(&self, leaf: Option<usize>) -> Option<u64> {
        self.leaves[leaf?].every
    }

    /// Returns whether JavaScript computes with all tables exactly.
    pub fn are_exact(&self) -> bool {
        self.leaves.iter().filter_map(|leaf| leaf.values).all(are_exact)
    }

    /// Returns the list of what is likely of each leaf.
    pub fn literal(&self) -> String {
        let numbered = self.leaves.iter().zip(&self.numbers).filter(|(_, number)| number.is_some());
        let leaf = |(leaf, _): (&TrainedLeaf<'_>, _)| {
            format!("  {}", leaf.values.map_or("0".to_owned(), |tables| self.tables(tables)))
        };
        format!("[\n{}\n]", numbered.map(leaf).collect::<Vec<_>>().join(",\n"))
    }

    fn tables(&self, tables: &Likely) -> String {
        match tables {
            Likely::One(table) => one(table),
            // Without a reference, the change of a leaf is its value.
            Likely::Classes(context, classes) => {
                let by = self.numbers[context.leaf].unwrap_or_default();
                let from: Vec<_> = context.from.iter().map(u64::to_string).collect();
                let classes: Vec<_> = classes.iter().map(|tables| self.tables(tables)).collect();
                format!("{{by: {by}, from: [{}], of: [{}]}}", from.join(","), classes.join(","))
            }
        }
    }
}

fn one(table: &Table) -> String {
    let bins: String = table.bins.iter().map(|bin| format!(",{},{}", bin.width, bin.frequency)).collect();
    format!("[{}{bins}]", table.start)
}

/// Adds the leaves whose values select among `tables`.
fn add_selecting(tables: &Likely, needed: &mut BTreeSet<usize>) {
    if let Likely::Classes(context, classes) = tables {
        needed.insert(context.leaf);
        classes.iter().for_each(|tables| add_selecting(tables, needed));
    }
}

fn are_exact(tables: &Likely) -> bool {
    match tables {
        Likely::One(table) => table.start >= MIN_START,
        Likely::Classes(_, classes) => classes.iter().all(are_exact),
    }
}
