//! Mutations of a codec's frames, which show what the codec can return. The same seed gives the same frames.

use fastrand::Rng;
use std::collections::{HashSet, VecDeque};

/// A frame to mutate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Frame {
    pub bytes: Vec<u8>,
    pub port: Option<u8>,
    /// The time of the message, in microseconds since 1970.
    pub received_at: i64,
}

/// The bytes at the ends of what a byte, signed or not, can be.
const ENDS: [u8; 5] = [0, 1, 0x7f, 0x80, 0xff];
/// The lengths of the fields whose ends are tried.
const FIELDS: [usize; 5] = [1, 2, 3, 4, 8];
/// Bytes above this are rarely states.
const STATES: u8 = 16;
/// The number of repeated mutations after which the search ends: hardly any others are left.
const TRIES: usize = 1000;

/// The kinds of mutations, and how many of 20 frames each has, as long as it has any.
const SHARES: [(Kind, usize); 6] =
    [(Kind::Ends, 7), (Kind::Sweep, 5), (Kind::Flip, 3), (Kind::Pair, 2), (Kind::Random, 2), (Kind::Cut, 1)];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// A field of 1 to 8 bytes at the ends of its range, in both byte orders.
    Ends,
    /// A byte with each of its values, the small ones first.
    Sweep,
    /// One bit flipped.
    Flip,
    /// Two neighbouring bytes as a number of 16 bits, in both byte orders.
    Pair,
    /// One to four random bytes.
    Random,
    /// The frame without its end.
    Cut,
}

/// A change of the bytes from a place on.
struct Change {
    frame: usize,
    at: usize,
    bytes: Vec<u8>,
}

/// Returns up to `count` different mutations of `frames`, without these themselves. Mutations that are tried one after another begin with the
/// frames `first`, one of each form.
pub fn mutations(frames: &[Frame], first: &[usize], count: usize, seed: u64) -> Vec<Frame> {
    let mut rng = Rng::with_seed(seed);
    let mut seen: HashSet<(Vec<u8>, Option<u8>)> =
        frames.iter().map(|frame| (frame.bytes.clone(), frame.port)).collect();
    let mut listed: Vec<VecDeque<Change>> =
        SHARES.iter().map(|(kind, _)| listed(*kind, frames, first, &mut rng)).collect();
    let mut mutated = Vec::new();
    let mut repeated = 0;
    while mutated.len() < count && repeated < TRIES && frames.iter().any(|frame| !frame.bytes.is_empty()) {
        for ((kind, share), listed) in SHARES.iter().zip(&mut listed) {
            for _ in 0..*share {
                let Some(frame) = next(*kind, listed, frames, &mut rng) else { break };
                let is_new = seen.insert((frame.bytes.clone(), frame.port));
                repeated = if is_new { 0 } else { repeated + 1 };
                mutated.extend(is_new.then_some(frame));
            }
        }
    }
    mutated.truncate(count);
    mutated
}

/// Returns the next mutation of a kind: the next one of its list, or a random one; `None` if the kind has no others.
fn next(kind: Kind, listed: &mut VecDeque<Change>, frames: &[Frame], rng: &mut Rng) -> Option<Frame> {
    let change = match kind {
        Kind::Pair | Kind::Random => random(kind, frames, rng)?,
        _ => listed.pop_front()?,
    };
    let mut frame = frames[change.frame].clone();
    match kind {
        Kind::Cut => frame.bytes.truncate(change.at),
        _ => frame.bytes[change.at..change.at + change.bytes.len()].copy_from_slice(&change.bytes),
    }
    Some(frame)
}

/// Returns all mutations of a kind, in random order, but those that show most first.
fn listed(kind: Kind, frames: &[Frame], first: &[usize], rng: &mut Rng) -> VecDeque<Change> {
    let mut ranked: Vec<(u8, Change)> = Vec::new();
    for (frame, Frame { bytes, .. }) in frames.iter().enumerate() {
        let later = u8::from(!first.contains(&frame)) * 2;
        for at in 0..bytes.len() {
            let mut add = |rank: u8, bytes: Vec<u8>| ranked.push((later + rank, Change { frame, at, bytes }));
            match kind {
                Kind::Ends => {
                    for length in FIELDS.into_iter().filter(|length| at + length <= bytes.len()) {
                        ends(length).into_iter().for_each(|field| add(u8::from(length > 2), field));
                    }
                }
                Kind::Sweep => (0..=u8::MAX)
                    .for_each(|value| add(u8::from(value > STATES && value % STATES > 0), vec![value])),
                Kind::Flip => (0..8).for_each(|bit| add(0, vec![bytes[at] ^ 1 << bit])),
                Kind::Cut => add(0, Vec::new()),
                Kind::Pair | Kind::Random => {}
            }
        }
    }
    rng.shuffle(&mut ranked);
    ranked.sort_by_key(|(rank, _)| *rank);
    ranked.into_iter().map(|(_, change)| change).collect()
}

/// Returns the ends of the range of a field, signed or not, with either byte first.
fn ends(length: usize) -> Vec<Vec<u8>> {
    if length == 1 {
        return ENDS.map(|byte| vec![byte]).into();
    }
    let field = |first: u8, others: u8, last: u8| {
        let mut field = vec![others; length];
        (field[0], field[length - 1]) = (first, last);
        field
    };
    let big = [(0, 0, 0), (0xff, 0xff, 0xff), (0x7f, 0xff, 0xff), (0x80, 0, 0), (0, 0, 1)];
    let fields = big.map(|(first, others, last)| field(first, others, last));
    let little = fields.iter().map(|field| field.iter().rev().copied().collect());
    little.chain(fields.clone()).collect()
}

/// Returns a random mutation; `None` if no frame has enough bytes, which is likely after a few tries.
fn random(kind: Kind, frames: &[Frame], rng: &mut Rng) -> Option<Change> {
    let length = if kind == Kind::Pair { 2 } else { rng.usize(1..=4) };
    let long: Vec<usize> = (0..frames.len()).filter(|at| frames[*at].bytes.len() >= length).collect();
    let frame = rng.choice(long)?;
    let at = rng.usize(..=frames[frame].bytes.len() - length);
    Some(Change { frame, at, bytes: (0..length).map(|_| rng.u8(..)).collect() })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(bytes: &[u8], port: u8) -> Frame {
        Frame { bytes: bytes.to_vec(), port: Some(port), received_at: 0 }
    }

    #[test]
    fn a_seed_decides_the_frames_and_each_is_another() {
        let frames = [frame(&[1, 2, 3, 4, 5], 1), frame(&[9, 8], 2)];
        let of = |seed| mutations(&frames, &[0, 1], 2000, seed);
        let mutated = of(1);
        assert_eq!((mutated.len(), &mutated), (2000, &of(1)));
        assert_ne!(mutated, of(2));
        let different: HashSet<_> = mutated.iter().map(|frame| (frame.bytes.clone(), frame.port)).collect();
        assert_eq!(different.len(), mutated.len());
        assert!(mutated.iter().all(|frame| !frames.contains(frame)));
        for port in [1, 2] {
            assert!(mutated.iter().filter(|frame| frame.port == Some(port)).count() > 500, "{port}");
        }
    }

    #[test]
    fn fields_reach_their_ends_and_bytes_all_values() {
        let base = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10];
        let mutated = mutations(&[frame(&base, 1)], &[0], 3000, 0);
        let has = |bytes: &[u8]| mutated.iter().any(|frame| frame.bytes == bytes);
        for at in 0..9 {
            for pair in [[0, 0], [0xff, 0xff], [0x7f, 0xff], [0xff, 0x7f], [0x80, 0], [0, 0x80]] {
                let mut bytes = base;
                bytes[at..at + 2].copy_from_slice(&pair);
                assert!(has(&bytes), "{pair:x?} at {at}");
            }
            for value in (0..=16).filter(|value| *value != base[at]) {
                let mut bytes = base;
                bytes[at] = value;
                assert!(has(&bytes), "{value} at {at}");
            }
        }
        assert!((0..10).all(|length| has(&base[..length])));
    }

    #[test]
    fn short_frames_have_few_mutations_and_empty_ones_none() {
        assert_eq!(mutations(&[frame(&[7], 1)], &[0], 2000, 0).len(), 256);
        assert!(mutations(&[frame(&[], 1)], &[0], 2000, 0).is_empty());
        assert!(mutations(&[], &[], 2000, 0).is_empty());
        assert_eq!(mutations(&[frame(&[1, 2, 3], 1)], &[0], 3, 0).len(), 3);
    }
}
