//! Text of an exact pattern: first the number of characters of each segment, then the characters in groups below 2^32.

use crate::Error;
use crate::coded::pieces;
use crate::wire::{At, Part, Sink, Source};
use dunnage_pson::Kind;
use dunnage_schema::Segment;

/// The limit of a group: the product of its radices stays below this.
const GROUP: u64 = 1 << 32;
/// The maximum number of characters in a group, not counting those of classes with a single character.
const GROUP_DIGITS: usize = 31;
/// The maximum number of bytes that are reserved for text before its characters are read.
const ROOM: u32 = 64;
/// The number of segments of a pattern whose counts are on the stack.
const FEW: usize = 16;

/// Returns whether `text` matches the pattern.
pub(crate) fn matches(segments: &[Segment], text: &str) -> bool {
    runs(segments, text).is_some()
}

/// Returns the number of characters of `text` in each segment, or `None` if it does not match the pattern.
fn runs(segments: &[Segment], text: &str) -> Option<Vec<u32>> {
    let mut rest = text.chars();
    let mut runs = Vec::with_capacity(segments.len());
    for segment in segments {
        let mut ahead = rest.clone();
        let most = segment.max as usize;
        let run = ahead.by_ref().take(most).take_while(|c| digit(segment, *c).is_some()).count() as u32;
        if run < segment.min {
            return None;
        }
        for _ in 0..run {
            rest.next();
        }
        runs.push(run);
    }
    rest.next().is_none().then_some(runs)
}

/// Writes `text` by its segments.
pub(crate) fn write<S: Sink>(segments: &[Segment], node: u32, text: &str, sink: &mut S) -> Result<(), Error> {
    let runs = runs(segments, text).ok_or_else(mismatch)?;
    for (i, (segment, run)) in segments.iter().zip(&runs).enumerate() {
        if segment.min < segment.max {
            sink.nth(node, i);
            let count = u64::from(segment.max - segment.min) + 1;
            sink.index(At { node, part: Part::Count }, u64::from(run - segment.min), count)?;
        }
    }
    if S::CODED {
        write_pieces(segments, &runs, node, text, sink)
    } else {
        write_characters(segments, &runs, node, text, sink)
    }
}

/// Writes the characters of a coded body: those of each segment apart, so that each has statistics.
fn write_pieces<S: Sink>(
    segments: &[Segment],
    runs: &[u32],
    node: u32,
    text: &str,
    sink: &mut S,
) -> Result<(), Error> {
    let characters: Vec<char> = text.chars().collect();
    for (nth, piece) in pieces(segments).enumerate() {
        let segment = &segments[piece.segment];
        let start = runs[..piece.segment].iter().sum::<u32>() + piece.after.min(runs[piece.segment]);
        let length = piece.length(runs[piece.segment]);
        let chars = &characters[start as usize..][..length as usize];
        let value =
            chars.iter().fold(0, |value, c| value * piece.radix + digit(segment, *c).unwrap_or_default());
        sink.nth(node, nth);
        sink.index(At { node, part: Part::Value }, value, piece.radix.pow(length))?;
    }
    Ok(())
}

/// Reads the characters of a coded body.
fn read_pieces<S: Source>(
    segments: &[Segment],
    runs: &[u32],
    node: u32,
    source: &mut S,
) -> Result<String, Error> {
    // A class with a single character has no piece.
    let only = segments.iter().zip(runs).flat_map(|(segment, run)| (0..*run).map(|_| segment.chars[0]));
    let mut text: Vec<char> = only.collect();
    let (mut at, mut start) = (0, 0);
    for (nth, piece) in pieces(segments).enumerate() {
        while at < piece.segment {
            start += runs[at];
            at += 1;
        }
        let length = piece.length(runs[at]);
        source.nth(node, nth);
        let mut value = source.index(At { node, part: Part::Value }, piece.radix.pow(length))?;
        let start = (start + piece.after.min(runs[at])) as usize;
        for place in text[start..start + length as usize].iter_mut().rev() {
            *place = segments[at].chars[(value % piece.radix) as usize];
            value /= piece.radix;
        }
    }
    Ok(text.into_iter().collect())
}

fn write_characters<S: Sink>(
    segments: &[Segment],
    runs: &[u32],
    node: u32,
    text: &str,
    sink: &mut S,
) -> Result<(), Error> {
    let at = At { node, part: Part::Value };
    let mut chars = text.chars();
    let (mut value, mut product) = (0, 1);
    for (segment, run) in segments.iter().zip(runs) {
        let radix = segment.chars.len() as u64;
        for c in chars.by_ref().take(*run as usize) {
            if product * radix >= GROUP {
                sink.index(at, value, product)?;
                (value, product) = (0, 1);
            }
            value = value * radix + digit(segment, c).unwrap_or_default();
            product *= radix;
        }
    }
    if product > 1 { sink.index(at, value, product) } else { Ok(()) }
}

/// Reads the text of the segments, in the memory of `text`, which is empty.
pub(crate) fn read<S: Source>(
    segments: &[Segment],
    node: u32,
    source: &mut S,
    text: String,
) -> Result<String, Error> {
    if S::CODED {
        return source.read_other(
            |source| read_parts(segments, node, source, text),
            |text, plain| write(segments, node, text, plain),
        );
    }
    read_parts(segments, node, source, text)
}

fn read_parts<S: Source>(
    segments: &[Segment],
    node: u32,
    source: &mut S,
    mut text: String,
) -> Result<String, Error> {
    // Most patterns have few segments, whose counts need no memory of their own.
    let (mut few, mut many) = ([0; FEW], Vec::new());
    let runs = match few.get_mut(..segments.len()) {
        Some(runs) => runs,
        None => {
            many.resize(segments.len(), 0);
            &mut many[..]
        }
    };
    for (i, segment) in segments.iter().enumerate() {
        let mut run = segment.min;
        if segment.min < segment.max {
            source.nth(node, i);
            let count = u64::from(segment.max - segment.min) + 1;
            run += source.index(At { node, part: Part::Count }, count)? as u32;
        }
        runs[i] = run;
    }
    if S::CODED {
        return read_pieces(segments, runs, node, source);
    }
    text.reserve(runs.iter().sum::<u32>().min(ROOM) as usize);
    let mut group = Group { digits: [0; GROUP_DIGITS], next: 0, end: 0 };
    for (i, segment) in segments.iter().enumerate() {
        for done in 0..runs[i] {
            let digit = if segment.chars.len() > 1 {
                if group.next == group.end {
                    group.read(&segments[i..], &runs[i..], done, node, source)?;
                }
                group.next += 1;
                group.digits[group.next - 1]
            } else {
                0
            };
            text.push(segment.chars[digit as usize]);
        }
    }
    Ok(text)
}

/// The characters of one group: their indices in their classes. Classes with a single character are left out.
struct Group {
    digits: [u32; GROUP_DIGITS],
    next: usize,
    end: usize,
}

impl Group {
    /// Reads the group that begins in the first run, after its first `done` characters.
    fn read<S: Source>(
        &mut self,
        segments: &[Segment],
        runs: &[u32],
        done: u32,
        node: u32,
        source: &mut S,
    ) -> Result<(), Error> {
        let (mut radices, mut end, mut product) = ([1; GROUP_DIGITS], 0, 1);
        let mut skipped = done;
        'group: for (segment, run) in segments.iter().zip(runs) {
            let radix = segment.chars.len() as u64;
            let left = if radix > 1 { run - skipped } else { 0 };
            skipped = 0;
            for _ in 0..left {
                if product * radix >= GROUP {
                    break 'group;
                }
                product *= radix;
                radices[end] = radix as u32;
                end += 1;
            }
        }
        let mut value = source.index(At { node, part: Part::Value }, product)? as u32;
        for i in (0..end).rev() {
            (value, self.digits[i]) = match radices[i] {
                // A division by a constant is faster, and most classes are decimal digits.
                10 => (value / 10, value % 10),
                radix => (value / radix, value % radix),
            };
        }
        (self.next, self.end) = (0, end);
        Ok(())
    }
}

/// Returns the index of `c` in its class.
fn digit(segment: &Segment, c: char) -> Option<u64> {
    let (first, last) = (*segment.chars.first()?, *segment.chars.last()?);
    let above = u32::from(c).checked_sub(u32::from(first))?;
    if u32::from(last) - u32::from(first) + 1 == segment.chars.len() as u32 {
        return (c <= last).then_some(above.into());
    }
    segment.chars.binary_search(&c).ok().map(|index| index as u64)
}

fn mismatch() -> Error {
    Error::new(Kind::Range, 0, "text that does not match the pattern")
}
