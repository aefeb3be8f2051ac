//! Numbers: a decision for each bit, the highest first.

use super::coder::Coder;
use super::model::{Model, NUMBER_CONTEXTS, Past, keyed, place};
use super::predictor::{hash, hashes};
use crate::Error;
use crate::wire::At;
use dunnage_pson::Kind;

/// The bits of a sized number's size.
const SIZE_BITS: u32 = 6;

/// Where a number is, and what its bits so far are.
struct Walk {
    /// A hash for each context, without the bits.
    base: [u32; NUMBER_CONTEXTS],
    /// A hash of the bits so far.
    prefix: u32,
    set: usize,
    depth: u32,
    /// The numbers that are likely, as long as the bits so far are theirs.
    likely: [Option<u64>; 2],
    hits: [u32; 2],
}

impl Model {
    /// One of 0 to `count` - 1.
    pub fn index<C: Coder>(&mut self, coder: &mut C, at: At, value: u64, count: u64) -> Result<u64, Error> {
        let bits = crate::node::index_bits(count);
        let mut walk = self.walk(at, bits);
        let value = self.tree(coder, &mut walk, value, bits, count.wrapping_sub(1))?;
        self.remember(at, value);
        Ok(value)
    }

    /// `bits` bits.
    pub fn raw<C: Coder>(&mut self, coder: &mut C, at: At, value: u64, bits: u32) -> Result<u64, Error> {
        let mut walk = self.walk(at, bits + 64);
        let value = self.tree(coder, &mut walk, value, bits, u64::MAX >> (64 - bits))?;
        self.remember(at, value);
        Ok(value)
    }

    /// A sized number.
    pub fn sized<C: Coder>(&mut self, coder: &mut C, at: At, value: u64) -> Result<u64, Error> {
        let offset = coder.offset();
        let mut walk = self.walk(at, 200);
        let likely = walk.likely;
        walk.likely = likely.map(|n| n.map(|n| u64::from(size(n))));
        let size_value = u64::from(size(value));
        let size_value = self.tree(coder, &mut walk, size_value, SIZE_BITS, 63)?;
        let bits = match size_value {
            0 => 0,
            63 => 64,
            s => s as u32 - 1,
        };
        let high = if (1..63).contains(&size_value) { 1u64 << bits } else { 0 };
        for (i, n) in likely.iter().enumerate() {
            walk.likely[i] = n.filter(|&n| u64::from(size(n)) == size_value).map(|n| n & !high);
        }
        walk.prefix = hash(1, size_value as u32);
        let value =
            high | if bits == 0 { 0 } else { self.tree(coder, &mut walk, value & !high, bits, u64::MAX)? };
        if size_value == 63 && value < 1 << 62 {
            return Err(Error::new(Kind::Malformed, offset, "a number of 63 bits or more is smaller"));
        }
        self.remember(at, value);
        Ok(value)
    }

    /// The `bits` lowest bits of `value`, which is at most `last`: what that rules out takes no decision.
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
            let set = walk.set * 4 + (walk.depth.min(3) as usize);
            let bit = self.decide_number(coder, &contexts, set, value >> shift & 1 != 0)?;
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
        let (place, under) = (place(at), keyed(at, self.last_key));
        let past = self.past.get(&under).or(self.past.get(&place)).copied().unwrap_or_default();
        let v = past.values.map(|v| hash(v as u32, (v >> 32) as u32));
        let part = at.part as u32;
        let likely = match past.count {
            0 => [None, None],
            1 => [Some(past.values[0]), None],
            _ => [Some(past.values[0]), Some(past.values[0].wrapping_mul(2).wrapping_sub(past.values[1]))],
        };
        let base = [
            hashes(&[0, part, kind]),
            hashes(&[1, place]),
            hashes(&[2, under]),
            hashes(&[3, under, v[0], past.count.min(1)]),
            hashes(&[4, under, v[0], v[1], past.count.min(2)]),
            hashes(&[5, place, self.last_number]),
            hashes(&[6, place, self.last_text]),
            hashes(&[7, part]),
            hashes(&[8, part]),
            hashes(&[9, place]),
        ];
        Walk { base, prefix: 1, set: at.part as usize, depth: 0, likely, hits: past.hits }
    }

    fn remember(&mut self, at: At, value: u64) {
        let (place, under) = (place(at), keyed(at, self.last_key));
        for place in [place, under] {
            let past = self.past.entry(place).or_default();
            let next = past.values[0].wrapping_mul(2).wrapping_sub(past.values[1]);
            past.hits[0] = if past.count > 0 && value == past.values[0] { past.hits[0] + 1 } else { 0 };
            past.hits[1] = if past.count > 1 && value == next { past.hits[1] + 1 } else { 0 };
            *past = Past { values: [value, past.values[0]], count: past.count + 1, hits: past.hits };
        }
        self.last_number = hashes(&[place, value as u32, (value >> 32) as u32]);
    }
}

impl Walk {
    fn contexts(&self, shift: u32) -> [u32; NUMBER_CONTEXTS] {
        let mut contexts = self.base;
        for (i, context) in contexts.iter_mut().enumerate() {
            let detail = match i {
                7 | 8 => {
                    let expected = self.likely[i - 7].map_or(2, |n| (n >> shift & 1) as u32);
                    hashes(&[
                        expected,
                        self.hits[i - 7].min(3),
                        if expected == 2 { 0 } else { self.depth.min(15) },
                    ])
                }
                9 => hash(shift, self.depth),
                _ => self.prefix,
            };
            *context = hash(*context, detail);
        }
        contexts
    }
}

/// The size of a sized number: its significant bits, or 63 for 63 and 64 of them.
fn size(value: u64) -> u32 {
    (u64::BITS - value.leading_zeros()).min(63)
}
