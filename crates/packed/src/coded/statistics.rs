//! The statistics of a layout as bytes, which the schema carries in `x-dunnage-statistics`.
//!
//! `spec/packed.md`, "Statistics", has the form. Every byte is checked, because the tables decide how much a message may cost.

use super::leaf::Leaf;
use super::predictor::Predictor;
use super::table::{Bin, Context, FULL_WEIGHT, TOTAL_FREQUENCY, Table, Tables};

/// Returns the version of the form: the second one has the predictors of series, and readers that know the first one alone reject it.
fn version(leaves: &[Leaf]) -> u8 {
    if leaves.iter().any(|leaf| leaf.is_in_series) { 2 } else { 1 }
}

/// The bytes of the fingerprint of the layout without statistics that come after the version.
pub(crate) const OWNER: usize = 4;
/// The largest width of a bin: 2^62 values.
const MAX_WIDTH: u8 = 62;
/// The most contexts that select one table.
pub(crate) const MAX_DEPTH: u32 = 2;

/// What is known about one leaf.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct LeafStatistics {
    /// The tables for a message without a reference.
    pub prior: Option<Tables>,
    /// The tables for the change from a reference.
    pub change: Option<Tables>,
    /// The value to which predictions tend.
    pub centre: u64,
    /// How the index is predicted in a series.
    pub predictor: Predictor,
}

/// The tables of all leaves, in the order of the layout.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Statistics {
    pub leaves: Vec<LeafStatistics>,
}

impl Statistics {
    /// Returns the statistics of the layout with these leaves as bytes. `owner` is the fingerprint of the layout without statistics.
    pub fn to_bytes(&self, leaves: &[Leaf], owner: &[u8; 32]) -> Vec<u8> {
        let mut out = vec![version(leaves)];
        out.extend_from_slice(&owner[..OWNER]);
        for (statistics, leaf) in self.leaves.iter().zip(leaves) {
            write(statistics.prior.as_ref(), false, &mut out);
            write(statistics.change.as_ref(), true, &mut out);
            if statistics.is_drawn() {
                number(statistics.centre, &mut out);
            }
            if statistics.change.is_some() && leaf.has_predictor() {
                out.push(statistics.predictor as u8);
            }
        }
        out
    }

    /// Reads the statistics of the layout with these leaves and this fingerprint. The error says what is wrong.
    pub fn from_bytes(bytes: &[u8], leaves: &[Leaf], owner: &[u8; 32]) -> Result<Statistics, String> {
        let mut input = Input { bytes };
        let version = version(leaves);
        if input.byte()? != version {
            return Err(format!("statistics of a version other than {version}"));
        }
        if input.take(OWNER)? != &owner[..OWNER] {
            return Err("statistics of another schema: run `dunnage schema train` again".to_owned());
        }
        let mut all = Vec::with_capacity(leaves.len());
        for (at, leaf) in leaves.iter().enumerate() {
            all.push(input.leaf(at, leaf).map_err(|error| format!("leaf {at}: {error}"))?);
        }
        match input.bytes.len() {
            0 => Ok(Statistics { leaves: all }),
            more => Err(format!("{more} bytes after the last table")),
        }
    }
}

impl LeafStatistics {
    /// Whether a prediction depends on the centre.
    fn is_drawn(&self) -> bool {
        let mut is_drawn = false;
        if let Some(tables) = &self.change {
            tables.each(&mut |table| is_drawn |= table.weight != FULL_WEIGHT);
        }
        is_drawn
    }
}

/// Appends the tables of a leaf: a 0 without any, a 1 and the table, or the number of classes, what selects them, and their tables.
fn write(tables: Option<&Tables>, changes: bool, out: &mut Vec<u8>) {
    match tables {
        None => number(0, out),
        Some(Tables::One(table)) => {
            number(1, out);
            write_table(table, changes, out);
        }
        Some(Tables::Classes(context, classes)) => {
            number(classes.len() as u64, out);
            number(context.leaf as u64, out);
            out.push(context.change.into());
            let mut before = 0;
            for from in &context.from {
                number(from - before, out);
                before = *from;
            }
            classes.iter().for_each(|tables| write(Some(tables), changes, out));
        }
    }
}

fn write_table(table: &Table, changes: bool, out: &mut Vec<u8>) {
    if changes {
        out.push(table.weight);
    }
    number((table.start << 1 ^ table.start >> 63) as u64, out);
    number(table.bins.len() as u64, out);
    for bin in &table.bins {
        // A frequency of 256, of an only bin, is written as 0.
        out.extend([bin.width, bin.frequency as u8]);
    }
}

/// Appends a number, seven bits a byte from the lowest; the highest bit says that more follow.
fn number(mut n: u64, out: &mut Vec<u8>) {
    while n > 0x7f {
        out.push(n as u8 | 0x80);
        n >>= 7;
    }
    out.push(n as u8);
}

struct Input<'a> {
    bytes: &'a [u8],
}

impl<'a> Input<'a> {
    fn take(&mut self, count: usize) -> Result<&'a [u8], String> {
        let (taken, rest) = self.bytes.split_at_checked(count).ok_or("the statistics end too early")?;
        self.bytes = rest;
        Ok(taken)
    }

    fn byte(&mut self) -> Result<u8, String> {
        self.take(1).map(|one| one[0])
    }

    fn number(&mut self) -> Result<u64, String> {
        let mut n = 0u64;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            let bits = u64::from(byte & 0x7f);
            if bits << shift >> shift != bits || byte == 0 && shift > 0 {
                break;
            }
            n |= bits << shift;
            if byte < 0x80 {
                return Ok(n);
            }
        }
        Err("a number that is too large, or longer than it needs to be".to_owned())
    }

    fn leaf(&mut self, at: usize, leaf: &Leaf) -> Result<LeafStatistics, String> {
        let (prior, change) = (self.tables(at, leaf, false, 0)?, self.tables(at, leaf, true, 0)?);
        let mut leaf_statistics = LeafStatistics { prior, change, ..LeafStatistics::default() };
        if leaf_statistics.is_drawn() {
            leaf_statistics.centre = self.number()?;
            if leaf_statistics.centre >= leaf.count || leaf.key.opaque || leaf.every.is_some() {
                return Err("a centre that is not one of the values".to_owned());
            }
        }
        if leaf_statistics.change.is_some() && leaf.has_predictor() {
            leaf_statistics.predictor = match self.byte()? {
                0 => Predictor::Previous,
                1 => Predictor::Linear,
                other => return Err(format!("no predictor has the number {other}")),
            };
        }
        Ok(leaf_statistics)
    }

    fn tables(
        &mut self,
        at: usize,
        leaf: &Leaf,
        changes: bool,
        depth: u32,
    ) -> Result<Option<Tables>, String> {
        let count = self.number()?;
        match count {
            0 => return Ok(None),
            1 => return self.table(leaf, changes).map(|table| Some(Tables::One(table))),
            // A table takes at least four bytes.
            _ if count > self.bytes.len() as u64 => return Err("the statistics end too early".to_owned()),
            _ if depth == MAX_DEPTH => return Err(format!("classes within more than {MAX_DEPTH} classes")),
            _ => {}
        }
        let context = self.context(at, count)?;
        let mut classes = Vec::new();
        for _ in 0..count {
            classes.push(self.tables(at, leaf, changes, depth + 1)?.ok_or("a class without a table")?);
        }
        Ok(Some(Tables::Classes(context, classes)))
    }

    fn context(&mut self, at: usize, tables: u64) -> Result<Context, String> {
        let leaf = usize::try_from(self.number()?).ok().filter(|leaf| *leaf < at);
        let leaf = leaf.ok_or("a table that depends on a part which is not before it")?;
        let change = match self.byte()? {
            0 => false,
            1 => true,
            _ => return Err("a context that is neither a value nor a change".to_owned()),
        };
        let mut from = Vec::new();
        for _ in 1..tables {
            let before = from.last().copied().unwrap_or(0);
            let next = self.number()?.checked_add(before).filter(|next| *next > before);
            from.push(next.ok_or("contexts that do not ascend")?);
        }
        Ok(Context { leaf, change, from })
    }

    fn table(&mut self, leaf: &Leaf, changes: bool) -> Result<Table, String> {
        let weight = if changes { self.byte()? } else { FULL_WEIGHT };
        if weight > FULL_WEIGHT {
            return Err(format!("a weight of {weight}, which is above {FULL_WEIGHT}"));
        }
        let start = self.number()?;
        let start = (start >> 1) as i64 ^ -((start & 1) as i64);
        let count = self.number()?;
        let count =
            usize::try_from(count).ok().filter(|count| (1..=TOTAL_FREQUENCY as usize).contains(count));
        let bins = self.take(2 * count.ok_or("a table without bins, or with more than 256")?)?;
        let one = |bin: &[u8]| Bin {
            width: bin[0],
            frequency: if bin[1] == 0 { TOTAL_FREQUENCY as u16 } else { bin[1].into() },
        };
        let table = Table { weight, start, bins: bins.chunks_exact(2).map(one).collect() };
        check(&table, leaf)?;
        Ok(table)
    }
}

/// Checks that the bins hold every value of the leaf, and that their frequencies add up.
fn check(table: &Table, leaf: &Leaf) -> Result<(), String> {
    if table.bins.iter().any(|bin| bin.width > MAX_WIDTH) {
        return Err(format!("a bin of more than 2^{MAX_WIDTH} values"));
    }
    let sum: u32 = table.bins.iter().map(|bin| u32::from(bin.frequency)).sum();
    if sum != TOTAL_FREQUENCY {
        return Err(format!("frequencies that add up to {sum} instead of {TOTAL_FREQUENCY}"));
    }
    let end = table.end().ok_or("bins beyond 2^63")?;
    if table.start > 0 || u64::try_from(end).map_or(true, |end| end < leaf.count) {
        return Err(format!("bins from {} to {end} for {} values", table.start, leaf.count));
    }
    Ok(())
}
