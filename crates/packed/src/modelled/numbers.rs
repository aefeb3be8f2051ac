//! Codes numbers: one decision for each bit, the highest first.

use super::coder::Coder;
use super::hash::{hash, hashes};
use super::model::{Model, NUMBER_CONTEXTS, SECOND_SETS};
use crate::Error;
use crate::wire::At;
use dunnage_pson::Kind;

/// The number of bits in the size field of a sized number.
const SIZE_BITS: u32 = 6;

/// Identifies the kinds of numbers in contexts. An index is identified by its number of bits.
const RAW: u32 = 64;
const SIZED: u32 = 200;

/// The contexts that do not include all bits so far: those of the two likely numbers, and of the depth.
const LIKELY: usize = 7;
const NEXT: usize = 8;
const DEPTH: usize = 9;

/// The place of a number, and its bits so far.
struct Walk {
    /// A hash of each context, without the bits.
    bases: [u32; NUMBER_CONTEXTS],
    /// A hash of the bits so far.
    prefix: u32,
    set: usize,
    depth: u32,
    /// The likely numbers that agree with the bits so far.
    likely: [Option<u64>; 2],
    hits: [u32; 2],
}

impl Model {
    /// Codes a number from 0 to `count` - 1.
    pub fn index<C: Coder>(&mut self, coder: &mut C, at: At, value: u64, count: u64) -> Result<u64, Error> {
        let bits = crate::size::index_bits(count);
        let mut walk = self.walk(at, bits);
        let value = self.tree(coder, &mut walk, value, bits, count.wrapping_sub(1))?;
        self.remember(at, value);
        Ok(value)
    }

    /// Codes a number of `bits` bits.
    pub fn raw<C: Coder>(&mut self, coder: &mut C, at: At, value: u64, bits: u32) -> Result<u64, Error> {
        let mut walk = self.walk(at, RAW + bits);
        let value = self.tree(coder, &mut walk, value, bits, u64::MAX >> (64 - bits))?;
        self.remember(at, value);
        Ok(value)
    }

    /// Codes a sized number: first its size, then the bits below the highest one.
    pub fn sized<C: Coder>(&mut self, coder: &mut C, at: At, value: u64) -> Result<u64, Error> {
        let offset = coder.offset();
        let mut walk = self.walk(at, SIZED);
        let likely = walk.likely;
        walk.likely = likely.map(|n| n.map(size));
        let size_read = self.tree(coder, &mut walk, size(value), SIZE_BITS, 63)?;
        let (bits, high) = match size_read {
            0 => (0, 0),
            63 => (64, 0),
            size => (size as u32 - 1, 1 << (size - 1)),
        };
        walk.likely = likely.map(|n| n.filter(|&n| size(n) == size_read).map(|n| n & !high));
        walk.prefix = hash(1, size_read as u32);
        let value = high | self.tree(coder, &mut walk, value & !high, bits, u64::MAX)?;
        if size_read == 63 && value < 1 << 62 {
            return Err(Error::new(Kind::Malformed, offset, "a sized number of 63 bits that has fewer"));
        }
        self.remember(at, value);
        Ok(value)
    }

    /// Codes the lowest `bits` bits of `value`, which is at most `last`. A bit that must be 0 for that takes no decision.
    fn tree<C: Coder>(
        &mut self,
        coder: &mut C,
        walk: &mut Walk,
        value: u64,
        bits: u32,
        last: u64,
    ) -> Result<u64, Error> {
        let mut read = 0;
        for shift in (0..bits).rev() {
            if read | 1 << shift > last {
                continue;
            }
            let contexts = walk.contexts(shift);
            let sets = [walk.set + walk.depth.min(3) as usize, SECOND_SETS + shift as usize];
            let bit = value >> shift & 1 != 0;
            let bit = self.decisions.code(&mut self.number_mixer, coder, &contexts, sets, bit)?;
            read |= u64::from(bit) << shift;
            walk.prefix = hash(walk.prefix, 2 + u32::from(bit));
            walk.depth += 1;
            for likely in &mut walk.likely {
                *likely = likely.filter(|n| n >> shift == read >> shift);
            }
        }
        Ok(read)
    }

    fn walk(&self, at: At, kind: u32) -> Walk {
        let (place, under) = (at.place(), at.under(self.last_key));
        let past = self.past.get(&under).or(self.past.get(&place)).copied().unwrap_or_default();
        let [last, before] = past.values.map(|value| hash(value as u32, (value >> 32) as u32));
        let part = at.part as u32;
        let bases = [
            hashes(&[0, part, kind]),
            hashes(&[1, place]),
            hashes(&[2, under]),
            hashes(&[3, under, last, past.count.min(1)]),
            hashes(&[4, under, last, before, past.count.min(2)]),
            hashes(&[5, place, self.last_number]),
            hashes(&[6, place, self.last_text]),
            hashes(&[7, part]),
            hashes(&[8, part]),
            hashes(&[9, place]),
        ];
        let likely = [(past.count > 0).then_some(past.values[0]), (past.count > 1).then_some(past.next())];
        Walk { bases, prefix: 1, set: 4 * at.part as usize, depth: 0, likely, hits: past.hits }
    }

    fn remember(&mut self, at: At, value: u64) {
        let place = at.place();
        for place in [place, at.under(self.last_key)] {
            self.past.entry(place).or_default().learn(value);
        }
        self.last_number = hashes(&[place, value as u32, (value >> 32) as u32]);
    }
}

impl Walk {
    fn contexts(&self, shift: u32) -> [u32; NUMBER_CONTEXTS] {
        let likely = |i: usize| match self.likely[i] {
            Some(value) => hashes(&[(value >> shift & 1) as u32, self.hits[i].min(3), self.depth.min(15)]),
            None => hashes(&[2, self.hits[i].min(3), 0]),
        };
        let bits = |i| match i {
            LIKELY => likely(0),
            NEXT => likely(1),
            DEPTH => hash(shift, self.depth),
            _ => self.prefix,
        };
        std::array::from_fn(|i| hash(self.bases[i], bits(i)))
    }
}

/// Returns the size of a sized number: the number of its significant bits, but 63 for both 63 and 64.
fn size(value: u64) -> u64 {
    u64::from(u64::BITS - value.leading_zeros()).min(63)
}
